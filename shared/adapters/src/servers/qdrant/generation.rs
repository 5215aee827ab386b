use domain::id::{SpaceId, UnitId};
use domain::port::{Generation, Point, Result};
use domain::{ErrorKind, PortError};
use qdrant_client::qdrant::{Condition, DeletePointsBuilder, Filter, UpdateMode};

use super::marker::Marker;
use super::points::{GenerationKey, generation_filter, in_space, marker_id};
use super::{QdrantIndex, schema};
use crate::store_rules::index_points::check_points;

/// Rebuilds a space while it is searched; only one process at a time may do so.
///
/// 1. [`begin_generation`](QdrantIndex::begin_generation) begins a generation. From now on every `put` writes to the shown generation and to
///    the new one.
/// 2. [`put_into`](QdrantIndex::put_into) fills the new generation. Points that a `put` wrote to it meanwhile are newer
///    and stay.
/// 3. [`switch_generation`](QdrantIndex::switch_generation) shows the new generation to all readers at once.
/// 4. [`drop_unused`](QdrantIndex::drop_unused) removes points that are not shown. Call it after the timeout of a call
///    has passed since the switch, when no earlier search is running any more.
///
/// A `put` that was running when the generation began notices this, and writes to the new generation before it
/// returns. So a rebuild that reads its data after `begin` misses nothing.
impl QdrantIndex {
    /// Begins a generation of the space. An earlier generation that was not shown is abandoned.
    ///
    /// # Errors
    ///
    /// `NotFound` if the space is unknown.
    pub async fn begin_generation(&self, space: &SpaceId) -> Result<Generation> {
        const OPERATION: &str = "index.begin";
        let marker = self.get_or_create_marker(OPERATION, space).await?;
        let building = marker.building.map_or(marker.shown, |it| it.max(marker.shown)) + 1;
        let begun = Marker {
            building: Some(building),
            ..marker
        };
        self.store_marker(OPERATION, space, &begun, UpdateMode::Upsert).await?;
        if let Some(given_up) = marker.building {
            let request = DeletePointsBuilder::new(&self.collection)
                .points(generation_filter(space, given_up))
                .wait(true);
            self.client.delete_points(OPERATION, &request.build()).await?;
        }
        Ok(Generation(building))
    }

    /// Removes all points of the `retired` units from a generation, then inserts the `points` that it does not contain
    /// yet.
    ///
    /// # Errors
    ///
    /// `Conflict` if the generation is not the one being built; `Invalid` and `NotFound` like `put`.
    pub async fn put_into(
        &self,
        space: &SpaceId,
        generation: Generation,
        points: &[Point],
        retired: &[UnitId],
    ) -> Result<()> {
        const OPERATION: &str = "index.put_into";
        check_points(OPERATION, points, self.dimension)?;
        self.check_building(OPERATION, space, generation).await?;
        let place = GenerationKey {
            space,
            generation: generation.0,
        };
        self.remove_units(OPERATION, place, retired, &[]).await?;
        self.write_points(OPERATION, place, points, UpdateMode::InsertOnly)
            .await
    }

    /// Shows a generation in place of the one shown so far. Idempotent.
    ///
    /// # Errors
    ///
    /// `Conflict` if the generation is not the one being built.
    pub async fn switch_generation(&self, space: &SpaceId, generation: Generation) -> Result<()> {
        const OPERATION: &str = "index.switch";
        let marker = self.read_marker(OPERATION, space).await?;
        if marker.is_some_and(|it| it.shown == generation.0) {
            return Ok(());
        }
        let marker = self.check_building(OPERATION, space, generation).await?;
        let switched = Marker {
            shown: generation.0,
            building: None,
            ..marker
        };
        self.store_marker(OPERATION, space, &switched, UpdateMode::Upsert).await
    }

    /// Removes the points of the space that are neither shown nor being built. A search that started before the last
    /// switch may miss some of them.
    ///
    /// # Errors
    ///
    /// Only those of any call.
    pub async fn drop_unused(&self, space: &SpaceId) -> Result<()> {
        const OPERATION: &str = "index.drop_unused";
        let Some(marker) = self.read_marker(OPERATION, space).await? else {
            return Ok(());
        };
        let mut conditions: Vec<Condition> = marker
            .building
            .into_iter()
            .chain([marker.shown])
            .map(in_generation)
            .collect();
        // The marker has no generation, so the other conditions do not exclude it from the deletion.
        conditions.push(Condition::has_id([marker_id(space).to_string()]));
        let unused = Filter {
            must: vec![in_space(space)],
            must_not: conditions,
            ..Filter::default()
        };
        let request = DeletePointsBuilder::new(&self.collection).points(unused).wait(true);
        self.client.delete_points(OPERATION, &request.build()).await
    }

    /// Returns the marker, or an error if the generation is not the one being built.
    async fn check_building(&self, operation: &'static str, space: &SpaceId, generation: Generation) -> Result<Marker> {
        let marker = self.read_marker(operation, space).await?;
        let other = || {
            PortError::new(
                operation,
                ErrorKind::Conflict,
                "another generation is being built, or none",
            )
        };
        marker.filter(|it| it.building == Some(generation.0)).ok_or_else(other)
    }
}

fn in_generation(generation: i64) -> Condition {
    Condition::matches(schema::GENERATION, generation)
}

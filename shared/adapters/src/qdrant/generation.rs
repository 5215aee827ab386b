use domain::id::{SpaceId, UnitId};
use domain::port::{Generation, Point, Result};
use domain::{ErrorKind, PortError};
use qdrant_client::qdrant::{Condition, DeletePointsBuilder, Filter, UpdateMode};

use super::marker::Marker;
use super::points::{check, filter, in_space, marker_id};
use super::{QdrantIndex, schema};

/// Rebuilding a space while it is searched, by one process at a time:
///
/// 1. [`begin`](QdrantIndex::begin) opens a generation. From now on every `put` writes both to what is shown and to it.
/// 2. [`put_into`](QdrantIndex::put_into) fills it. What a `put` wrote there meanwhile is newer and stays.
/// 3. [`switch`](QdrantIndex::switch) shows it, at once and to all readers.
/// 4. [`drop_unused`](QdrantIndex::drop_unused) removes what is not shown, a call's time after the switch, when no
///    search of before is under way any more.
///
/// A `put` that was under way when the generation was opened notices, and writes to it before it returns. So a rebuild
/// that reads what to write after `begin` leaves nothing out.
impl QdrantIndex {
    /// Opens a generation of the space. One that was opened before and not shown is given up.
    ///
    /// # Errors
    /// `NotFound` if the space is unknown.
    pub async fn begin(&self, space: &SpaceId) -> Result<Generation> {
        const OPERATION: &str = "index.begin";
        let marker = self.known(OPERATION, space).await?;
        let building = marker.building.map_or(marker.shown, |it| it.max(marker.shown)) + 1;
        let begun = Marker {
            building: Some(building),
            ..marker
        };
        self.mark(OPERATION, space, &begun, UpdateMode::Upsert).await?;
        if let Some(given_up) = marker.building {
            let request = DeletePointsBuilder::new(&self.collection)
                .points(filter(space, given_up))
                .wait(true);
            self.client.delete(OPERATION, &request.build()).await?;
        }
        Ok(Generation(building))
    }

    /// Removes all points of the `retired` units from a generation, then inserts those `points` that it has not.
    ///
    /// # Errors
    /// `Conflict` if the generation is not the one being built; `Invalid` and `NotFound` as for `put`.
    pub async fn put_into(
        &self,
        space: &SpaceId,
        generation: Generation,
        points: &[Point],
        retired: &[UnitId],
    ) -> Result<()> {
        const OPERATION: &str = "index.put_into";
        check(OPERATION, points, self.dimension)?;
        self.built(OPERATION, space, generation).await?;
        let place = (space, generation.0);
        self.remove(OPERATION, place, retired, &[]).await?;
        self.write(OPERATION, place, points, UpdateMode::InsertOnly).await
    }

    /// Shows a generation instead of the one shown so far. To do it again changes nothing.
    ///
    /// # Errors
    /// `Conflict` if the generation is not the one being built.
    pub async fn switch(&self, space: &SpaceId, generation: Generation) -> Result<()> {
        const OPERATION: &str = "index.switch";
        let marker = self.marker(OPERATION, space).await?;
        if marker.is_some_and(|it| it.shown == generation.0) {
            return Ok(());
        }
        let marker = self.built(OPERATION, space, generation).await?;
        let switched = Marker {
            shown: generation.0,
            building: None,
            ..marker
        };
        self.mark(OPERATION, space, &switched, UpdateMode::Upsert).await
    }

    /// Removes the points of the space that are neither shown nor being built. A search that started before the last
    /// switch may miss some of them.
    ///
    /// # Errors
    /// Only those of any call.
    pub async fn drop_unused(&self, space: &SpaceId) -> Result<()> {
        const OPERATION: &str = "index.drop_unused";
        let Some(marker) = self.marker(OPERATION, space).await? else {
            return Ok(());
        };
        let mut kept: Vec<Condition> = marker
            .building
            .into_iter()
            .chain([marker.shown])
            .map(in_generation)
            .collect();
        // It has no generation, and what has none is not excluded by the others.
        kept.push(Condition::has_id([marker_id(space).to_string()]));
        let unused = Filter {
            must: vec![in_space(space)],
            must_not: kept,
            ..Filter::default()
        };
        let request = DeletePointsBuilder::new(&self.collection).points(unused).wait(true);
        self.client.delete(OPERATION, &request.build()).await
    }

    /// Returns the marker if the generation is the one being built.
    async fn built(&self, operation: &'static str, space: &SpaceId, generation: Generation) -> Result<Marker> {
        let marker = self.marker(operation, space).await?;
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

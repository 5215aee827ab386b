use std::time::Instant;

use domain::id::{SpaceId, UnitId};
use domain::port::{Generation, Point, Result};
use domain::{ErrorKind, PortError};
use qdrant_client::Payload;
use qdrant_client::qdrant::{Condition, DeletePointsBuilder, Filter, UpdateMode};

use super::error::unknown_space_error;
use super::marker::{ABANDONED, Marker};
use super::points::{GenerationKey, generation_filter, in_space, marker_id};
use super::{QdrantIndex, schema};
use crate::store_rules::index_points::check_points;

/// Rebuilds a space while it is searched; only one process at a time may do so.
///
/// 1. [`begin_generation`](QdrantIndex::begin_generation) begins a generation. From now on every `put` writes to the shown generation and to
///    the new one.
/// 2. [`put_into`](QdrantIndex::put_into) fills the new generation. Points that a `put` wrote to it meanwhile are newer
///    and stay. Meanwhile, the process renews its lease with [`renew_lease`](QdrantIndex::renew_lease). Once the lease
///    has expired, a `put` ends the generation.
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
            renewals: 0,
            ..marker
        };
        // The end of an earlier generation may have reached the server late and set a lower number, so this number may have
        // been used before.
        self.delete_generation(OPERATION, space, building).await?;
        let sent = Instant::now();
        self.store_marker(OPERATION, space, &begun, UpdateMode::Upsert).await?;
        self.leases.note_renewal(space, building, sent);
        if let Some(given_up) = marker.building {
            self.delete_generation(OPERATION, space, given_up).await?;
        }
        Ok(Generation(building))
    }

    /// Renews the lease of a generation that this process builds.
    ///
    /// # Errors
    ///
    /// `Conflict` if the generation is not the one being built, or was not renewed in time.
    pub async fn renew_lease(&self, space: &SpaceId, generation: Generation) -> Result<()> {
        const OPERATION: &str = "index.renew";
        let marker = self.check_building(OPERATION, space, generation).await?;
        let mut renewed = Payload::new();
        renewed.insert(schema::RENEWALS, marker.renewals + 1);
        let sent = Instant::now();
        self.change_marker(OPERATION, space, renewed).await?;
        self.leases.note_renewal(space, generation.0, sent);
        Ok(())
    }

    /// Ends the generation being built if its process no longer renews it, and removes its points; returns the marker
    /// that is stored then. The number of the generation is not used again: another process may still write to it.
    ///
    /// # Errors
    ///
    /// `NotFound` if the space was deleted meanwhile.
    pub(super) async fn end_abandoned_generation(
        &self,
        operation: &'static str,
        space: &SpaceId,
        marker: Marker,
    ) -> Result<Marker> {
        let Some(generation) = self.leases.expired_generation(space, &marker) else {
            return Ok(marker);
        };
        tracing::warn!(%space, generation, "a rebuild was abandoned; its points are removed");
        let mut ended = Payload::new();
        ended.insert(schema::BUILDING, generation + 1);
        ended.insert(schema::RENEWALS, ABANDONED);
        self.change_marker(operation, space, ended).await?;
        let now = self.read_marker(operation, space).await?;
        let now = now.filter(|it| it.born == marker.born);
        let now = now.ok_or_else(|| unknown_space_error(operation, space))?;
        if now.shown != generation {
            self.delete_generation(operation, space, generation).await?;
        }
        Ok(now)
    }

    async fn delete_generation(&self, operation: &'static str, space: &SpaceId, generation: i64) -> Result<()> {
        let request = DeletePointsBuilder::new(&self.collection)
            .points(generation_filter(space, generation))
            .wait(true);
        self.client.delete_points(operation, &request.build()).await
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
        self.store_marker(OPERATION, space, &switched, UpdateMode::Upsert)
            .await?;
        self.leases.forget_renewal(space);
        Ok(())
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
            .generation_being_built()
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

    /// Returns the marker, or an error if the generation is not the one being built, or was not renewed in time.
    async fn check_building(&self, operation: &'static str, space: &SpaceId, generation: Generation) -> Result<Marker> {
        let marker = self.read_marker(operation, space).await?;
        let other = || {
            PortError::new(
                operation,
                ErrorKind::Conflict,
                "another generation is being built, or none",
            )
        };
        let is_built = |it: &Marker| it.generation_being_built() == Some(generation.0);
        let marker = marker.filter(is_built).ok_or_else(other)?;
        if !self.leases.is_renewed(space, generation.0) {
            let detail = "the generation was not renewed in time, so its points may be incomplete";
            return Err(PortError::new(operation, ErrorKind::Conflict, detail));
        }
        Ok(marker)
    }
}

fn in_generation(generation: i64) -> Condition {
    Condition::matches(schema::GENERATION, generation)
}

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::id::SpaceId;
use domain::port::{Result, UnfinishedErasure};
use qdrant_client::Payload;
use qdrant_client::qdrant::{
    Condition, DeletePointsBuilder, Filter, GetPointsBuilder, NamedVectors, PointStruct, Range,
    SetPayloadPointsBuilder, UpdateMode, UpsertPointsBuilder, Value,
};

use super::error::{damaged_error, unknown_space_error};
use super::points::{in_space, integer_field, marker_id};
use super::{QdrantIndex, schema};

/// Maximum number of spaces whose shown generation is cached. Beyond it the whole cache is cleared, which costs each
/// space's next search a round trip.
const REMEMBERED_MAX: usize = 65_536;

/// The number of renewals of a generation that is no longer built.
pub(super) const ABANDONED: i64 = -1;

/// The marker of a space: which of its points are shown. It is stored as a point of the space without vectors and
/// without a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// Time at which the space was created, in microseconds since 1970; distinguishes it from an earlier space of the
    /// same name.
    pub(super) born: i64,
    /// The generation that readers see.
    pub(super) shown: i64,
    /// The generation that is being built, if any; greater than all earlier ones. After a generation was ended without
    /// being shown, a number that no generation has.
    pub(super) building: Option<i64>,
    /// Number of times that the generation being built was renewed, or [`ABANDONED`] if none is being built.
    pub(super) renewals: i64,
}

impl Marker {
    /// Returns the marker from its payload.
    pub(super) fn from_payload(operation: &'static str, payload: &HashMap<String, Value>) -> Result<Marker> {
        let number = |key| integer_field(payload, key).ok_or_else(|| damaged_error(operation, key));
        Ok(Marker {
            born: number(schema::BORN)?,
            shown: number(schema::SHOWN)?,
            building: integer_field(payload, schema::BUILDING),
            renewals: integer_field(payload, schema::RENEWALS).unwrap_or(0),
        })
    }

    /// Returns the generation that is being built, if any.
    pub(super) fn generation_being_built(&self) -> Option<i64> {
        self.building.filter(|_| self.renewals != ABANDONED)
    }

    /// Returns true if points written to the generations of this marker are in all generations of the later marker.
    pub(super) fn covers_later(&self, later: &Marker) -> bool {
        let written = |it: i64| it == self.shown || Some(it) == self.generation_being_built();
        written(later.shown) && later.generation_being_built().is_none_or(written)
    }

    fn to_point(self, space: &SpaceId) -> PointStruct {
        let mut payload = Payload::new();
        payload.insert(schema::SPACE, space.as_str());
        payload.insert(schema::BORN, self.born);
        payload.insert(schema::SHOWN, self.shown);
        if let Some(building) = self.building {
            payload.insert(schema::BUILDING, building);
            payload.insert(schema::RENEWALS, self.renewals);
        }
        PointStruct::new(marker_id(space).to_string(), NamedVectors::default(), payload)
    }
}

/// Cache of the shown generations, so that a search can read marker and channels in one batch.
#[derive(Default)]
pub(super) struct Markers(Mutex<HashMap<SpaceId, i64>>);

impl Markers {
    pub(super) fn shown_generation(&self, space: &SpaceId) -> Option<i64> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(space)
            .copied()
    }

    pub(super) fn remember_marker(&self, space: &SpaceId, marker: Option<&Marker>) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(marker) = marker else {
            shown.remove(space);
            return;
        };
        if shown.len() >= REMEMBERED_MAX && !shown.contains_key(space) {
            shown.clear();
        }
        shown.insert(space.clone(), marker.shown);
    }
}

impl QdrantIndex {
    /// Returns the marker of a space, or `None` if nothing was ever put.
    pub(super) async fn read_marker(&self, operation: &'static str, space: &SpaceId) -> Result<Option<Marker>> {
        let ids = vec![marker_id(space).to_string().into()];
        let request = GetPointsBuilder::new(&self.collection, ids).with_payload(true).build();
        let found = self.client.get_points(operation, &request).await?.result;
        let marker = found
            .first()
            .map(|it| Marker::from_payload(operation, &it.payload))
            .transpose()?;
        self.markers.remember_marker(space, marker.as_ref());
        Ok(marker)
    }

    /// Returns the marker of a known space; the first put creates it.
    ///
    /// A space may be erased, and created again, while a put is running. The points of that put then have a generation
    /// that no marker shows: they take space until the name is erased again, but are never found, counted or weighed.
    /// The space is looked up in the records again after a marker was created, so that a late put cannot bring back a
    /// marker.
    pub(super) async fn get_or_create_marker(&self, operation: &'static str, space: &SpaceId) -> Result<Marker> {
        let unknown = || unknown_space_error(operation, space);
        let born = self.creation_time(space).await?.ok_or_else(unknown)?;
        let mode = match self.read_marker(operation, space).await? {
            Some(marker) if marker.born == born => return Ok(marker),
            // The space was created again since it was looked up, unless the clocks of its creators disagree.
            Some(marker) if marker.born > born && self.creation_time(space).await? != Some(born) => {
                return Err(unknown());
            }
            // The marker is that of an earlier space of this name, whose erasure was missed.
            Some(_) => UpdateMode::Upsert,
            // Another process may be faster, and may already have begun a generation.
            None => UpdateMode::InsertOnly,
        };
        let first = Marker {
            born,
            shown: born,
            building: None,
            renewals: 0,
        };
        self.store_marker(operation, space, &first, mode).await?;
        if self.creation_time(space).await? != Some(born) {
            self.remove_marker(operation, space, born).await?;
            return Err(unknown());
        }
        let marker = self.read_marker(operation, space).await?;
        marker.filter(|it| it.born == born).ok_or_else(unknown)
    }

    /// Stores the marker of a space.
    pub(super) async fn store_marker(
        &self,
        operation: &'static str,
        space: &SpaceId,
        marker: &Marker,
        mode: UpdateMode,
    ) -> Result<()> {
        let points = vec![marker.to_point(space)];
        let request = UpsertPointsBuilder::new(&self.collection, points)
            .wait(true)
            .update_mode(mode);
        self.client.upsert_points(operation, &request.build()).await?;
        self.markers.remember_marker(space, Some(marker));
        Ok(())
    }

    /// Changes some fields of the marker of a space. Unlike [`store_marker`](Self::store_marker), it cannot undo a change
    /// of another field if it arrives late, and cannot bring back the marker of an erased space.
    pub(super) async fn change_marker(&self, operation: &'static str, space: &SpaceId, fields: Payload) -> Result<()> {
        let request = SetPayloadPointsBuilder::new(&self.collection, fields)
            .points_selector([marker_id(space).to_string()])
            .wait(true);
        self.client.set_payload(operation, &request.build()).await
    }

    /// Removes every point of a space, including its marker.
    pub(super) async fn erase_all(&self, space: &SpaceId) -> Result<()> {
        let request = DeletePointsBuilder::new(&self.collection).points(Filter::must([in_space(space)]));
        self.client
            .delete_points("index.erase", &request.wait(true).build())
            .await?;
        self.markers.remember_marker(space, None);
        Ok(())
    }

    /// Removes the points of a deleted space and of earlier spaces of its name, including their marker.
    ///
    /// A space that was created under this name later has greater generations: while this erasure is unfinished, the
    /// record store creates no space with an earlier creation time, whatever the clocks say. The marker is read before
    /// the space is looked up in the records, so if it is the marker of a later space, the look-up finds that space.
    pub(super) async fn erase_until(&self, erasure: &UnfinishedErasure) -> Result<()> {
        const OPERATION: &str = "index.erase_deleted";
        let (space, deleted) = (&erasure.space, erasure.created_at.timestamp_micros());
        let marker = self.read_marker(OPERATION, space).await?;
        let later = self.creation_time(space).await?.filter(|born| *born > deleted);
        let last = match (later, &marker) {
            (Some(born), _) => born - 1,
            (None, Some(marker)) => marker.building.unwrap_or(marker.shown).max(marker.shown).max(deleted),
            (None, None) => return self.erase_all(space).await,
        };
        let range = Range {
            lte: Some(last as f64),
            ..Range::default()
        };
        let conditions = [in_space(space), Condition::range(schema::GENERATION, range)];
        let request = DeletePointsBuilder::new(&self.collection).points(Filter::must(conditions));
        self.client
            .delete_points(OPERATION, &request.wait(true).build())
            .await?;
        match marker.filter(|it| it.born <= last) {
            Some(marker) => self.remove_marker(OPERATION, space, marker.born).await,
            None => Ok(()),
        }
    }

    /// Removes the marker of the space that was created at `born`.
    async fn remove_marker(&self, operation: &'static str, space: &SpaceId, born: i64) -> Result<()> {
        let own = [in_space(space), Condition::matches(schema::BORN, born)];
        let request = DeletePointsBuilder::new(&self.collection).points(Filter::must(own));
        self.client
            .delete_points(operation, &request.wait(true).build())
            .await?;
        self.markers.remember_marker(space, None);
        Ok(())
    }

    /// Returns the time at which the space was created, or `None` if it is unknown.
    async fn creation_time(&self, space: &SpaceId) -> Result<Option<i64>> {
        let info = self.records.space(space).await?;
        Ok(info.map(|it| it.created_at.timestamp_micros()))
    }
}

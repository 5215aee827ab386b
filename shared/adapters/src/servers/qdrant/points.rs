use std::collections::{BTreeSet, HashMap};

use domain::id::{SpaceId, UnitId};
use domain::port::{Hit, Point, PointsCursor as Cursor, PointsPage, Result, Sparse};
use qdrant_client::Payload;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{
    Condition, DeletePointsBuilder, Filter, NamedVectors, PayloadIncludeSelector, PointStruct, ScoredPoint,
    ScrollPointsBuilder, UpdateMode, UpsertPointsBuilder, Value, Vector,
};
use uuid::Uuid;

use super::error::damaged_error;
use super::{QdrantIndex, schema};

/// Root of the ids of points; changing it would change the id of every point.
const ROOT: Uuid = Uuid::from_u128(0x6d6e_656d_6963_4000_8000_0000_0000_0002);
/// Maximum number of units in one deletion.
const UNITS_MAX: usize = 512;
/// The term of a point without terms, with weight 0: idf counts the points of a space that have a sparse vector, and
/// every point must count.
const NO_TERM: (u32, f32) = (u32::MAX, 0.0);

/// A space and one of its generations.
#[derive(Clone, Copy)]
pub(super) struct GenerationKey<'a> {
    pub(super) space: &'a SpaceId,
    pub(super) generation: i64,
}

/// Returns the id of the marker of a space.
pub(super) fn marker_id(space: &SpaceId) -> Uuid {
    Uuid::new_v5(&ROOT, space.as_str().as_bytes())
}

/// Returns a condition for all points of a space, in any generation, and its marker.
pub(super) fn in_space(space: &SpaceId) -> Condition {
    Condition::matches(schema::SPACE, space.as_str().to_owned())
}

/// Returns a filter for the points of one generation of a space.
pub(super) fn generation_filter(space: &SpaceId, generation: i64) -> Filter {
    Filter::must([in_space(space), Condition::matches(schema::GENERATION, generation)])
}

/// Returns an integer of a payload.
pub(super) fn integer_field(payload: &HashMap<String, Value>, key: &str) -> Option<i64> {
    payload.get(key)?.as_integer()
}

/// Returns the selector for the payload that identifies a point.
pub(super) fn identity_selector() -> PayloadIncludeSelector {
    PayloadIncludeSelector {
        fields: [schema::UNIT, schema::PART].map(str::to_owned).to_vec(),
    }
}

/// Returns unit and part of a point.
fn unit_and_part(operation: &'static str, payload: &HashMap<String, Value>) -> Result<(UnitId, u16)> {
    let unit = payload.get(schema::UNIT).and_then(Value::as_str);
    let unit = unit
        .and_then(|it| it.parse().ok())
        .ok_or_else(|| damaged_error(operation, schema::UNIT))?;
    let part = integer_field(payload, schema::PART).and_then(|it| u16::try_from(it).ok());
    Ok((unit, part.ok_or_else(|| damaged_error(operation, schema::PART))?))
}

/// Returns a point found by a search.
pub(super) fn hit_from_point(operation: &'static str, found: &ScoredPoint) -> Result<Hit> {
    let (unit, part) = unit_and_part(operation, &found.payload)?;
    Ok(Hit {
        unit,
        part,
        // Negative zero becomes zero, so that it ties with other zeros.
        score: found.score + 0.0,
    })
}

impl QdrantIndex {
    /// Returns the points of the shown generation, by their ids.
    pub(super) async fn list_points(&self, space: &SpaceId, after: Option<Cursor>, limit: usize) -> Result<PointsPage> {
        const OPERATION: &str = "index.points";
        let Some(marker) = self.read_marker(OPERATION, space).await? else {
            return Ok((Vec::new(), None));
        };
        let mut request = ScrollPointsBuilder::new(&self.collection)
            .filter(generation_filter(space, marker.shown))
            .limit(u32::try_from(limit.max(1)).unwrap_or(u32::MAX))
            .with_payload(identity_selector());
        if let Some(Cursor(after)) = after {
            request = request.offset(Uuid::from_u128(after).to_string());
        }
        let page = self.client.scroll_points(OPERATION, &request.build()).await?;
        let found = page.result.iter().map(|it| unit_and_part(OPERATION, &it.payload));
        let next = match page.next_page_offset.and_then(|it| it.point_id_options) {
            Some(PointIdOptions::Uuid(id)) => {
                let id = Uuid::parse_str(&id).map_err(|_| damaged_error(OPERATION, "id"))?;
                Some(Cursor(id.as_u128()))
            }
            Some(PointIdOptions::Num(_)) => return Err(damaged_error(OPERATION, "id")),
            None => None,
        };
        Ok((found.collect::<Result<_>>()?, next))
    }

    /// Stores points as a whole. They are searchable on return.
    pub(super) async fn write_points(
        &self,
        operation: &'static str,
        place: GenerationKey<'_>,
        points: &[Point],
        mode: UpdateMode,
    ) -> Result<()> {
        for some in points.chunks(self.batch) {
            let some: Vec<PointStruct> = some.iter().map(|it| to_point_struct(place, it)).collect();
            let mut request = UpsertPointsBuilder::new(&self.collection, some).wait(true);
            if mode != UpdateMode::Upsert {
                request = request.update_mode(mode);
            }
            self.client.upsert_points(operation, &request.build()).await?;
        }
        Ok(())
    }

    /// Removes the points of units, except those in `except`, which were just put.
    pub(super) async fn remove_units(
        &self,
        operation: &'static str,
        place: GenerationKey<'_>,
        units: &[UnitId],
        except: &[Point],
    ) -> Result<()> {
        for some in units.chunks(UNITS_MAX) {
            let removed_units: BTreeSet<UnitId> = some.iter().copied().collect();
            let remaining = except.iter().filter(|it| removed_units.contains(&it.unit));
            let remaining: Vec<String> = remaining.map(|it| point_id(place, it).to_string()).collect();
            let units: Vec<String> = removed_units.iter().map(UnitId::to_string).collect();
            let mut filter_of_units = generation_filter(place.space, place.generation);
            filter_of_units.must.push(Condition::matches(schema::UNIT, units));
            if !remaining.is_empty() {
                filter_of_units.must_not.push(Condition::has_id(remaining));
            }
            let request = DeletePointsBuilder::new(&self.collection)
                .points(filter_of_units)
                .wait(true);
            self.client.delete_points(operation, &request.build()).await?;
        }
        Ok(())
    }
}

fn point_id(place: GenerationKey<'_>, point: &Point) -> Uuid {
    let mut name = Vec::with_capacity(26);
    name.extend_from_slice(&place.generation.to_be_bytes());
    name.extend_from_slice(point.unit.uuid().as_bytes());
    name.extend_from_slice(&point.part.to_be_bytes());
    Uuid::new_v5(&marker_id(place.space), &name)
}

fn to_point_struct(place: GenerationKey<'_>, point: &Point) -> PointStruct {
    let mut payload = Payload::new();
    payload.insert(schema::SPACE, place.space.as_str());
    payload.insert(schema::GENERATION, place.generation);
    payload.insert(schema::UNIT, point.unit.to_string());
    payload.insert(schema::PART, i64::from(point.part));
    payload.insert(schema::OBSERVED_AT, point.observed_at);
    let vectors = NamedVectors::default()
        // A vector of zeros is stored unchanged: its cosine with every vector is 0.
        .add_vector(schema::DENSE, Vector::new_dense(point.dense.clone()))
        .add_vector(schema::WORDS, sparse_vector(&point.words))
        .add_vector(schema::PIECES, sparse_vector(&point.pieces));
    PointStruct::new(point_id(place, point).to_string(), vectors, payload)
}

fn sparse_vector(terms: &Sparse) -> Vector {
    let terms = if terms.is_empty() { &[NO_TERM][..] } else { terms };
    let (indices, values): (Vec<u32>, Vec<f32>) = terms.iter().copied().unzip();
    Vector::new_sparse(indices, values)
}

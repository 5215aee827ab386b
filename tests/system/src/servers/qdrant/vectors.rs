use std::collections::HashSet;

use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::{
    Distance, Modifier, PointStruct, SparseVector, SparseVectorParams, Vector, VectorParams, vector,
};
use tonic::Status;
use uuid::Uuid;

use super::approximate::{self, Lists, dot_product};
use super::held::{Accepted, StoredPoint};
use super::request_fields::{parse_uuid, refuse_unknown};
use super::state::{Collection, index_of_name};

/// A squared length that differs from 1 by less than this counts as 1.
const UNIT: f32 = 1e-6;

impl Collection {
    /// Returns the id and the stored form of a point, or rejects it.
    pub(super) fn take(&self, point: &PointStruct) -> Result<(Uuid, StoredPoint), Status> {
        let mut held = StoredPoint {
            payload: point.payload.clone(),
            dense: Default::default(),
            sparse: Default::default(),
        };
        let named = match point.vectors.as_ref().and_then(|it| it.vectors_options.as_ref()) {
            Some(VectorsOptions::Vectors(named)) => named.vectors.clone(),
            Some(VectorsOptions::Vector(_)) | None => {
                return Err(Status::unimplemented("the stand-in wants named vectors"));
            }
        };
        for (name, vector) in named {
            match (inner_vector(&vector)?, self.dense.get(&name), self.sparse.get(&name)) {
                (vector::Vector::Dense(it), Some(params), _) => {
                    held.dense
                        .insert(index_of_name(&self.dense, &name), normalise_vector(it.data, params)?);
                }
                (vector::Vector::Sparse(it), None, Some(_)) => {
                    held.sparse
                        .insert(index_of_name(&self.sparse, &name), parse_terms(&it)?);
                }
                (vector::Vector::Dense(_) | vector::Vector::Sparse(_), None, None) => return Err(no_vector(&name)),
                (vector::Vector::Dense(_) | vector::Vector::Sparse(_), _, _) => {
                    return Err(Status::invalid_argument(format!(
                        "vector `{name}` is of the other sort"
                    )));
                }
                (_, _, _) => return Err(Status::unimplemented("the stand-in does not know this vector")),
            }
        }
        Ok((parse_uuid(point.id.as_ref())?, held))
    }

    /// Scores the accepted points that have this vector. Returns the indices of the best `limit` points, best first;
    /// equal scores are ordered by id. If the server would search its graph and not all vectors, only the nearest
    /// lists are read, so some points are missed.
    pub(super) fn nearest_points(
        &self,
        using: &str,
        query: Vec<f32>,
        accepted: &Accepted,
        exact: bool,
        limit: usize,
    ) -> Result<Vec<(usize, f32)>, Status> {
        let params = self.dense.get(using).ok_or_else(|| no_vector(using))?;
        let (query, using) = (normalise_vector(query, params)?, index_of_name(&self.dense, using));
        let vector_at = |place: usize| accepted.points[place].1.dense.get(&using).map(Vec::as_slice);
        let scored = |place: usize| {
            let vector = vector_at(place)?;
            Some((place, dot_product(vector, &query)))
        };
        let all = 0..accepted.points.len();
        if exact || !approximate::begins(all.len(), query.len()) {
            return Ok(keep_best(all.filter_map(scored).collect(), limit));
        }
        let lists = accepted
            .lists
            .get_or_init(|| Lists::of(accepted.points.len(), vector_at));
        Ok(keep_best(lists.near(&query).filter_map(scored).collect(), limit))
    }

    /// Scores the accepted points that share a term with the query, in the order of [`Collection::nearest`]. The
    /// rarity of a term is computed over the points of the corpus that have this vector.
    pub(super) fn matching_points(
        &self,
        using: &str,
        query: &SparseVector,
        accepted: &Accepted,
        corpus: &Accepted,
        limit: usize,
    ) -> Result<Vec<(usize, f32)>, Status> {
        let params = self.sparse.get(using).ok_or_else(|| no_vector(using))?;
        let (query, using) = (parse_terms(query)?, index_of_name(&self.sparse, using));
        let (all, accepted_terms) = (corpus.terms(using), accepted.terms(using));
        let rarity = |term: u32| {
            let (count, holders) = (all.count as f32, all.holders(term).len() as f32);
            match params.modifier == Some(i32::from(Modifier::Idf)) {
                true => ((count - holders + 0.5) / (holders + 0.5) + 1.0).ln(),
                false => 1.0,
            }
        };
        let mut scores: Vec<Option<f32>> = vec![None; accepted.points.len()];
        for (term, weight) in query {
            let weight = weight * rarity(term);
            for (place, held) in accepted_terms.holders(term) {
                *scores[*place].get_or_insert_default() += weight * held;
            }
        }
        let scored = scores.into_iter().enumerate();
        Ok(keep_best(
            scored.filter_map(|(place, it)| Some((place, it?))).collect(),
            limit,
        ))
    }
}

fn keep_best(mut scored: Vec<(usize, f32)>, limit: usize) -> Vec<(usize, f32)> {
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0));
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit, order);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(order);
    scored
}

/// Returns the content of a vector from the fields that are not deprecated.
fn inner_vector(vector: &Vector) -> Result<vector::Vector, Status> {
    vector
        .vector
        .clone()
        .ok_or_else(|| Status::unimplemented("the stand-in does not know vectors of the old form"))
}

/// Returns the vector scaled to length 1. A zero vector, or a vector of length 1, is returned unchanged.
fn normalise_vector(vector: Vec<f32>, params: &VectorParams) -> Result<Vec<f32>, Status> {
    refuse_unknown("this distance", params.distance != i32::from(Distance::Cosine))?;
    if vector.len() as u64 != params.size {
        let detail = format!(
            "Vector dimension error: expected dim: {}, got {}",
            params.size,
            vector.len()
        );
        return Err(Status::invalid_argument(detail));
    }
    let square: f32 = vector.iter().map(|it| it * it).sum();
    if square == 0.0 || (square - 1.0).abs() < UNIT {
        return Ok(vector);
    }
    let length = square.sqrt();
    Ok(vector.into_iter().map(|it| it / length).collect())
}

fn parse_terms(vector: &SparseVector) -> Result<Vec<(u32, f32)>, Status> {
    let distinct: HashSet<u32> = vector.indices.iter().copied().collect();
    if vector.indices.len() != vector.values.len() || distinct.len() != vector.indices.len() {
        return Err(Status::invalid_argument(
            "must be the same length as indices, which must be unique",
        ));
    }
    let mut terms: Vec<(u32, f32)> = vector
        .indices
        .iter()
        .copied()
        .zip(vector.values.iter().copied())
        .collect();
    terms.sort_by_key(|it| it.0);
    Ok(terms)
}

fn no_vector(name: &str) -> Status {
    Status::invalid_argument(format!("Wrong input: Not existing vector name error: {name}"))
}

/// Rejects parameters of a sparse vector that this stand-in does not know.
pub(super) fn known_sparse(params: &SparseVectorParams) -> Result<(), Status> {
    refuse_unknown("options of a sparse index", params.index.is_some())
}

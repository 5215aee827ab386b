use std::collections::HashMap;
use std::sync::Arc;

use ::qdrant_client::qdrant::payload_index_params::IndexParams;
use ::qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use ::qdrant_client::qdrant::query::Variant;
use ::qdrant_client::qdrant::vector_input::Variant as Input;
use ::qdrant_client::qdrant::with_payload_selector::SelectorOptions;
use ::qdrant_client::qdrant::with_vectors_selector::SelectorOptions as VectorOptions;
use ::qdrant_client::qdrant::*;
use tonic::Status;
use uuid::Uuid;

use super::filter::Accepts;
use super::held::StoredPoint;
use super::request_fields::{parse_uuid, refuse_unknown};
use super::service::service;
use super::state::{Collection, SharedState};

/// Number of points that a query returns if it has no limit.
const LIMIT: u64 = 10;

service! {
    points_server::Points;
    known {
        upsert(UpsertPoints) -> PointsOperationResponse = upsert_points;
        delete(DeletePoints) -> PointsOperationResponse = delete_points;
        set_payload(SetPayloadPoints) -> PointsOperationResponse = set_payload_fields;
        get(GetPoints) -> GetResponse = get_points;
        create_field_index(CreateFieldIndexCollection) -> PointsOperationResponse = index_field;
        delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse = forget_index;
        scroll(ScrollPoints) -> ScrollResponse = scroll_points;
        count(CountPoints) -> CountResponse = count_points;
        query_batch(QueryBatchPoints) -> QueryBatchResponse = query_points;
    }
    others {
        update_vectors(UpdatePointVectors) -> PointsOperationResponse;
        delete_vectors(DeletePointVectors) -> PointsOperationResponse;
        overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
        clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
        create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
        delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
        search(SearchPoints) -> SearchResponse;
        search_batch(SearchBatchPoints) -> SearchBatchResponse;
        search_groups(SearchPointGroups) -> SearchGroupsResponse;
        recommend(RecommendPoints) -> RecommendResponse;
        recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
        recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
        discover(DiscoverPoints) -> DiscoverResponse;
        discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
        update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
        query(QueryPoints) -> QueryResponse;
        query_groups(QueryPointGroups) -> QueryGroupsResponse;
        facet(FacetCounts) -> FacetResponse;
        search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
        search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
    }
}

impl SharedState {
    fn upsert_points(&self, request: UpsertPoints) -> Result<PointsOperationResponse, Status> {
        refuse_unknown("writes that do not wait", request.wait != Some(true))?;
        refuse_unknown(
            "options of an upsert",
            request.ordering.is_some() || request.update_filter.is_some(),
        )?;
        refuse_unknown("shard keys", request.shard_key_selector.is_some())?;
        let insert_only = match request.update_mode.unwrap_or_default() {
            mode if mode == i32::from(UpdateMode::Upsert) => false,
            mode if mode == i32::from(UpdateMode::InsertOnly) => true,
            _ => return Err(Status::unimplemented("the stand-in does not know this mode")),
        };
        if request.points.is_empty() {
            return Err(Status::invalid_argument("Empty update request"));
        }
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        let taken: Result<Vec<_>, Status> = request.points.iter().map(|it| collection.take(it)).collect();
        for (id, held) in taken? {
            if !(insert_only && collection.points.all().contains_key(&id)) {
                collection.points.all_mut().insert(id, Arc::new(held));
            }
        }
        self.leave(completed_response())
    }

    fn delete_points(&self, request: DeletePoints) -> Result<PointsOperationResponse, Status> {
        refuse_unknown("writes that do not wait", request.wait != Some(true))?;
        refuse_unknown(
            "options of a deletion",
            request.ordering.is_some() || request.shard_key_selector.is_some(),
        )?;
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        match request.points.and_then(|it| it.points_selector_one_of) {
            Some(PointsSelectorOneOf::Points(some)) => {
                for id in &some.ids {
                    collection.points.all_mut().remove(&parse_uuid(Some(id))?);
                }
            }
            Some(PointsSelectorOneOf::Filter(filter)) => {
                let accepts = Accepts::indexed(Some(&filter), &collection.indexes)?;
                collection
                    .points
                    .all_mut()
                    .retain(|id, it| !accepts.point(id, &it.payload));
            }
            None => return Err(Status::invalid_argument("No points selector provided")),
        }
        self.leave(completed_response())
    }

    fn set_payload_fields(&self, request: SetPayloadPoints) -> Result<PointsOperationResponse, Status> {
        refuse_unknown("writes that do not wait", request.wait != Some(true))?;
        let other = request.ordering.is_some() || request.shard_key_selector.is_some();
        refuse_unknown("options of a payload", other || request.key.is_some())?;
        let mut stored = self.stored();
        let points = stored.collection(&request.collection_name)?.points.all_mut();
        match request.points_selector.and_then(|it| it.points_selector_one_of) {
            Some(PointsSelectorOneOf::Points(some)) => {
                for id in &some.ids {
                    let found = points.get_mut(&parse_uuid(Some(id))?);
                    let found = found.ok_or_else(|| Status::not_found("Not found: No point with this id"))?;
                    Arc::make_mut(found).payload.extend(request.payload.clone());
                }
            }
            _ => return Err(Status::unimplemented("the stand-in does not know this selector")),
        }
        self.leave(completed_response())
    }

    fn get_points(&self, request: GetPoints) -> Result<GetResponse, Status> {
        no_vectors(request.with_vectors.as_ref())?;
        let other = request.read_consistency.is_some() || request.shard_key_selector.is_some();
        refuse_unknown("options of a get", other)?;
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        let ids: Result<Vec<Uuid>, Status> = request.ids.iter().map(|it| parse_uuid(Some(it))).collect();
        let points = collection.points.all();
        let found = ids?.into_iter().filter_map(|id| Some((id, points.get(&id)?)));
        let found: Result<Vec<_>, Status> = found
            .map(|(id, held)| retrieve_point(id, held, request.with_payload.as_ref()))
            .collect();
        Ok(GetResponse {
            result: found?,
            ..GetResponse::default()
        })
    }

    fn scroll_points(&self, request: ScrollPoints) -> Result<ScrollResponse, Status> {
        no_vectors(request.with_vectors.as_ref())?;
        let other = request.read_consistency.is_some() || request.shard_key_selector.is_some();
        refuse_unknown("options of a scroll", other || request.order_by.is_some())?;
        let start = request
            .offset
            .as_ref()
            .map(|it| parse_uuid(Some(it)))
            .transpose()?
            .unwrap_or_default();
        let limit = request.limit.map_or(LIMIT as usize, |it| it as usize);
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        let accepts = Accepts::indexed(request.filter.as_ref(), &collection.indexes)?;
        let accepted = collection
            .points
            .all()
            .range(start..)
            .filter(|(id, it)| accepts.point(id, &it.payload));
        let mut found: Vec<_> = accepted.take(limit + 1).collect();
        let next = found.get(limit).map(|it| PointId::from(it.0.to_string()));
        found.truncate(limit);
        let with_payload = request.with_payload.as_ref();
        let found: Result<Vec<_>, Status> = found
            .into_iter()
            .map(|(id, held)| retrieve_point(*id, held, with_payload))
            .collect();
        Ok(ScrollResponse {
            next_page_offset: next,
            result: found?,
            ..ScrollResponse::default()
        })
    }

    fn count_points(&self, request: CountPoints) -> Result<CountResponse, Status> {
        let other = request.read_consistency.is_some() || request.shard_key_selector.is_some();
        refuse_unknown("options of a count", other)?;
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        let accepts = Accepts::indexed(request.filter.as_ref(), &collection.indexes)?;
        let points = collection.points.all();
        let count = points.iter().filter(|(id, it)| accepts.point(id, &it.payload)).count() as u64;
        Ok(CountResponse {
            result: Some(CountResult { count }),
            ..CountResponse::default()
        })
    }

    fn index_field(&self, request: CreateFieldIndexCollection) -> Result<PointsOperationResponse, Status> {
        refuse_unknown("writes that do not wait", request.wait != Some(true))?;
        let (kind, params) = (request.field_type, request.field_index_params);
        let inner = params.as_ref().and_then(|it| it.index_params.as_ref());
        let data_type = match (kind, inner) {
            (Some(kind), None | Some(IndexParams::KeywordIndexParams(_))) if kind == i32::from(FieldType::Keyword) => {
                PayloadSchemaType::Keyword
            }
            (Some(kind), None | Some(IndexParams::IntegerIndexParams(_))) if kind == i32::from(FieldType::Integer) => {
                PayloadSchemaType::Integer
            }
            _ => return Err(Status::unimplemented("the stand-in does not know this index")),
        };
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        let index = PayloadSchemaInfo {
            data_type: i32::from(data_type),
            params,
            points: None,
        };
        collection.indexes.insert(request.field_name, index);
        Ok(completed_response())
    }

    fn forget_index(&self, request: DeleteFieldIndexCollection) -> Result<PointsOperationResponse, Status> {
        refuse_unknown("writes that do not wait", request.wait != Some(true))?;
        let mut stored = self.stored();
        stored
            .collection(&request.collection_name)?
            .indexes
            .remove(&request.field_name);
        Ok(completed_response())
    }

    fn query_points(&self, request: QueryBatchPoints) -> Result<QueryBatchResponse, Status> {
        refuse_unknown("options of a batch", request.read_consistency.is_some())?;
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        let answers = request.query_points.iter().map(|it| answer_query(collection, it));
        let result: Result<Vec<BatchResult>, Status> = answers.collect();
        Ok(QueryBatchResponse {
            result: result?,
            ..QueryBatchResponse::default()
        })
    }
}

/// Returns the answer to one query of a batch. A query without a vector lists points by id.
fn answer_query(collection: &mut Collection, query: &QueryPoints) -> Result<BatchResult, Status> {
    no_vectors(query.with_vectors.as_ref())?;
    let other = query.score_threshold.is_some() || query.offset.is_some() || query.lookup_from.is_some();
    refuse_unknown(
        "options of a query",
        other || !query.prefetch.is_empty() || query.read_consistency.is_some(),
    )?;
    refuse_unknown("shard keys", query.shard_key_selector.is_some())?;
    let limit = usize::try_from(query.limit.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
    if limit == 0 {
        return Err(Status::invalid_argument(
            "Validation error: limit: value 0 invalid, must be 1 or larger",
        ));
    }
    let accepted = collection.points.accepted(query.filter.as_ref(), &collection.indexes)?;
    let (using, params) = (
        query.using.as_deref().unwrap_or_default(),
        query.params.clone().unwrap_or_default(),
    );
    let scored = match query.query.as_ref().map(|it| it.variant.as_ref()) {
        None => (0..accepted.points.len()).map(|place| (place, 0.0)).collect(),
        Some(Some(Variant::Nearest(input))) => match &input.variant {
            Some(Input::Dense(vector)) if params.idf.is_some() => {
                let detail = format!("idf on the dense vector of {} numbers", vector.data.len());
                return Err(Status::invalid_argument(detail));
            }
            Some(Input::Dense(vector)) => {
                let exact = params.exact.unwrap_or_default();
                collection.nearest_points(using, vector.data.clone(), &accepted, exact, limit)?
            }
            Some(Input::Sparse(vector)) => {
                let corpus = params.idf.as_ref().and_then(|it| it.corpus.as_ref());
                let corpus = collection.points.accepted(corpus, &collection.indexes)?;
                collection.matching_points(using, vector, &accepted, &corpus, limit)?
            }
            _ => return Err(Status::unimplemented("the stand-in does not know this vector")),
        },
        Some(_) => return Err(Status::unimplemented("the stand-in does not know this query")),
    };
    let best = scored.into_iter().take(limit);
    let found = best.map(|(place, score)| {
        let (id, held) = &accepted.points[place];
        let point = retrieve_point(*id, held, query.with_payload.as_ref())?;
        Ok(ScoredPoint {
            id: point.id,
            payload: point.payload,
            score,
            ..ScoredPoint::default()
        })
    });
    Ok(BatchResult {
        result: found.collect::<Result<_, Status>>()?,
    })
}

fn retrieve_point(
    id: Uuid,
    held: &StoredPoint,
    wanted: Option<&WithPayloadSelector>,
) -> Result<RetrievedPoint, Status> {
    let payload = &held.payload;
    let payload = match wanted.and_then(|it| it.selector_options.as_ref()) {
        Some(SelectorOptions::Enable(true)) => payload.clone(),
        Some(SelectorOptions::Enable(false)) | None => HashMap::new(),
        Some(SelectorOptions::Include(some)) => {
            let wanted = some
                .fields
                .iter()
                .filter_map(|key| Some((key.clone(), payload.get(key)?.clone())));
            wanted.collect()
        }
        Some(SelectorOptions::Exclude(_)) => {
            return Err(Status::unimplemented("the stand-in does not leave out payload"));
        }
    };
    Ok(RetrievedPoint {
        id: Some(PointId::from(id.to_string())),
        payload,
        ..RetrievedPoint::default()
    })
}

fn no_vectors(wanted: Option<&WithVectorsSelector>) -> Result<(), Status> {
    let wanted = wanted.and_then(|it| it.selector_options.as_ref());
    refuse_unknown(
        "vectors of answers",
        !matches!(wanted, None | Some(VectorOptions::Enable(false))),
    )
}

fn completed_response() -> PointsOperationResponse {
    PointsOperationResponse {
        result: Some(UpdateResult {
            operation_id: Some(0),
            status: i32::from(UpdateStatus::Completed),
        }),
        ..PointsOperationResponse::default()
    }
}

use std::collections::HashMap;

use ::qdrant_client::qdrant::alias_operations::Action;
use ::qdrant_client::qdrant::vectors_config::Config;
use ::qdrant_client::qdrant::*;
use tonic::Status;

use super::held::SPARSE_MAX;
use super::request_fields::refuse_unknown;
use super::service::service;
use super::state::{Collection, SharedState};
use super::vectors::known_sparse;

service! {
    collections_server::Collections;
    known {
        get(GetCollectionInfoRequest) -> GetCollectionInfoResponse = describe;
        list(ListCollectionsRequest) -> ListCollectionsResponse = collections;
        create(CreateCollection) -> CollectionOperationResponse = create_collection;
        delete(DeleteCollection) -> CollectionOperationResponse = delete_collection;
        update_aliases(ChangeAliases) -> CollectionOperationResponse = change_aliases;
        list_aliases(ListAliasesRequest) -> ListAliasesResponse = aliases;
        collection_exists(CollectionExistsRequest) -> CollectionExistsResponse = exists;
    }
    others {
        update(UpdateCollection) -> CollectionOperationResponse;
        list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest) -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}

impl SharedState {
    fn describe(&self, request: GetCollectionInfoRequest) -> Result<GetCollectionInfoResponse, Status> {
        let mut stored = self.stored();
        let collection = stored.collection(&request.collection_name)?;
        let params = CollectionParams {
            shard_number: 1,
            vectors_config: Some(VectorsConfig {
                config: Some(Config::ParamsMap(VectorParamsMap {
                    map: collection.dense.clone(),
                })),
            }),
            sparse_vectors_config: Some(SparseVectorConfig {
                map: collection.sparse.clone(),
            }),
            ..CollectionParams::default()
        };
        let config = CollectionConfig {
            params: Some(params),
            hnsw_config: Some(collection.graph),
            ..CollectionConfig::default()
        };
        let info = CollectionInfo {
            status: i32::from(CollectionStatus::Green),
            config: Some(config),
            payload_schema: collection.indexes.clone(),
            points_count: Some(collection.points.all().len() as u64),
            ..CollectionInfo::default()
        };
        Ok(GetCollectionInfoResponse {
            result: Some(info),
            time: 0.0,
        })
    }

    fn collections(&self, _: ListCollectionsRequest) -> Result<ListCollectionsResponse, Status> {
        let stored = self.stored();
        let collections = stored
            .collections
            .keys()
            .map(|name| CollectionDescription { name: name.clone() });
        Ok(ListCollectionsResponse {
            collections: collections.collect(),
            time: 0.0,
        })
    }

    fn create_collection(&self, request: CreateCollection) -> Result<CollectionOperationResponse, Status> {
        let name = request.collection_name.clone();
        if name.is_empty() || name.len() > 255 || name.contains('/') {
            return Err(Status::invalid_argument(format!(
                "Collection name `{name}` is not valid"
            )));
        }
        let collection = build_collection(request)?;
        let mut stored = self.stored();
        if stored.collections.contains_key(&name) || stored.aliases.contains_key(&name) {
            return Err(Status::already_exists(format!("Collection `{name}` already exists!")));
        }
        stored.collections.insert(name, collection);
        Ok(operation_response(true))
    }

    fn delete_collection(&self, request: DeleteCollection) -> Result<CollectionOperationResponse, Status> {
        let mut stored = self.stored();
        let removed = stored.collections.remove(&request.collection_name);
        stored.aliases.retain(|_, target| *target != request.collection_name);
        Ok(operation_response(removed.is_some()))
    }

    fn change_aliases(&self, request: ChangeAliases) -> Result<CollectionOperationResponse, Status> {
        let mut stored = self.stored();
        for action in request.actions {
            match action.action {
                Some(Action::CreateAlias(it)) => {
                    if !stored.collections.contains_key(&it.collection_name) {
                        let detail = format!("Not found: Collection `{}` doesn't exist!", it.collection_name);
                        return Err(Status::not_found(detail));
                    }
                    if stored.collections.contains_key(&it.alias_name) {
                        return Err(Status::already_exists("a collection has that name"));
                    }
                    stored.aliases.insert(it.alias_name, it.collection_name);
                }
                Some(Action::DeleteAlias(it)) => {
                    stored.aliases.remove(&it.alias_name);
                }
                Some(Action::RenameAlias(_)) | None => {
                    return Err(Status::unimplemented("the stand-in does not rename aliases"));
                }
            }
        }
        Ok(operation_response(true))
    }

    fn aliases(&self, _: ListAliasesRequest) -> Result<ListAliasesResponse, Status> {
        let stored = self.stored();
        let aliases = stored.aliases.iter().map(|(alias, target)| AliasDescription {
            alias_name: alias.clone(),
            collection_name: target.clone(),
        });
        Ok(ListAliasesResponse {
            aliases: aliases.collect(),
            time: 0.0,
        })
    }

    fn exists(&self, request: CollectionExistsRequest) -> Result<CollectionExistsResponse, Status> {
        let exists = self.stored().collection(&request.collection_name).is_ok();
        Ok(CollectionExistsResponse {
            result: Some(CollectionExists { exists }),
            time: 0.0,
        })
    }
}

fn operation_response(result: bool) -> CollectionOperationResponse {
    CollectionOperationResponse { result, time: 0.0 }
}

fn build_collection(request: CreateCollection) -> Result<Collection, Status> {
    let other = CreateCollection {
        collection_name: String::new(),
        hnsw_config: None,
        vectors_config: None,
        sparse_vectors_config: None,
        timeout: None,
        ..request.clone()
    };
    refuse_unknown("options of a collection", other != CreateCollection::default())?;
    let dense = match request.vectors_config.and_then(|it| it.config) {
        Some(Config::ParamsMap(named)) => named.map,
        Some(Config::Params(_)) => return Err(Status::unimplemented("the stand-in wants named vectors")),
        None => HashMap::new(),
    };
    for params in dense.values() {
        let plain = VectorParams {
            size: params.size,
            distance: params.distance,
            ..VectorParams::default()
        };
        refuse_unknown("options of a vector", *params != plain)?;
    }
    let sparse = request.sparse_vectors_config.unwrap_or_default().map;
    refuse_unknown("so many sparse vectors", sparse.len() > SPARSE_MAX)?;
    sparse.values().try_for_each(known_sparse)?;
    Ok(Collection {
        dense,
        sparse,
        graph: request.hnsw_config.unwrap_or_default(),
        ..Collection::default()
    })
}

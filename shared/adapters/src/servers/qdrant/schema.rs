//! The description of the collection, and how the collection is created and verified.
//!
//! Readers and writers use an alias, so that the operator can fill another collection and switch. The collection has no
//! graph over all points, only one per space (`payload_m`), because no search ever crosses spaces.

use std::collections::HashMap;

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    CollectionInfo, CreateAliasBuilder, CreateCollection, CreateCollectionBuilder, CreateFieldIndexCollection,
    CreateFieldIndexCollectionBuilder, Distance, FieldType, HnswConfigDiffBuilder, KeywordIndexParamsBuilder, Modifier,
    PayloadSchemaInfo, PayloadSchemaType, SparseVectorParamsBuilder, SparseVectorsConfigBuilder, VectorParams,
    VectorParamsBuilder, VectorsConfigBuilder,
};
use uuid::Uuid;

use super::client::Client;
use super::{Options, SetupError};
use crate::servers::qdrant::error::Drift;

/// Names of the vectors of a point.
pub(super) const DENSE: &str = "dense";
pub(super) const WORDS: &str = "words";
pub(super) const PIECES: &str = "pieces";
/// Payload fields of a point.
pub(super) const SPACE: &str = "space";
pub(super) const GENERATION: &str = "generation";
pub(super) const UNIT: &str = "unit";
pub(super) const PART: &str = "part";
pub(super) const OBSERVED_AT: &str = "observed_at";
/// Payload fields of a marker, in addition to `space`.
pub(super) const BORN: &str = "born";
pub(super) const SHOWN: &str = "shown";
pub(super) const BUILDING: &str = "building";
pub(super) const RENEWALS: &str = "renewals";

/// The oldest server version that counts for idf only the points of a filter. An older one would silently count over
/// all spaces.
const VERSION_MIN: (u32, u32) = (1, 19);
/// Number of edges of a point in the graph of its space.
const EDGES: u64 = 16;
/// The indexed payload fields and the types of their indexes.
///
/// It must contain every field that a filter names: a collection in strict mode, which is the default of Qdrant Cloud,
/// refuses other fields. The graph gets additional links for each field (`enable_hnsw`, on by default). They take most
/// of the build time, but without them a filtered search misses one neighbour in six (see docs/QDRANT.md). Markers have
/// no vectors, so `born` adds no link.
const INDEXES: [(&str, &str); 5] = [
    (SPACE, TENANT),
    (GENERATION, "integer"),
    (UNIT, "keyword"),
    (OBSERVED_AT, "integer"),
    (BORN, "integer"),
];
const TENANT: &str = "keyword of tenants";
/// Maximum length of the model's name in the name of a collection, in bytes.
const SLUG_BYTES_MAX: usize = 48;

/// Returns the alias for the points of a model. It contains the readable part of the model's name, and a part of the
/// name's digest to make it unique.
pub(super) fn alias_of_model(options: &Options, model: &str) -> String {
    let plain = |it: char| match it.is_ascii_alphanumeric() || it == '-' {
        true => it.to_ascii_lowercase(),
        false => '-',
    };
    let slug: String = model.chars().map(plain).take(SLUG_BYTES_MAX).collect();
    let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, model.as_bytes())
        .simple()
        .to_string();
    format!("{}_{slug}_{}", options.prefix, &digest[..8])
}

/// Creates missing objects and returns the remaining differences. Idempotent.
///
/// # Errors
///
/// See [`SetupError`].
pub async fn provision_collection(options: &Options, dimension: usize, model: &str) -> Result<Vec<Drift>, SetupError> {
    let client = Client::new(options)?;
    check_version(&client).await?;
    let alias = alias_of_model(options, model);
    let target = collection_of_alias(&client, &alias).await?;
    let collection = target.clone().unwrap_or_else(|| format!("{alias}_1"));
    let info = match read_collection_info(&client, &collection).await? {
        Some(info) => info,
        None => {
            create_collection(&client, &collection, dimension).await?;
            read_collection_info(&client, &collection).await?.unwrap_or_default()
        }
    };
    for (field, kind) in INDEXES {
        if !info.payload_schema.contains_key(field) {
            let request = index_request(&collection, field, kind);
            let send = |driver: qdrant_client::Qdrant| {
                let request = request.clone();
                async move { driver.create_field_index(request).await }
            };
            client.run_setup_step(&format!("index {field}"), send).await?;
        }
    }
    if target.is_none() {
        let request = CreateAliasBuilder::new(&collection, &alias);
        let send = |driver: qdrant_client::Qdrant| {
            let request = request.clone();
            async move { driver.create_alias(request).await }
        };
        client
            .run_setup_step(&format!("create the alias {alias}"), send)
            .await?;
    }
    let drifts = find_drifts(&client, &alias, dimension).await?;
    tracing::info!(collection, drifts = drifts.len(), "collection of qdrant provisioned");
    Ok(drifts)
}

/// Returns an error if something is missing or different.
pub(super) async fn verify_collection(
    client: &Client,
    options: &Options,
    dimension: usize,
    model: &str,
) -> Result<(), SetupError> {
    check_version(client).await?;
    let drifts = find_drifts(client, &alias_of_model(options, model), dimension).await?;
    if drifts.is_empty() {
        return Ok(());
    }
    Err(SetupError::NotProvisioned {
        url: client.url.clone(),
        drifts,
    })
}

async fn check_version(client: &Client) -> Result<(), SetupError> {
    let send = |driver: qdrant_client::Qdrant| async move { driver.health_check().await };
    let found = client
        .run_setup_step("report its version", send)
        .await?
        .unwrap_or_default()
        .version;
    let mut numbers = found.split('.').map(|it| it.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) if (major, minor) >= VERSION_MIN => Ok(()),
        _ => Err(SetupError::Version {
            url: client.url.clone(),
            found,
            needed: format!("{}.{}", VERSION_MIN.0, VERSION_MIN.1),
        }),
    }
}

async fn find_drifts(client: &Client, alias: &str, dimension: usize) -> Result<Vec<Drift>, SetupError> {
    let missing = |what: &str, name: &str| {
        vec![Drift::Missing {
            name: format!("{what} {name}"),
        }]
    };
    let Some(collection) = collection_of_alias(client, alias).await? else {
        return Ok(missing("alias", alias));
    };
    let Some(info) = read_collection_info(client, &collection).await? else {
        return Ok(missing("collection", &collection));
    };
    let found = found_shape(&info);
    let compare = |(name, expected): (String, String)| match found.get(&name) {
        None => Some(Drift::Missing { name }),
        Some(found) if *found == expected => None,
        Some(found) => Some(Drift::Different {
            name,
            expected,
            found: found.clone(),
        }),
    };
    Ok(expected_shape(dimension).into_iter().filter_map(compare).collect())
}

/// Returns the collection of an alias.
async fn collection_of_alias(client: &Client, alias: &str) -> Result<Option<String>, SetupError> {
    let send = |driver: qdrant_client::Qdrant| async move { driver.list_aliases().await };
    let aliases = client
        .run_setup_step("list the aliases", send)
        .await?
        .unwrap_or_default()
        .aliases;
    let found = aliases.into_iter().find(|it| it.alias_name == alias);
    Ok(found.map(|it| it.collection_name))
}

async fn read_collection_info(client: &Client, collection: &str) -> Result<Option<CollectionInfo>, SetupError> {
    let send = |driver: qdrant_client::Qdrant| {
        let name = collection.to_owned();
        async move { driver.collection_info(name).await }
    };
    let step = format!("describe the collection {collection}");
    let Some(answer) = client.run_setup_step(&step, send).await? else {
        return Ok(None);
    };
    let empty = || SetupError::Refused {
        url: client.url.clone(),
        step,
        source: None,
    };
    answer.result.map(Some).ok_or_else(empty)
}

async fn create_collection(client: &Client, collection: &str, dimension: usize) -> Result<(), SetupError> {
    let request = collection_layout(collection, dimension);
    let send = |driver: qdrant_client::Qdrant| {
        let request = request.clone();
        async move { driver.create_collection(request).await }
    };
    let creation = client
        .run_setup_step(&format!("create the collection {collection}"), send)
        .await;
    match creation {
        // Another provisioning was faster; the collection that it created is compared like any other.
        Err(SetupError::Refused { .. }) if read_collection_info(client, collection).await?.is_some() => Ok(()),
        other => other.map(drop),
    }
}

fn collection_layout(collection: &str, dimension: usize) -> CreateCollection {
    let mut vectors = VectorsConfigBuilder::default();
    let size = u64::try_from(dimension).unwrap_or(u64::MAX);
    vectors.add_named_vector_params(DENSE, VectorParamsBuilder::new(size, Distance::Cosine));
    let mut sparse = SparseVectorsConfigBuilder::default();
    for name in [WORDS, PIECES] {
        sparse.add_named_vector_params(name, SparseVectorParamsBuilder::default().modifier(Modifier::Idf));
    }
    CreateCollectionBuilder::new(collection)
        .vectors_config(vectors)
        .sparse_vectors_config(sparse)
        .hnsw_config(HnswConfigDiffBuilder::default().m(0).payload_m(EDGES))
        .build()
}

fn index_request(collection: &str, field: &str, kind: &str) -> CreateFieldIndexCollection {
    let plain = |kind| CreateFieldIndexCollectionBuilder::new(collection, field, kind).wait(true);
    let request = match kind {
        TENANT => plain(FieldType::Keyword).field_index_params(KeywordIndexParamsBuilder::default().is_tenant(true)),
        "keyword" => plain(FieldType::Keyword),
        _ => plain(FieldType::Integer),
    };
    request.build()
}

/// Returns the required objects and their forms, by name.
fn expected_shape(dimension: usize) -> Vec<(String, String)> {
    let mut all = vec![
        (format!("vector {DENSE}"), format!("{dimension} numbers, Cosine")),
        (format!("sparse vector {WORDS}"), "with Idf".to_owned()),
        (format!("sparse vector {PIECES}"), "with Idf".to_owned()),
        ("graph".to_owned(), format!("m 0, payload_m {EDGES}")),
    ];
    all.extend(INDEXES.map(|(field, kind)| (format!("index {field}"), kind.to_owned())));
    all
}

/// Returns the existing objects and their forms, in the same words.
fn found_shape(info: &CollectionInfo) -> HashMap<String, String> {
    let config = info.config.clone().unwrap_or_default();
    let params = config.params.unwrap_or_default();
    let mut found = HashMap::new();
    match params.vectors_config.and_then(|it| it.config) {
        Some(Config::ParamsMap(vectors_by_name)) => {
            found.extend(
                vectors_by_name
                    .map
                    .iter()
                    .map(|(name, it)| (format!("vector {name}"), describe_vector(it))),
            );
        }
        Some(Config::Params(_)) | None => {}
    }
    for (name, it) in params.sparse_vectors_config.unwrap_or_default().map {
        let modifier = it
            .modifier
            .and_then(|it| Modifier::try_from(it).ok())
            .unwrap_or_default();
        found.insert(format!("sparse vector {name}"), format!("with {modifier:?}"));
    }
    let graph = config.hnsw_config.unwrap_or_default();
    let number = |it: Option<u64>| it.map_or_else(|| "unset".to_owned(), |it| it.to_string());
    let edges = format!("m {}, payload_m {}", number(graph.m), number(graph.payload_m));
    found.insert("graph".to_owned(), edges);
    found.extend(
        info.payload_schema
            .iter()
            .map(|(field, it)| (format!("index {field}"), describe_index(it))),
    );
    found
}

fn describe_vector(params: &VectorParams) -> String {
    let distance = Distance::try_from(params.distance).unwrap_or_default();
    format!("{} numbers, {distance:?}", params.size)
}

fn describe_index(info: &PayloadSchemaInfo) -> String {
    let kind = PayloadSchemaType::try_from(info.data_type).unwrap_or_default();
    let params = info.params.as_ref().and_then(|it| it.index_params.as_ref());
    let (shown, linked) = match (kind, params) {
        (PayloadSchemaType::Keyword, Some(IndexParams::KeywordIndexParams(it))) => {
            let shown = if it.is_tenant == Some(true) { TENANT } else { "keyword" };
            (shown.to_owned(), it.enable_hnsw)
        }
        (PayloadSchemaType::Integer, Some(IndexParams::IntegerIndexParams(it))) => {
            let has_both_uses = it.lookup != Some(false) && it.range != Some(false);
            let shown = if has_both_uses {
                "integer"
            } else {
                "integer without lookup or range"
            };
            (shown.to_owned(), it.enable_hnsw)
        }
        (kind, _) => (format!("{kind:?}").to_lowercase(), None),
    };
    match linked {
        Some(false) => format!("{shown} without links in the graph"),
        Some(true) | None => shown,
    }
}

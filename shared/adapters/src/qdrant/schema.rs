//! The description of the collection, and how the collection is created and verified.
//!
//! Readers and writers use an alias, so that the operator can fill another collection and switch. The collection has no
//! graph over all points, only one per space (`payload_m`), because no search ever crosses spaces.

use std::collections::HashMap;
use std::fmt;

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

/// A difference between the collection on the server and that of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// It does not exist.
    Missing {
        /// The object: an alias, a collection, a vector, an index.
        name: String,
    },
    /// It exists but differs.
    Different {
        /// The object.
        name: String,
        /// Its form in this program.
        expected: String,
        /// Its form on the server.
        found: String,
    },
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drift::Missing { name } => write!(f, "{name} is missing"),
            Drift::Different { name, expected, found } => write!(f, "{name} is {found} instead of {expected}"),
        }
    }
}

/// Returns the alias for the points of a model. It contains the readable part of the model's name, and a part of the
/// name's digest to make it unique.
pub(super) fn alias(options: &Options, model: &str) -> String {
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
pub async fn provision(options: &Options, dimension: usize, model: &str) -> Result<Vec<Drift>, SetupError> {
    let client = Client::new(options)?;
    check_version(&client).await?;
    let alias = alias(options, model);
    let target = target(&client, &alias).await?;
    let collection = target.clone().unwrap_or_else(|| format!("{alias}_1"));
    let info = match info(&client, &collection).await? {
        Some(info) => info,
        None => {
            create(&client, &collection, dimension).await?;
            info(&client, &collection).await?.unwrap_or_default()
        }
    };
    for (field, kind) in INDEXES {
        if !info.payload_schema.contains_key(field) {
            let request = index(&collection, field, kind);
            let send = |driver: qdrant_client::Qdrant| {
                let request = request.clone();
                async move { driver.create_field_index(request).await }
            };
            client.setup(&format!("index {field}"), send).await?;
        }
    }
    if target.is_none() {
        let request = CreateAliasBuilder::new(&collection, &alias);
        let send = |driver: qdrant_client::Qdrant| {
            let request = request.clone();
            async move { driver.create_alias(request).await }
        };
        client.setup(&format!("create the alias {alias}"), send).await?;
    }
    let drifts = drifts(&client, &alias, dimension).await?;
    tracing::info!(collection, drifts = drifts.len(), "collection of qdrant provisioned");
    Ok(drifts)
}

/// Returns an error if something is missing or different.
pub(super) async fn verify(
    client: &Client,
    options: &Options,
    dimension: usize,
    model: &str,
) -> Result<(), SetupError> {
    check_version(client).await?;
    let drifts = drifts(client, &alias(options, model), dimension).await?;
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
        .setup("tell its version", send)
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

async fn drifts(client: &Client, alias: &str, dimension: usize) -> Result<Vec<Drift>, SetupError> {
    let missing = |what: &str, name: &str| {
        vec![Drift::Missing {
            name: format!("{what} {name}"),
        }]
    };
    let Some(collection) = target(client, alias).await? else {
        return Ok(missing("alias", alias));
    };
    let Some(info) = info(client, &collection).await? else {
        return Ok(missing("collection", &collection));
    };
    let found = shape(&info);
    let compare = |(name, expected): (String, String)| match found.get(&name) {
        None => Some(Drift::Missing { name }),
        Some(found) if *found == expected => None,
        Some(found) => Some(Drift::Different {
            name,
            expected,
            found: found.clone(),
        }),
    };
    Ok(expected(dimension).into_iter().filter_map(compare).collect())
}

/// Returns the collection of an alias.
async fn target(client: &Client, alias: &str) -> Result<Option<String>, SetupError> {
    let send = |driver: qdrant_client::Qdrant| async move { driver.list_aliases().await };
    let aliases = client
        .setup("list the aliases", send)
        .await?
        .unwrap_or_default()
        .aliases;
    let found = aliases.into_iter().find(|it| it.alias_name == alias);
    Ok(found.map(|it| it.collection_name))
}

async fn info(client: &Client, collection: &str) -> Result<Option<CollectionInfo>, SetupError> {
    let send = |driver: qdrant_client::Qdrant| {
        let name = collection.to_owned();
        async move { driver.collection_info(name).await }
    };
    let step = format!("describe the collection {collection}");
    let Some(answer) = client.setup(&step, send).await? else {
        return Ok(None);
    };
    let empty = || SetupError::Refused {
        url: client.url.clone(),
        step,
        source: None,
    };
    answer.result.map(Some).ok_or_else(empty)
}

async fn create(client: &Client, collection: &str, dimension: usize) -> Result<(), SetupError> {
    let request = layout(collection, dimension);
    let send = |driver: qdrant_client::Qdrant| {
        let request = request.clone();
        async move { driver.create_collection(request).await }
    };
    let made = client.setup(&format!("create the collection {collection}"), send).await;
    match made {
        // Another provisioning was faster; the collection that it created is compared like any other.
        Err(SetupError::Refused { .. }) if info(client, collection).await?.is_some() => Ok(()),
        other => other.map(drop),
    }
}

fn layout(collection: &str, dimension: usize) -> CreateCollection {
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

fn index(collection: &str, field: &str, kind: &str) -> CreateFieldIndexCollection {
    let plain = |kind| CreateFieldIndexCollectionBuilder::new(collection, field, kind).wait(true);
    let request = match kind {
        TENANT => plain(FieldType::Keyword).field_index_params(KeywordIndexParamsBuilder::default().is_tenant(true)),
        "keyword" => plain(FieldType::Keyword),
        _ => plain(FieldType::Integer),
    };
    request.build()
}

/// Returns the required objects and their forms, by name.
fn expected(dimension: usize) -> Vec<(String, String)> {
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
fn shape(info: &CollectionInfo) -> HashMap<String, String> {
    let config = info.config.clone().unwrap_or_default();
    let params = config.params.unwrap_or_default();
    let mut found = HashMap::new();
    match params.vectors_config.and_then(|it| it.config) {
        Some(Config::ParamsMap(named)) => {
            found.extend(named.map.iter().map(|(name, it)| (format!("vector {name}"), dense(it))));
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
            .map(|(field, it)| (format!("index {field}"), indexed(it))),
    );
    found
}

fn dense(params: &VectorParams) -> String {
    let distance = Distance::try_from(params.distance).unwrap_or_default();
    format!("{} numbers, {distance:?}", params.size)
}

fn indexed(info: &PayloadSchemaInfo) -> String {
    let kind = PayloadSchemaType::try_from(info.data_type).unwrap_or_default();
    let params = info.params.as_ref().and_then(|it| it.index_params.as_ref());
    let (shown, linked) = match (kind, params) {
        (PayloadSchemaType::Keyword, Some(IndexParams::KeywordIndexParams(it))) => {
            let shown = if it.is_tenant == Some(true) { TENANT } else { "keyword" };
            (shown.to_owned(), it.enable_hnsw)
        }
        (PayloadSchemaType::Integer, Some(IndexParams::IntegerIndexParams(it))) => {
            let whole = it.lookup != Some(false) && it.range != Some(false);
            let shown = if whole {
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

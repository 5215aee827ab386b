//! Creates drift between the stores by hand. `mnemic doctor` counts it, and `--repair` repairs it and changes nothing
//! else.

use adapters::servers::neo4j::Neo4j;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::unit::Unit;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, DeletePointsBuilder, Filter, NamedVectors, PointStruct, ScrollPointsBuilder,
    UpsertPointsBuilder, Vector,
};
use serde_json::{Value, json};
use system::running::Servers;
use system::running::api::Api;
use system::running::processes::{Processes, run_mnemic};
use uuid::Uuid;

use super::{sample_talk, shared_servers};

const SPACE: &str = "talk";

/// Direct access to the stores of one deployment, without its services.
struct Stores {
    qdrant: Qdrant,
    collection: String,
    neo4j: neo4rs::Graph,
    ports: Neo4j,
    namespace: String,
}

impl Stores {
    async fn open_stores(servers: &Servers, settings: &[(String, String)]) -> Stores {
        let of = |key: &str| settings.iter().find(|it| it.0 == key).unwrap().1.clone();
        let qdrant = Qdrant::from_url(&of("qdrant.url"))
            .skip_compatibility_check()
            .build()
            .unwrap();
        let aliases = qdrant.list_aliases().await.unwrap().aliases;
        let prefix = format!("{}_", of("qdrant.prefix"));
        let ours = aliases.into_iter().find(|it| it.alias_name.starts_with(&prefix));
        let namespace = of("neo4j.namespace");
        let options = servers.neo4j.options(&namespace);
        let neo4j = neo4rs::Graph::new(
            options.url.clone(),
            options.user.clone(),
            options.password.reveal().to_owned(),
        )
        .unwrap();
        Stores {
            qdrant,
            collection: ours.unwrap().collection_name,
            neo4j,
            ports: Neo4j::connect(&options).await.unwrap(),
            namespace,
        }
    }

    async fn vectors(&self) -> u64 {
        let count = CountPointsBuilder::new(&self.collection).exact(true);
        self.qdrant.count(count).await.unwrap().result.unwrap().count
    }

    async fn take_vectors(&self, unit: UnitId) {
        let gone = Filter::must([Condition::matches("unit", unit.to_string())]);
        let before = self.vectors().await;
        let gone = DeletePointsBuilder::new(&self.collection).points(gone).wait(true);
        self.qdrant.delete_points(gone).await.unwrap();
        assert!(self.vectors().await < before);
    }

    /// Adds a vector like that of `unit`, for an unknown unit.
    async fn add_vector(&self, unit: UnitId) {
        let one = Filter::must([Condition::matches("unit", unit.to_string())]);
        let one = ScrollPointsBuilder::new(&self.collection)
            .filter(one)
            .with_payload(true);
        let mut payload = self.qdrant.scroll(one).await.unwrap().result[0].payload.clone();
        payload.insert("unit".to_owned(), foreign_ids("vector").1.to_string().into());
        let dense = Vector::new_dense((0..128).map(|it| f32::from(it == 0)).collect::<Vec<f32>>());
        let vectors = NamedVectors::default()
            .add_vector("dense", dense)
            .add_vector("words", Vector::new_sparse(vec![1], vec![1.0]))
            .add_vector("pieces", Vector::new_sparse(vec![1], vec![1.0]));
        let point = PointStruct::new(Uuid::from_u128(77).to_string(), vectors, payload);
        let put = UpsertPointsBuilder::new(&self.collection, vec![point]).wait(true);
        self.qdrant.upsert_points(put).await.unwrap();
    }

    async fn take_node(&self, unit: UnitId) {
        let key = format!("{}/{SPACE}/{}", self.namespace, unit.uuid().simple());
        let gone = neo4rs::query("MATCH (u:Unit {key: $key}) DETACH DELETE u RETURN 1 AS one").param("key", key);
        let mut rows = self.neo4j.execute(gone).await.unwrap();
        assert!(rows.next().await.unwrap().is_some(), "there was no such node");
        assert!(rows.next().await.unwrap().is_none());
    }

    /// Adds a node like that of `unit`, for an unknown record.
    async fn add_node(&self, unit: UnitId) {
        let space: SpaceId = SPACE.parse().unwrap();
        let like = self.ports.graph.units(&space, &[unit]).await.unwrap().remove(0);
        let orphan = Unit {
            id: foreign_ids("node").1,
            records: vec![foreign_ids("node").0],
            ..like
        };
        self.ports.graph.put_units(&space, &[orphan], &[]).await.unwrap();
    }
}

/// Returns the ids of a record that was never sent, and of its unit.
fn foreign_ids(name: &str) -> (RecordId, UnitId) {
    let record = RecordId::from_external_id(&SPACE.parse().unwrap(), name);
    (record, UnitId::of_turn(record))
}

/// Returns everything that callers see of a space.
async fn visible_state(api: &Api) -> Value {
    api.wait_until_settled(SPACE).await;
    let mut lists = Vec::new();
    for path in ["records", "units", "entities", "facts"] {
        let mut all = api.list(&format!("/spaces/{SPACE}/{path}")).await;
        all.sort_by_key(|it| it["id"].to_string());
        lists.push(all);
    }
    let mut packs = Vec::new();
    for question in [
        "When did Ines adopt the greyhound?",
        "What does Omar repair?",
        "Who moved to Lisbon?",
    ] {
        packs.push(api.ask(SPACE, question).await["pack"].clone());
    }
    json!([lists, packs])
}

/// A node and vectors are removed, and a node and a vector are added. Each is counted by its kind, and a repair
/// removes the drift.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_is_counted_and_repaired() {
    let Some(servers) = shared_servers().await else { return };
    let settings = servers.settings();
    let logs = tempfile::tempdir().unwrap();
    let processes = Processes::start(settings.clone(), logs.path()).await.unwrap();
    let api = &processes.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_talk()).await;
    api.wait_until_written("talk", &watermark).await;
    let before = visible_state(api).await;
    let url = api.base.trim_end_matches("/v1").to_owned();
    let doctor = |more: &[&str]| run_mnemic(&settings, &[&["doctor", "--url", &url][..], more].concat()).unwrap();
    let (code, output) = doctor(&[]);
    assert_eq!(code, Some(0), "{output}");
    assert!(
        output.contains("1 spaces, 6 records, 6 turn units, 6 points"),
        "{output}"
    );

    let stores = Stores::open_stores(servers, &settings).await;
    let vectors = stores.vectors().await;
    let unit = |id: &str| UnitId::of_turn(RecordId::from_external_id(&SPACE.parse().unwrap(), id));
    stores.take_vectors(unit("2")).await;
    stores.add_vector(unit("3")).await;
    stores.take_node(unit("4")).await;
    stores.add_node(unit("5")).await;
    let wrong = [
        "records without a unit: 1",
        "units without a record: 1",
        "units without all their vectors: 1",
        "vectors without a unit: 1",
    ];
    let wrong = format!("talk has {}", wrong.join(", "));
    for _ in 0..2 {
        let (code, output) = doctor(&[]);
        assert_eq!(code, Some(3), "{output}");
        assert!(output.contains(&wrong), "{output}");
    }
    let (code, output) = doctor(&["--repair"]);
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains(&format!("repaired {wrong}")), "{output}");
    let (code, output) = doctor(&["--repair"]);
    assert_eq!((code, output.contains("repaired")), (Some(0), false), "{output}");
    assert_eq!(stores.vectors().await, vectors);
    assert_eq!(visible_state(api).await, before);
}

//! Collections in strict mode, which Qdrant Cloud creates: a filter on a field without an index is rejected. The
//! stand-in always does so, and every test of the distributed mode runs on it.

use std::sync::Arc;

use adapters::servers::qdrant::{Drift, QdrantIndex, provision_collection};
use domain::{Classify, ErrorKind};
use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, CreateFieldIndexCollectionBuilder, DeleteFieldIndexCollectionBuilder, FieldType,
    Filter, IntegerIndexParamsBuilder, Range,
};
use system::servers::qdrant::Server;

use super::{connect_driver, open_embedded};

async fn create_collection(driver: &qdrant_client::Qdrant) -> String {
    driver.list_aliases().await.unwrap().aliases.remove(0).collection_name
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_on_a_field_without_an_index_is_rejected() {
    let server = Server::start("").unwrap();
    let options = server.options("t");
    assert_eq!(provision_collection(&options, 128, "m").await.unwrap(), []);
    let driver = connect_driver(&options);
    let collection = create_collection(&driver).await;
    let within = Range {
        gte: Some(0.0),
        ..Range::default()
    };
    let count = async |condition: Condition| {
        let request = CountPointsBuilder::new(&collection).filter(Filter::must([condition]));
        driver.count(request).await.map(|it| it.result.unwrap().count)
    };
    assert_eq!(count(Condition::matches("space", "a".to_owned())).await.unwrap(), 0);
    assert_eq!(count(Condition::matches("born", 1)).await.unwrap(), 0);
    assert_eq!(count(Condition::range("observed_at", within)).await.unwrap(), 0);
    let unindexed = [
        Condition::matches("part", 1),
        Condition::range("shown", within),
        // The field has an index of another kind.
        Condition::matches("space", 1),
        Condition::from(Filter::must_not([Condition::matches("building", 1)])),
    ];
    for condition in unindexed {
        let refused = count(condition.clone()).await.err().unwrap().to_string();
        assert!(
            refused.contains("Index required but not found"),
            "{condition:?}: {refused}"
        );
    }
}

/// A collection of an earlier version lacks an index. The error names it, and provisioning creates it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provisioning_creates_an_index_that_an_earlier_version_lacks() {
    let server = Server::start("").unwrap();
    let options = server.options("t");
    assert_eq!(provision_collection(&options, 128, "m").await.unwrap(), []);
    let driver = connect_driver(&options);
    let collection = create_collection(&driver).await;
    let dropped = DeleteFieldIndexCollectionBuilder::new(&collection, "born").wait(true);
    driver.delete_field_index(dropped).await.unwrap();

    let dir = tempfile::tempdir().unwrap();
    let records = open_embedded(dir.path()).await.records;
    let connect = async || QdrantIndex::connect(&options, Arc::clone(&records), 128, "m").await;
    let refused = connect().await.err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("index born is missing"), "{refused}");
    assert_eq!(provision_collection(&options, 128, "m").await.unwrap(), []);
    assert!(connect().await.is_ok());
}

/// Without the links of an index in the graph, a filtered search misses neighbours, and nothing else reveals that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disabled_links_of_an_index_are_reported_as_drift() {
    let server = Server::start("").unwrap();
    let options = server.options("t");
    assert_eq!(provision_collection(&options, 128, "m").await.unwrap(), []);
    let driver = connect_driver(&options);
    let collection = create_collection(&driver).await;
    let linked = async |links: bool| {
        let params = IntegerIndexParamsBuilder::new(true, true).enable_hnsw(links);
        let index = CreateFieldIndexCollectionBuilder::new(&collection, "generation", FieldType::Integer)
            .field_index_params(params)
            .wait(true);
        driver.create_field_index(index).await.unwrap();
        provision_collection(&options, 128, "m").await.unwrap()
    };
    let expected = Drift::Different {
        name: "index generation".to_owned(),
        expected: "integer".to_owned(),
        found: "integer without links in the graph".to_owned(),
    };
    assert_eq!(linked(false).await, [expected]);
    assert_eq!(linked(true).await, []);
}

//! Runs `mnemic provision` through the binary: which objects it creates, and how it reports objects that differ.

use qdrant_client::Qdrant;
use qdrant_client::qdrant::{CreateAliasBuilder, CreateCollectionBuilder, Distance, VectorParamsBuilder};
use system::running::processes::mnemic;

use super::shared;

/// The command succeeds each time it runs. When the servers hold something else, it ends with code 3 and names every
/// difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_is_named_and_has_its_own_exit_code() {
    let Some(servers) = shared().await else { return };
    let settings = servers.settings();
    for _ in 0..2 {
        let (code, said) = mnemic(&settings, &["provision"]).unwrap();
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("drift"), "{said}");
        for server in ["nats", "neo4j", "qdrant"] {
            assert!(said.lines().any(|it| it.starts_with(server)), "{said}");
        }
    }
    // The partitions of an existing stream cannot be changed.
    let mut other = settings.clone();
    other.push(("nats.partitions".to_owned(), "8".to_owned()));
    let (code, said) = mnemic(&other, &["provision"]).unwrap();
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("nats    drift: ") && said.contains("instead of 8"),
        "{said}"
    );

    let prefix = &settings.iter().find(|it| it.0 == "qdrant.prefix").unwrap().1;
    let url = &settings.iter().find(|it| it.0 == "qdrant.url").unwrap().1;
    let driver = Qdrant::from_url(url).skip_compatibility_check().build().unwrap();
    let aliases = driver.list_aliases().await.unwrap().aliases;
    let ours = aliases
        .iter()
        .find(|it| it.alias_name.starts_with(&format!("{prefix}_")))
        .unwrap();
    let mut vectors = qdrant_client::qdrant::VectorsConfigBuilder::default();
    vectors.add_named_vector_params("dense", VectorParamsBuilder::new(64, Distance::Dot));
    let another = CreateCollectionBuilder::new(format!("{prefix}_another")).vectors_config(vectors);
    driver.create_collection(another).await.unwrap();
    let alias = CreateAliasBuilder::new(format!("{prefix}_another"), &ours.alias_name);
    driver.create_alias(alias).await.unwrap();
    let (code, said) = mnemic(&settings, &["provision"]).unwrap();
    assert_eq!(code, Some(3), "{said}");
    let drift = "qdrant  drift: vector dense is 64 numbers, Dot instead of 128 numbers, Cosine";
    assert!(said.contains(drift), "{said}");
    assert!(!said.contains("nats    drift"), "{said}");
}

/// A server that is away is a failure and not drift.
#[test]
fn the_error_names_a_server_that_is_away() {
    let settings = [
        ("backends.kind", "distributed"),
        ("nats.url", "nats://127.0.0.1:1"),
        ("nats.call_timeout_ms", "500"),
    ];
    let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let (code, said) = mnemic(&settings, &["provision"]).unwrap();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("nats cannot be provisioned"), "{said}");
}

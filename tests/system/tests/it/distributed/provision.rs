//! Runs `mnemic provision` through the binary: which objects it creates, and how it reports objects that differ.

use qdrant_client::Qdrant;
use qdrant_client::qdrant::{CreateAliasBuilder, CreateCollectionBuilder, Distance, VectorParamsBuilder};
use system::running::processes::run_mnemic;

use super::shared_servers;

/// The command succeeds each time it runs. When the servers hold something else, it ends with code 3 and names every
/// difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_is_named_and_has_its_own_exit_code() {
    let Some(servers) = shared_servers().await else { return };
    let settings = servers.settings();
    for _ in 0..2 {
        let (code, output) = run_mnemic(&settings, &["provision"]).unwrap();
        assert_eq!(code, Some(0), "{output}");
        assert!(!output.contains("drift"), "{output}");
        for server in ["nats", "neo4j", "qdrant"] {
            assert!(output.lines().any(|it| it.starts_with(server)), "{output}");
        }
    }
    // The partitions of an existing stream cannot be changed.
    let mut other = settings.clone();
    other.push(("nats.partitions".to_owned(), "8".to_owned()));
    let (code, output) = run_mnemic(&other, &["provision"]).unwrap();
    assert_eq!(code, Some(3), "{output}");
    assert!(
        output.contains("nats    drift: ") && output.contains("instead of 8"),
        "{output}"
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
    let (code, output) = run_mnemic(&settings, &["provision"]).unwrap();
    assert_eq!(code, Some(3), "{output}");
    let drift = "qdrant  drift: vector dense is 64 numbers, Dot instead of 128 numbers, Cosine";
    assert!(output.contains(drift), "{output}");
    assert!(!output.contains("nats    drift"), "{output}");
}

/// An unreachable server is reported as a failure, not as drift.
#[test]
fn the_error_names_a_server_that_cannot_be_reached() {
    let settings = [
        ("backends.kind", "distributed"),
        ("nats.url", "nats://127.0.0.1:1"),
        ("nats.call_timeout_ms", "500"),
    ];
    let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let (code, output) = run_mnemic(&settings, &["provision"]).unwrap();
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("nats cannot be provisioned"), "{output}");
}

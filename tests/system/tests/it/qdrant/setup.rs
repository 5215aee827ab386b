use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use adapters::servers::qdrant::{Drift, Options, QdrantIndex, SetupError, provision_collection};
use domain::port::Index;
use domain::{Classify, ErrorKind};
use qdrant_client::qdrant::{
    CreateAliasBuilder, CreateCollectionBuilder, Distance, FacetCountsBuilder, SparseVectorParamsBuilder,
    SparseVectorsConfigBuilder, VectorParamsBuilder, VectorsConfigBuilder,
};
use system::servers::free_port;
use system::servers::qdrant::Server;

use super::{at, connect_driver, on_server, open_embedded, open_index, sample_point, space};

/// Connecting creates nothing. Provisioning again changes nothing. Another model has another collection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_collection_is_created_once() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let connect = async |model| QdrantIndex::connect(&options, Arc::clone(&embedded.records), 128, model).await;
        let missing = connect("m/1").await.err().unwrap();
        assert_eq!(missing.kind(), ErrorKind::Conflict);
        assert!(missing.to_string().contains("mnemic provision"), "{missing}");
        for _ in 0..3 {
            assert_eq!(provision_collection(&options, 128, "m/1").await.unwrap(), []);
        }
        assert!(connect("m/1").await.is_ok());
        assert!(connect("m_1").await.is_err(), "another model of a similar name");
        let ours = connect_driver(&options).list_collections().await.unwrap().collections;
        let ours: Vec<_> = ours.iter().filter(|it| it.name.starts_with(&options.prefix)).collect();
        assert_eq!(ours.len(), 1);
    })
    .await;
}

/// Differences are named. A missing index is created, but a vector of another length is not changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_is_reported() {
    on_server(async |options| {
        let driver = connect_driver(&options);
        assert_eq!(provision_collection(&options, 128, "m").await.unwrap(), []);
        let longer = provision_collection(&options, 256, "m").await.unwrap();
        let expected = Drift::Different {
            name: "vector dense".to_owned(),
            expected: "256 numbers, Cosine".to_owned(),
            found: "128 numbers, Cosine".to_owned(),
        };
        assert_eq!(longer, [expected]);

        let aliases = driver.list_aliases().await.unwrap().aliases;
        let alias = aliases
            .into_iter()
            .find(|it| it.alias_name.starts_with(&options.prefix))
            .unwrap();
        let other = format!("{}_other", options.prefix);
        let mut vectors = VectorsConfigBuilder::default();
        vectors.add_named_vector_params("dense", VectorParamsBuilder::new(128, Distance::Dot));
        let mut sparse = SparseVectorsConfigBuilder::default();
        sparse.add_named_vector_params("words", SparseVectorParamsBuilder::default());
        let made = CreateCollectionBuilder::new(&other)
            .vectors_config(vectors)
            .sparse_vectors_config(sparse);
        driver.create_collection(made).await.unwrap();
        driver
            .create_alias(CreateAliasBuilder::new(&other, &alias.alias_name))
            .await
            .unwrap();
        let dir = tempfile::tempdir().unwrap();
        let records = open_embedded(dir.path()).await.records;
        let refused = QdrantIndex::connect(&options, records, 128, "m").await.err().unwrap();
        let SetupError::NotProvisioned { drifts, .. } = &refused else {
            panic!("{refused}")
        };
        let names = |drifts: &[Drift]| -> Vec<String> {
            let shown = drifts.iter().map(Drift::to_string);
            shown
                .map(|it| it.split(" is ").next().unwrap_or_default().to_owned())
                .collect()
        };
        let vectors = ["vector dense", "sparse vector words", "sparse vector pieces", "graph"];
        let indexes = [
            "index space",
            "index generation",
            "index unit",
            "index observed_at",
            "index born",
        ];
        assert_eq!(names(drifts), [&vectors[..], &indexes[..]].concat());
        assert!(
            refused
                .to_string()
                .contains("vector dense is 128 numbers, Dot instead of 128 numbers, Cosine")
        );
        assert_eq!(names(&provision_collection(&options, 128, "m").await.unwrap()), vectors);
    })
    .await;
}

/// The key is required and sent, and it does not appear in output.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_is_rejected() {
    let server = Server::start("open-sesame").unwrap();
    let right = Options {
        api_key: "open-sesame".into(),
        ..server.options("t")
    };
    let refused = provision_collection(&server.options("t"), 128, "m")
        .await
        .err()
        .unwrap();
    assert!(matches!(refused, SetupError::Credentials { .. }), "{refused}");
    assert!(provision_collection(&right, 128, "m").await.is_ok());
    assert!(!format!("{right:?}").contains("sesame"));
    let other = Options {
        api_key: "two\nlines".into(),
        ..right
    };
    assert_eq!(
        provision_collection(&other, 128, "m").await.err().unwrap().kind(),
        ErrorKind::Invalid
    );
}

/// Starts a server that answers like the REST port, which speaks HTTP/1.1. It reads the first bytes of the client,
/// answers, and lets the client close. If it closed with unread bytes, the connection would be reset and the answer
/// could be lost.
fn rest_port() -> std::net::SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || refuse_as_rest_port(stream));
        }
    });
    address
}

fn refuse_as_rest_port(mut stream: TcpStream) {
    let mut sent = [0; 4096];
    if matches!(stream.read(&mut sent), Ok(0) | Err(_)) {
        return;
    }
    let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    if stream.write_all(answer).is_ok() {
        while !matches!(stream.read(&mut sent), Ok(0) | Err(_)) {}
    }
}

/// The error names the usual mistakes about the address. A closed port is not one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_error_explains_a_port_with_another_protocol() {
    let server = Server::start("").unwrap();
    let options = server.options("t");
    let refused = async |url: String| {
        let options = Options { url, ..options.clone() };
        provision_collection(&options, 128, "m").await.err().unwrap()
    };
    let rest = refused(format!("http://{}", rest_port())).await;
    assert!(rest.to_string().contains("gRPC port (6334 by default"), "{rest:?}");
    assert!(rest.to_string().contains("`https://` if the server has TLS"), "{rest}");
    let plain = refused(options.url.replace("http:", "https:")).await;
    assert!(
        plain.to_string().contains("`http://` if the server has no TLS"),
        "{plain:?}"
    );
    let unreachable = refused(format!("http://127.0.0.1:{}", free_port())).await;
    assert!(matches!(unreachable, SetupError::Unavailable { .. }), "{unreachable:?}");
    assert!(provision_collection(&options, 128, "m").await.is_ok());
}

/// A server that would weigh terms over all spaces is rejected, because it would not report that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_server_is_rejected() {
    let server = Server::start("").unwrap();
    for (version, good) in [
        ("1.18.9", false),
        ("1.19.0", true),
        ("1.20.1-dev", true),
        ("2.0.0", true),
        ("", false),
    ] {
        server.report_version(version);
        let provisioned = provision_collection(&server.options("t"), 128, "m").await;
        assert_eq!(provisioned.is_ok(), good, "{version}");
        assert!(good || matches!(provisioned, Err(SetupError::Version { .. })));
    }
}

/// Another collection can replace the one in use without a new connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alias_can_be_switched_to_another_collection() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (index, driver) = (open_index(&options, &embedded).await, connect_driver(&options));
        let a = space("a");
        embedded.records.create_space(&a, at(0)).await.unwrap();
        index.put(&a, &[sample_point(1, 128)], &[]).await.unwrap();
        let aliases = driver.list_aliases().await.unwrap().aliases;
        let used = aliases
            .into_iter()
            .find(|it| it.alias_name.starts_with(&options.prefix))
            .unwrap();
        let spare = Options {
            prefix: format!("{}b", options.prefix),
            ..options.clone()
        };
        let model = embedded.embedder.model();
        assert_eq!(provision_collection(&spare, 128, model).await.unwrap(), []);
        let aliases = driver.list_aliases().await.unwrap().aliases;
        let fresh = aliases
            .into_iter()
            .find(|it| it.alias_name.starts_with(&spare.prefix))
            .unwrap();
        driver
            .create_alias(CreateAliasBuilder::new(&fresh.collection_name, &used.alias_name))
            .await
            .unwrap();
        assert_eq!(index.count(&a).await.unwrap(), 0);
        index
            .put(&a, &[sample_point(1, 128), sample_point(2, 128)], &[])
            .await
            .unwrap();
        driver.delete_collection(used.collection_name).await.unwrap();
        assert_eq!(index.count(&a).await.unwrap(), 2);
    })
    .await;
}

/// The stand-in rejects calls and options that it does not know.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stand_in_rejects_unknown_calls_and_options() {
    let server = Server::start("").unwrap();
    let driver = connect_driver(&server.options("t"));
    let facet = driver.facet(FacetCountsBuilder::new("t", "space")).await.err().unwrap();
    assert!(facet.to_string().contains("does not know the call facet"), "{facet}");
    let odd = CreateCollectionBuilder::new("odd").replication_factor(2);
    let odd = driver.create_collection(odd).await.err().unwrap();
    assert!(
        odd.to_string().contains("does not know options of a collection"),
        "{odd}"
    );
}

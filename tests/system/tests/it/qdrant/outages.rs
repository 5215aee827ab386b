use std::time::{Duration, Instant};

use adapters::qdrant::Options;
use domain::port::{Index, SearchResult};
use domain::{Classify, ErrorKind};
use qdrant_client::qdrant::DeleteCollectionBuilder;
use system::servers::qdrant::Server;

use super::{at, driver, embedded, index, point, space, unit, word};

fn quick(server: &Server) -> Options {
    Options {
        try_ms: 300,
        call_ms: 1_000,
        ..server.options("t")
    }
}

/// More than the calls of a test take on a machine that has much else to do, and less than the delay under test.
const LONG: Duration = Duration::from_secs(40);

/// While the server is away every call fails soon as `Unavailable`; once it is back, the same index goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_may_go_and_come() {
    let mut server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = embedded(dir.path()).await;
    let (index, a) = (index(&server.options("t"), &embedded).await, space("a"));
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index.put(&a, &[point(1, 128)], &[]).await.unwrap();
    let before = index.search(&a, &word(9)).await.unwrap();
    for _ in 0..3 {
        server.away().await.unwrap();
        let start = Instant::now();
        let kinds = [
            index.put(&a, &[point(2, 128)], &[]).await.err().unwrap().kind(),
            index.search(&a, &word(9)).await.err().unwrap().kind(),
            index.count(&a).await.err().unwrap().kind(),
            index.erase(&a).await.err().unwrap().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Unavailable; 4]);
        assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
        server.back().unwrap();
        assert_eq!(index.search(&a, &word(9)).await.unwrap(), before);
    }
    index.put(&a, &[point(2, 128)], &[]).await.unwrap();
    assert_eq!(index.count(&a).await.unwrap(), 2);
}

/// A server that accepts and does not answer takes no longer than the time of a call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_server_is_given_up() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = embedded(dir.path()).await;
    let (index, a) = (index(&quick(&server), &embedded).await, space("a"));
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index.put(&a, &[point(1, 128)], &[]).await.unwrap();
    server.delay(Duration::from_secs(60));
    let start = Instant::now();
    let error = index.search(&a, &word(9)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    server.delay(Duration::ZERO);
    assert_eq!(index.search(&a, &word(9)).await.unwrap().words.len(), 1);
}

/// A write whose answer is lost is sent again, and is there once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_does_no_harm() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = embedded(dir.path()).await;
    let (index, a) = (index(&server.options("t"), &embedded).await, space("a"));
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index.put(&a, &[point(1, 128), point(2, 128)], &[]).await.unwrap();

    server.lose_answers(3);
    index
        .put(&a, &[point(2, 128), point(3, 128)], &[unit(1)])
        .await
        .unwrap();
    let found = index.search(&a, &word(9)).await.unwrap();
    assert_eq!(index.count(&a).await.unwrap(), 2);

    server.lose_answers(100);
    let error = index
        .put(&a, &[point(2, 128), point(3, 128)], &[unit(1)])
        .await
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    server.lose_answers(0);
    index
        .put(&a, &[point(2, 128), point(3, 128)], &[unit(1)])
        .await
        .unwrap();
    assert_eq!(index.search(&a, &word(9)).await.unwrap(), found);
    assert_eq!(index.count(&a).await.unwrap(), 2);
}

/// All channels of a search are one call, also the first one after a put; wrong input is none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_is_one_call() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = embedded(dir.path()).await;
    let (index, a) = (index(&server.options("t"), &embedded).await, space("a"));
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index.put(&a, &[point(1, 128)], &[]).await.unwrap();
    let before = server.calls();
    let mut search = word(9);
    search.dense = Some(point(1, 128).dense);
    search.pieces = Some(vec![(2, 1.0)]);
    let found = index.search(&a, &search).await.unwrap();
    assert_eq!((found.dense.len(), found.words.len(), found.pieces.len()), (1, 1, 1));
    assert_eq!(server.calls(), before + 1);

    search.words = Some(vec![(1, f32::NAN)]);
    let mut odd = point(1, 128);
    odd.dense[3] = f32::INFINITY;
    let mut twice = point(1, 128);
    twice.pieces = vec![(4, 1.0), (4, 1.0)];
    let kinds = [
        index.search(&a, &search).await.err().unwrap().kind(),
        index.put(&a, &[odd], &[]).await.err().unwrap().kind(),
        index.put(&a, &[twice], &[]).await.err().unwrap().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::Invalid; 3]);
    assert_eq!(index.search(&a, &word(0)).await.unwrap(), SearchResult::default());
    assert_eq!(server.calls(), before + 1);
}

/// A collection that is taken away is a matter of the operator, not an unknown space.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_collection_names_the_cure() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = embedded(dir.path()).await;
    let (index, driver) = (
        index(&server.options("t"), &embedded).await,
        driver(&server.options("t")),
    );
    for it in driver.list_collections().await.unwrap().collections {
        driver
            .delete_collection(DeleteCollectionBuilder::new(it.name))
            .await
            .unwrap();
    }
    let error = index.count(&space("a")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("mnemic provision"), "{error}");
}

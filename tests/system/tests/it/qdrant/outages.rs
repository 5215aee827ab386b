use std::time::{Duration, Instant};

use adapters::servers::qdrant::Options;
use domain::port::{Index, SearchResult};
use domain::{Classify, ErrorKind};
use qdrant_client::qdrant::DeleteCollectionBuilder;
use system::servers::qdrant::Server;

use super::{at, connect_driver, open_embedded, open_index, sample_point, space, unit, word_search};

fn options_with_short_timeout(server: &Server) -> Options {
    Options {
        try_ms: 2_000,
        call_ms: 5_000,
        ..server.options("t")
    }
}

/// More than the calls of a test take on a busy machine, and less than the delay under test.
const LONG: Duration = Duration::from_secs(40);

/// While the server is away, every call soon fails as `Unavailable`. When it is back, the same index continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_index_continues_after_an_outage() {
    let mut server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = open_embedded(dir.path()).await;
    let (index, a) = (open_index(&server.options("t"), &embedded).await, space("a"));
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index.put(&a, &[sample_point(1, 128)], &[]).await.unwrap();
    let before = index.search(&a, &word_search(9)).await.unwrap();
    for _ in 0..3 {
        server.stop_listening().await.unwrap();
        let start = Instant::now();
        let kinds = [
            index.put(&a, &[sample_point(2, 128)], &[]).await.err().unwrap().kind(),
            index.search(&a, &word_search(9)).await.err().unwrap().kind(),
            index.count(&a).await.err().unwrap().kind(),
            index.erase(&a).await.err().unwrap().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Unavailable; 4]);
        assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
        server.listen_again().unwrap();
        assert_eq!(index.search(&a, &word_search(9)).await.unwrap(), before);
    }
    index.put(&a, &[sample_point(2, 128)], &[]).await.unwrap();
    assert_eq!(index.count(&a).await.unwrap(), 2);
}

/// A call to a server that accepts connections but does not answer ends at its timeout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_to_a_silent_server_times_out() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = open_embedded(dir.path()).await;
    let (index, a) = (
        open_index(&options_with_short_timeout(&server), &embedded).await,
        space("a"),
    );
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index.put(&a, &[sample_point(1, 128)], &[]).await.unwrap();
    server.delay(Duration::from_secs(60));
    let start = Instant::now();
    let error = index.search(&a, &word_search(9)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    server.delay(Duration::ZERO);
    assert_eq!(index.search(&a, &word_search(9)).await.unwrap().words.len(), 1);
}

/// A write whose answer is lost is sent again, and is stored once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_lost_is_stored_once() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = open_embedded(dir.path()).await;
    let (index, a) = (open_index(&server.options("t"), &embedded).await, space("a"));
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index
        .put(&a, &[sample_point(1, 128), sample_point(2, 128)], &[])
        .await
        .unwrap();

    server.lose_answers(3);
    index
        .put(&a, &[sample_point(2, 128), sample_point(3, 128)], &[unit(1)])
        .await
        .unwrap();
    let found = index.search(&a, &word_search(9)).await.unwrap();
    assert_eq!(index.count(&a).await.unwrap(), 2);

    server.lose_answers(100);
    let error = index
        .put(&a, &[sample_point(2, 128), sample_point(3, 128)], &[unit(1)])
        .await
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    server.lose_answers(0);
    index
        .put(&a, &[sample_point(2, 128), sample_point(3, 128)], &[unit(1)])
        .await
        .unwrap();
    assert_eq!(index.search(&a, &word_search(9)).await.unwrap(), found);
    assert_eq!(index.count(&a).await.unwrap(), 2);
}

/// All channels of a search are one call, also for the first search after a put. Invalid input makes no call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_is_one_call() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = open_embedded(dir.path()).await;
    let (index, a) = (open_index(&server.options("t"), &embedded).await, space("a"));
    embedded.records.create_space(&a, at(0)).await.unwrap();
    index.put(&a, &[sample_point(1, 128)], &[]).await.unwrap();
    let before = server.calls();
    let mut search = word_search(9);
    search.dense = Some(sample_point(1, 128).dense);
    search.pieces = Some(vec![(2, 1.0)]);
    let found = index.search(&a, &search).await.unwrap();
    assert_eq!((found.dense.len(), found.words.len(), found.pieces.len()), (1, 1, 1));
    assert_eq!(server.calls(), before + 1);

    search.words = Some(vec![(1, f32::NAN)]);
    let mut odd = sample_point(1, 128);
    odd.dense[3] = f32::INFINITY;
    let mut twice = sample_point(1, 128);
    twice.pieces = vec![(4, 1.0), (4, 1.0)];
    let kinds = [
        index.search(&a, &search).await.err().unwrap().kind(),
        index.put(&a, &[odd], &[]).await.err().unwrap().kind(),
        index.put(&a, &[twice], &[]).await.err().unwrap().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::Invalid; 3]);
    assert_eq!(
        index.search(&a, &word_search(0)).await.unwrap(),
        SearchResult::default()
    );
    assert_eq!(server.calls(), before + 1);
}

/// A missing collection is a matter for the operator, and not an unknown space.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_error_about_a_missing_collection_gives_the_remedy() {
    let server = Server::start("").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let embedded = open_embedded(dir.path()).await;
    let (index, driver) = (
        open_index(&server.options("t"), &embedded).await,
        connect_driver(&server.options("t")),
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

//! The effect of one space, or one failure, on others.

use std::time::Duration;

use domain::port::Search;
use futures::StreamExt;
use rusqlite::Connection;

use super::{file, fill, frame, open, space};

/// Loading a space does not delay searches in another space.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loading_a_space_does_not_delay_other_spaces() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "large", 20_000).await;
    fill(&it, "small", 1).await;
    let search = |name: &'static str| {
        let index = it.index.clone();
        let search = Search {
            words: Some(vec![(0, 1.0)]),
            limit: 1,
            ..Search::default()
        };
        async move { index.search(&space(name), &search).await.unwrap().words.len() }
    };
    assert_eq!(search("small").await, 1);
    // As many as the maximum number of concurrent searches.
    let mut loading: Vec<_> = (0..16).map(|_| Box::pin(search("large"))).collect();
    for it in &mut loading {
        assert!(futures::poll!(it).is_pending());
    }
    assert_eq!(search("small").await, 1);
    for it in &mut loading {
        assert!(futures::poll!(it).is_pending(), "it was waited for");
    }
    assert_eq!(futures::future::join_all(loading).await, [1; 16]);
}

/// Errors about unreadable messages are returned one after the other, not all at once, and other messages are delivered
/// meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_messages_are_reported_at_a_limited_rate() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    for number in 0..50 {
        it.bus.publish(frame(vec![number])).await.unwrap();
    }
    let database = Connection::open(file(dir.path())).unwrap();
    database
        .execute("UPDATE messages SET headers = x'00' WHERE position > 1", [])
        .unwrap();
    let mut deliveries = it.bus.subscribe("s", "g").await.unwrap();
    let (mut read, mut error_count) = (0, 0);
    let all = async {
        while let Some(delivery) = deliveries.next().await {
            match delivery {
                Ok(_) => read += 1,
                Err(_) => error_count += 1,
            }
        }
    };
    tokio::time::timeout(Duration::from_millis(1_500), all)
        .await
        .unwrap_err();
    assert!(read == 1 && (1..=3).contains(&error_count), "{read} {error_count}");
}

//! What one failure does to others.

use std::time::Duration;

use futures::StreamExt;
use rusqlite::Connection;

use super::{file, frame, open};

/// Messages that cannot be read are told of one after the other, not all at once, and others are delivered meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_delivered_is_told_at_a_pace() {
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
    let (mut read, mut told) = (0, 0);
    let all = async {
        while let Some(delivery) = deliveries.next().await {
            match delivery {
                Ok(_) => read += 1,
                Err(_) => told += 1,
            }
        }
    };
    tokio::time::timeout(Duration::from_millis(1_500), all)
        .await
        .unwrap_err();
    assert!(read == 1 && (1..=3).contains(&told), "{read} {told}");
}

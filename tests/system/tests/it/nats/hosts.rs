//! Between two hosts: clocks that differ.

use std::time::{Duration, SystemTime};

use domain::port::{Bus, DEADLINE, Frame};
use futures::StreamExt;

use super::{SOON, connected, frame, options, shared};

/// How long an asker waits is told by what it has left, whatever its clock says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clock_of_an_asker_does_not_count() {
    let Some(server) = shared() else { return };
    let bus = connected(&options(server)).await;
    let mut inquiries = bus.serve("q").await.unwrap();
    tokio::spawn(async move {
        while let Some(inquiry) = inquiries.next().await {
            let deadline = inquiry.frame.headers.get(DEADLINE).cloned().unwrap_or_default();
            (inquiry.reply)(Ok(deadline.into_bytes()));
        }
    });
    let ask = |headers: &[(&str, &str)]| {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let question = Frame {
            subject: "q".to_owned(),
            headers: headers.collect(),
            ..frame("", "", "?")
        };
        bus.request(question, SOON)
    };
    for by_its_clock in ["1", "9999999999999"] {
        let told: u64 = String::from_utf8(ask(&[(DEADLINE, by_its_clock)]).await.unwrap())
            .unwrap()
            .parse()
            .unwrap();
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let left = Duration::from_millis(told).saturating_sub(now);
        assert!(left > SOON / 2 && left <= SOON, "{left:?}");
    }
    assert!(ask(&[]).await.unwrap().is_empty(), "who says nothing has no deadline");
}

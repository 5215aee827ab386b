//! Acknowledged data survives the process, however it ends.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use adapters::{Embedded, Options};
use chrono::DateTime;
use domain::id::{RecordId, SpaceId};
use domain::port::{Claim, Frame};

/// Environment variable with the data directory, for the child process that writes until it is killed.
const CHILD: &str = "MNEMIC_CRASH_DIR";
/// Number of acknowledged messages after which the child is killed.
const ENOUGH: usize = 300;

fn space() -> SpaceId {
    "a".parse().unwrap()
}

fn claim(number: u64) -> [(RecordId, [u8; 32]); 1] {
    [(RecordId::from_external_id(&space(), &number.to_string()), [7; 32])]
}

/// Claims and publishes in an endless loop; prints each number when both are acknowledged.
async fn write_until_killed(dir: &Path) {
    let it = Embedded::open(dir, Options::default()).await.unwrap();
    it.records.create_space(&space(), DateTime::UNIX_EPOCH).await.unwrap();
    for number in 0_u64.. {
        it.records.claim(&space(), &claim(number)).await.unwrap();
        let dedup_key = number.to_string();
        let frame = Frame {
            subject: "s".to_owned(),
            dedup_key,
            payload: vec![1; 500],
            ..Frame::default()
        };
        let position = it.bus.publish(frame).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "acknowledged {number} {}", position.0).unwrap();
        out.flush().unwrap();
    }
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    if let Ok(dir) = std::env::var(CHILD) {
        return write_until_killed(Path::new(&dir)).await;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "nothing_acknowledged_is_lost_when_the_process_is_killed",
        ])
        .env(CHILD, dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let acknowledged = lines.filter_map(|line| {
        let (number, position) = line.split_once("acknowledged ")?.1.split_once(' ')?;
        Some((number.parse::<u64>().unwrap(), position.parse::<u64>().unwrap()))
    });
    let mut acknowledged = acknowledged.peekable();
    let mut seen: Vec<(u64, u64)> = acknowledged.by_ref().take(ENOUGH).collect();
    child.kill().unwrap();
    seen.extend(acknowledged);
    child.wait().unwrap();
    assert!(seen.len() >= ENOUGH, "{}", seen.len());

    let it = Embedded::open(dir.path(), Options::default()).await.unwrap();
    for (number, position) in &seen {
        let frame = Frame {
            subject: "s".to_owned(),
            dedup_key: number.to_string(),
            ..Frame::default()
        };
        assert_eq!(it.bus.publish(frame).await.unwrap().0, *position);
        assert_eq!(
            it.records.claim(&space(), &claim(*number)).await.unwrap(),
            [Claim::Same]
        );
    }
    let kept = it.bus.backlog("s", "g").await.unwrap();
    assert!(
        (seen.len() as u64..=seen.len() as u64 + 1).contains(&kept),
        "{kept} of {}",
        seen.len()
    );
}

//! Measures the time of the rules alone, and the time that records take from the bus to the index with the embedded
//! stores.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::id::{SessionId, SpaceId};
use domain::message::{Message, RecordsAcceptedV1, UnitsWrittenV1};
use domain::record::Record;
use fixtures::sample_record;
use host::Context;

const BATCH: usize = 100;
const BATCHES: usize = 50;
const SINGLES: usize = 300;
const LINES: [&str; 6] = [
    "Hey Tom! Good to see you. How have you been since last week?",
    "I've been great, Ana. We moved to Oslo two weeks ago because my sister Julia found a job at the hospital there.",
    "Wow! Do you like the new place? I remember you wanted a garden for the dogs.",
    "It's lovely. The kitchen is now blue, and I baked sourdough bread yesterday. Also, I started painting again, mostly landscapes.",
    "That's why I'm visiting in July 2023. By the way, did you finish the marathon?",
    "I did, in four hours and ten minutes! It was my third one. Thanks for asking.",
];

fn main() -> anyhow::Result<()> {
    let space = SpaceId::try_from("bench".to_owned())?;
    let batches: Vec<Vec<Record>> = (0..BATCHES)
        .map(|it| session(&space, &format!("s{it}"), BATCH))
        .collect();
    rules(&batches);
    let dir = std::env::temp_dir().join(format!("mnemic-bench-{}", std::process::id()));
    let outcome = tokio::runtime::Runtime::new()?.block_on(stores(&dir, &space, &batches));
    std::fs::remove_dir_all(&dir)?;
    outcome
}

fn rules(batches: &[Vec<Record>]) {
    let places: Vec<usize> = (0..BATCH).collect();
    black_box(writer::write_turn_units(&batches[0], &places));
    let start = Instant::now();
    for batch in batches {
        black_box(writer::write_turn_units(batch, &places));
    }
    println!(
        "turn units alone, one core: {:.0} records/s",
        rate(BATCH * BATCHES, start.elapsed())
    );
    let start = Instant::now();
    for records in batches {
        let fresh = records.iter().map(|it| it.id).collect();
        let stretch = writer::Stretch {
            records: records.clone(),
            starts: true,
            ends: true,
        };
        let plan = writer::plan_segments(&stretch, &fresh);
        let turns = writer::write_turn_units(records, &places)
            .into_iter()
            .map(|it| (it.id, it));
        black_box(writer::derive_segments(&stretch, &plan, &turns.collect()));
    }
    println!(
        "with events and relations: {:.0} records/s",
        rate(BATCH * BATCHES, start.elapsed())
    );
}

async fn stores(dir: &std::path::Path, space: &SpaceId, batches: &[Vec<Record>]) -> anyhow::Result<()> {
    let context = Context::embedded_with_defaults(dir).await?;
    context.backends.records.create_space(space, start().to_utc()).await?;
    let service = tokio::spawn(writer::run(context.clone()));
    let begin = Instant::now();
    for (number, records) in batches.iter().enumerate() {
        publish(&context, space, format!("b{number}"), records.clone()).await?;
    }
    idle(&context, RecordsAcceptedV1::SUBJECT, RecordsAcceptedV1::GROUP).await?;
    println!(
        "batches of {BATCH}, to searchable: {:.0} records/s",
        rate(BATCH * BATCHES, begin.elapsed())
    );
    idle(&context, UnitsWrittenV1::SUBJECT, "segmenter").await?;
    println!(
        "batches of {BATCH}, to organised: {:.0} records/s",
        rate(BATCH * BATCHES, begin.elapsed())
    );
    let mut times = Vec::new();
    for record in session(space, "single", SINGLES) {
        let begin = Instant::now();
        let batch = record.external_id.clone();
        let position = publish(&context, space, batch, vec![record]).await?;
        while !context.backends.records.is_written(space, position).await? {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        times.push(begin.elapsed());
    }
    times.sort();
    let at = |share: usize| times[SINGLES * share / 100].as_secs_f64() * 1e3;
    println!(
        "single records, to searchable: p50 {:.1} ms, p95 {:.1} ms",
        at(50),
        at(95)
    );
    context.shutdown.cancel();
    service.await?
}

async fn publish(
    context: &Context,
    space: &SpaceId,
    batch: String,
    records: Vec<Record>,
) -> anyhow::Result<domain::port::Position> {
    let space = space.clone();
    let message = RecordsAcceptedV1 {
        space,
        batch,
        created: None,
        records,
        curations: Vec::new(),
    };
    Ok(context.publish_message(&message).await?)
}

async fn idle(context: &Context, subject: &str, group: &str) -> anyhow::Result<()> {
    while context.backends.bus.backlog(subject, group).await? > 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}

fn rate(records: usize, elapsed: Duration) -> f64 {
    u32::try_from(records).map_or(f64::NAN, f64::from) / elapsed.as_secs_f64()
}

fn start() -> DateTime<FixedOffset> {
    DateTime::from_timestamp(1_683_547_200, 0)
        .unwrap_or_default()
        .fixed_offset()
}

fn session(space: &SpaceId, session: &str, records: usize) -> Vec<Record> {
    let record = |(at, text): (usize, &&str)| Record {
        session: SessionId::from_name(space, session),
        session_name: session.to_owned(),
        ordinal: at as u64,
        actor: ["Ana", "Tom"][at % 2].to_owned(),
        text: (*text).to_owned(),
        observed_at: start() + TimeDelta::minutes(i64::try_from(at).unwrap_or_default()),
        ..sample_record(space, &format!("{session}:{at}"))
    };
    LINES.iter().cycle().take(records).enumerate().map(record).collect()
}

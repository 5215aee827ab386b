//! Records a second that the rules alone turn into units and index parts' texts, in batches of 100, on one core.

#![expect(clippy::print_stdout, reason = "the figure is the output")]

use std::hint::black_box;
use std::time::Instant;

use chrono::{DateTime, TimeDelta};
use domain::id::{RecordId, SessionId, SpaceId};
use domain::record::{Modality, Record};

const BATCH: usize = 100;
const BATCHES: usize = 60;
const LINES: [&str; 6] = [
    "Hey Tom! Good to see you. How have you been since last week?",
    "I've been great, Ana. We moved to Oslo two weeks ago because my sister Julia found a job at the hospital there.",
    "Wow! Do you like the new place? I remember you wanted a garden for the dogs.",
    "It's lovely. The kitchen is now blue, and I baked sourdough bread yesterday. Also, I started painting again, mostly landscapes.",
    "That's why I'm visiting in July 2023. By the way, did you finish the marathon?",
    "I did, in four hours and ten minutes! It was my third one. Thanks for asking.",
];

fn main() {
    let batches: Vec<Vec<Record>> = (0..BATCHES).map(batch).collect();
    let places: Vec<usize> = (0..BATCH).collect();
    black_box(writer::write(&batches[0], &places));
    let start = Instant::now();
    for batch in &batches {
        black_box(writer::write(batch, &places));
    }
    let seconds = start.elapsed().as_secs_f64();
    let records = u32::try_from(BATCH * BATCHES).map_or(f64::NAN, f64::from);
    println!(
        "rules: {:.0} records/s, {:.1} us each",
        records / seconds,
        seconds / records * 1e6
    );
}

fn batch(number: usize) -> Vec<Record> {
    let space = SpaceId::try_from("bench".to_owned()).unwrap_or_else(|_| unreachable!());
    let session = format!("s{number}");
    let start = DateTime::from_timestamp(1_683_547_200, 0)
        .unwrap_or_default()
        .fixed_offset();
    let record = |(at, text): (usize, &&str)| Record {
        id: RecordId::derive(&space, &format!("{session}:{at}")),
        space: space.clone(),
        external_id: format!("{session}:{at}"),
        session: SessionId::derive(&space, &session),
        session_name: session.clone(),
        ordinal: at as u64,
        modality: Modality::Text,
        actor: ["Ana", "Tom"][at % 2].to_owned(),
        text: (*text).to_owned(),
        image_caption: None,
        image_uri: None,
        tool: None,
        observed_at: start + TimeDelta::minutes(i64::try_from(at).unwrap_or_default()),
        metadata: Default::default(),
    };
    LINES.iter().cycle().take(BATCH).enumerate().map(record).collect()
}

//! Tests that the version of the rules, which is stored in each unit, changes with their output.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::UnitId;
use domain::record::{Modality, Record};
use uuid::Uuid;
use writer::{RULES, Stretch, derive_segments, plan_segments, write_turn_units};

use crate::{call, record};

/// The version of the rules, and the digest of their output for the sample.
const WRITTEN: (&str, &str) = ("rules/5", "baa2259e-bd7c-5b4f-8f86-5026e6e735bc");

/// Reads the sample: session, actor, kind and content of each record.
fn sessions() -> Vec<Vec<Record>> {
    let mut sessions: Vec<Vec<Record>> = Vec::new();
    for (line, number) in include_str!("../data/sample.tsv").lines().zip(1..) {
        let [session, actor, kind, content] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("line {number} has no four columns");
        };
        let own = match kind {
            "call" => {
                let (name, rest) = content.split_once(" | ").unwrap();
                let (arguments, result) = rest.split_once(" | ").unwrap();
                call(number, name, arguments, result)
            }
            "image" => Record {
                modality: Modality::Visual,
                image_caption: Some(content.to_owned()),
                ..record(session, number, actor, "")
            },
            _ => record(session, number, actor, content),
        };
        match sessions.last_mut() {
            Some(last) if last[0].session == own.session => last.push(own),
            _ => sessions.push(vec![own]),
        }
    }
    sessions
}

/// Returns the complete output of the rules for a session, as JSON.
fn written(records: Vec<Record>) -> String {
    let fresh: BTreeSet<_> = records.iter().map(|it| it.id).collect();
    let turns = write_turn_units(&records, &(0..records.len()).collect::<Vec<_>>());
    let mut out = serde_json::to_string(&turns).unwrap();
    let stored: BTreeMap<UnitId, _> = turns.into_iter().map(|it| (it.id, it)).collect();
    let stretch = Stretch {
        records,
        starts: true,
        ends: true,
    };
    let segments = derive_segments(&stretch, &plan_segments(&stretch, &fresh), &stored);
    out += &serde_json::to_string(&(segments.units, segments.relations)).unwrap();
    out
}

#[test]
fn a_changed_output_needs_another_version() {
    let all: String = sessions().into_iter().map(written).collect();
    let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, all.as_bytes()).to_string();
    assert_eq!(
        (RULES, digest.as_str()),
        WRITTEN,
        "the rules write the sample otherwise: count RULES up in services/writer/src/units/turn_units.rs, so that `mnemic doctor` knows \
         the units written before, and put both here"
    );
}

//! Reads the project's own conversations and the relations that the rules find in them. The example `relations` uses
//! this module too.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::Path;

use anyhow::Result;
use chrono::NaiveDateTime;
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::record::Record;
use domain::relation::{Relation, RelationKind};
use domain::unit::{Grain, Unit};
use fixtures::sample_record;
use serde::Deserialize;
use writer::{Stretch, derive_segments, plan_segments, write_turn_units};

#[derive(Deserialize)]
struct Conversation {
    conversation_id: String,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    id: String,
    session: String,
    speaker: String,
    text: String,
    timestamp: NaiveDateTime,
    #[serde(default)]
    image_caption: Option<String>,
}

/// A relation found by the rules.
pub(crate) struct Found {
    /// Grain and kind, such as `Turn Causes`.
    pub(crate) kind: String,
    /// The conversation, and the first turns of source and target.
    pub(crate) key: String,
    /// Weight, source, records in between that are evidence, and target, in readable form.
    pub(crate) texts: String,
}

/// Returns the relations in the sessions of a data set, without `part_of`, which makes no claim.
pub(crate) fn found(conversations: &Path) -> Result<Vec<Found>> {
    let file = std::io::BufReader::new(std::fs::File::open(conversations)?);
    let mut out = Vec::new();
    for line in file.lines() {
        let conversation: Conversation = serde_json::from_str(&line?)?;
        let name = conversation.conversation_id;
        let mut sessions: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        for (number, turn) in conversation.turns.into_iter().enumerate() {
            let records = sessions.entry(turn.session.clone()).or_default();
            records.push(record(&name, number, turn)?);
        }
        out.extend(sessions.into_values().flat_map(|it| of_session(&name, it)));
    }
    Ok(out)
}

fn record(space: &str, number: usize, turn: Turn) -> Result<Record> {
    let space: SpaceId = space.parse()?;
    Ok(Record {
        session: SessionId::from_name(&space, &turn.session),
        session_name: turn.session,
        ordinal: u64::try_from(number)?,
        actor: turn.speaker,
        text: turn.text,
        image_caption: turn.image_caption,
        observed_at: turn.timestamp.and_utc().fixed_offset(),
        ..sample_record(&space, &turn.id)
    })
}

fn of_session(name: &str, records: Vec<Record>) -> Vec<Found> {
    let fresh: BTreeSet<RecordId> = records.iter().map(|it| it.id).collect();
    let turns = write_turn_units(&records, &(0..records.len()).collect::<Vec<_>>());
    let stored: BTreeMap<UnitId, Unit> = turns.into_iter().map(|it| (it.id, it)).collect();
    let stretch = Stretch {
        records,
        starts: true,
        ends: true,
    };
    let segments = derive_segments(&stretch, &plan_segments(&stretch, &fresh), &stored);
    let units: BTreeMap<UnitId, &Unit> = stored.values().chain(&segments.units).map(|it| (it.id, it)).collect();
    let relations = segments.relations.iter().filter(|it| it.kind != RelationKind::PartOf);
    let shown = relations.filter_map(|it| shown(name, it, &units));
    shown.collect()
}

fn shown(name: &str, relation: &Relation, units: &BTreeMap<UnitId, &Unit>) -> Option<Found> {
    let (source, target) = (units.get(&relation.source)?, units.get(&relation.target)?);
    let grain = if source.grain == Grain::Event { "Event" } else { "Turn" };
    let text = |it: &Unit| {
        let text: String = it.text.replace('\n', " / ").chars().take(400).collect();
        format!(
            "{} {} {}: {text}",
            it.external_ids[0],
            it.observed_at.format("%a %F"),
            it.actor
        )
    };
    let supports = relation
        .evidence
        .iter()
        .filter_map(|it| units.get(&UnitId::of_turn(*it)));
    let supports = supports.filter(|it| it.id != source.id && it.id != target.id);
    let between: String = supports.map(|it| format!("  .. {}\n", text(it))).collect();
    Some(Found {
        kind: format!("{grain} {:?}", relation.kind),
        key: format!("{name} {} {}", source.external_ids[0], target.external_ids[0]),
        texts: format!(
            "  {:.2} {}\n{between}  -> {}",
            relation.weight,
            text(source),
            text(target)
        ),
    })
}

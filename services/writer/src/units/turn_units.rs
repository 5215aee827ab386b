//! Writes the turn units of records, by rule. Pure: the same records give the same units.

use domain::id::UnitId;
use domain::record::Record;
use domain::unit::{Grain, StateChange, Status, Unit};
use text::time::Mention;

use crate::units::summary::RecordContext;
use crate::units::{act, speech, state, summary, text_cues};
use crate::word_lists::PLACE_KEYS;

/// Name and version of the rules, which is stored in each unit. Increase the version with any change to the output,
/// here or in `text`; a test compares the output of each version for a sample.
pub const RULES: &str = "rules/5";
/// Maximum number of names kept of one unit.
const PARTICIPANTS_MAX: usize = 16;
/// Maximum number of times kept of one unit.
const TIMES_MAX: usize = 16;
/// Maximum length of the text of one turn unit, in bytes. A text of this length is searched for states completely and
/// indexed completely. A longer text of a record is divided into several turn units.
const TEXT_BYTES_MAX: usize = 8_000;
/// Maximum length of the text that is searched for times, names and places, in bytes: the text of a unit and the tool
/// call after it.
const BYTES_MAX: usize = 16_000;

/// Returns the turn units of the records at the places `wanted` of `window`, in that order: one unit per record or,
/// for a record with a long text, consecutive units for the parts of the text.
///
/// `window` holds records of one session in session order. Besides its record, a unit depends on 12 neighbours on
/// each side, which determine the addressee and the answered question. If they are present, the unit is the same in
/// any window.
///
/// # Panics
/// Panics if a place is outside the window.
pub fn write_turn_units(window: &[Record], wanted: &[usize]) -> Vec<Unit> {
    wanted.iter().flat_map(|&at| turn_units_at(window, at)).collect()
}

/// Returns the ids of the turn units of a record, in order.
pub fn units_of(record: &Record) -> impl Iterator<Item = UnitId> + use<> {
    let (id, parts) = (record.id, split_text(&record.text).len());
    (0..).take(parts).map(move |number| UnitId::of_part(id, number))
}

/// Returns the texts of the turn units of a record, without blank parts.
fn split_text(text: &str) -> Vec<&str> {
    if text.len() <= TEXT_BYTES_MAX {
        return vec![text];
    }
    let mut parts = text::split_text(text, TEXT_BYTES_MAX);
    parts.retain(|it| !it.trim().is_empty());
    parts.truncate(usize::from(u16::MAX));
    if parts.is_empty() { vec![""] } else { parts }
}

/// Returns the turn units of the record at `at`. The first one has the answered question, the image and the tool
/// call.
pub(crate) fn turn_units_at(window: &[Record], at: usize) -> Vec<Unit> {
    let record = &window[at];
    let around = Around {
        addressee: speech::find_addressee(window, at),
        question: speech::answered_question_text(window, at),
        step: act::find_step(window, at),
    };
    let parts = split_text(&record.text);
    if parts.len() == 1 {
        return vec![build_turn_unit(record, UnitId::of_turn(record.id), around)];
    }
    let bare = Record {
        text: String::new(),
        image_caption: None,
        tool: None,
        ..record.clone()
    };
    let part = |(text, number): (&str, u16)| {
        let first = number == 0;
        let part = Record {
            text: text.to_owned(),
            image_caption: record.image_caption.clone().filter(|_| first),
            tool: record.tool.clone().filter(|_| first),
            ..bare.clone()
        };
        let around = Around {
            question: if first { around.question.clone() } else { String::new() },
            ..around.clone()
        };
        build_turn_unit(&part, UnitId::of_part(record.id, number), around)
    };
    parts.into_iter().zip(0..).map(part).collect()
}

/// The features of a record that depend on its neighbours.
#[derive(Clone)]
struct Around {
    addressee: String,
    question: String,
    step: Option<u32>,
}

fn build_turn_unit(record: &Record, id: UnitId, around: Around) -> Unit {
    let Around {
        addressee,
        question,
        step,
    } = around;
    let shown = act::display_text(record);
    let caption = record
        .image_caption
        .as_deref()
        .map(text::shorten_caption)
        .unwrap_or_default();
    let head = &shown[..shown.floor_char_boundary(BYTES_MAX)];
    let mentions = text::time::find_times(head, record.observed_at);
    let context = RecordContext {
        text: &shown,
        addressee: &addressee,
        question: &question,
        caption: &caption,
        mentions: &mentions,
    };
    let tool = record.tool.as_ref().map(|it| it.name.as_str());
    let changes = state::read_changes(record, &addressee);
    Unit {
        id,
        grain: Grain::Turn,
        session: record.session,
        records: vec![record.id],
        external_ids: vec![record.external_id.clone()],
        observed_at: record.observed_at,
        ordinal: record.ordinal,
        modality: record.modality,
        actor: record.actor.clone(),
        summary: summary::write_summary(record, &context),
        times: mentions.iter().take(TIMES_MAX).map(|it| it.span.clone()).collect(),
        participants: find_participants(head, record, &mentions),
        location: find_location(record, head, &addressee, &changes),
        action: tool.map_or_else(|| text_cues::find_action(head), str::to_owned),
        step,
        changes,
        version: record.resolved_version().filter(|_| id == UnitId::of_turn(record.id)),
        stated: Vec::new(),
        tag: choose_tag(head, &caption, tool),
        cues: text_cues::find_cues(&[head, &caption]),
        tags: record.tags.clone(),
        metadata: record.metadata.clone(),
        derived_by: RULES.to_owned(),
        status: Status::Active,
        confidence: 1.0,
        text: shown,
        addressee,
        caption,
        question,
    }
}

/// Returns the names in order of appearance, without times, the actor, and single words that open a sentence
/// ("Congrats, you did it"), which are hardly ever names unless they occur again.
fn find_participants(text: &str, record: &Record, times: &[Mention]) -> Vec<String> {
    let called = text::find_vocatives(text);
    let place = |name: &str| name.as_ptr() as usize - text.as_ptr() as usize;
    let mut out: Vec<String> = Vec::new();
    for name in text::find_names(text).into_iter().chain(called.iter().copied()) {
        // "Bye Ana" calls Ana; it is not a name.
        let call = name.split_once(' ').map(|(_, it)| it).filter(|it| called.contains(it));
        let name = call.unwrap_or(name);
        let time = times.iter().any(|it| it.range.contains(&place(name)));
        let fits = name != record.actor && name.len() <= 80 && !time && !is_sentence_opener(text, place(name), name);
        if fits && out.len() < PARTICIPANTS_MAX && !out.iter().any(|it| it == name) {
            out.push(name.to_owned());
        }
    }
    out
}

/// Returns true if the name is a single word between the start of a sentence and a punctuation mark.
fn is_sentence_opener(text: &str, at: usize, name: &str) -> bool {
    let before = text[..at].trim_end_matches(|it: char| !it.is_alphanumeric() && !is_sentence_end(it));
    let marked = text[at + name.len()..].starts_with([',', '.', '!', '?', ':', ';', '\u{2026}', '\u{2014}']);
    marked && !name.contains(' ') && before.chars().next_back().is_none_or(is_sentence_end)
}

fn is_sentence_end(mark: char) -> bool {
    matches!(mark, '.' | '!' | '?' | ':' | '\n' | '\u{2026}')
}

/// Returns the place that the actor reached, or else the place or source given by the caller, or else the first place
/// in the text.
fn find_location(record: &Record, text: &str, addressee: &str, changes: &[StateChange]) -> String {
    let moved = |it: &&StateChange| it.key == "location" && (it.subject == record.actor || it.subject == addressee);
    if let Some(reached) = changes.iter().rev().find(moved).filter(|_| act::is_world(record)) {
        return reached.after.clone();
    }
    let given = PLACE_KEYS.iter().find_map(|it| record.metadata.get(*it));
    given
        .cloned()
        .unwrap_or_else(|| text_cues::find_location(text, &[&record.actor, addressee]))
}

fn choose_tag(text: &str, caption: &str, tool: Option<&str>) -> String {
    if let Some(tool) = tool {
        let words: Vec<&str> = tool
            .split(['_', '-', '.', ' ', '/'])
            .filter(|it| !it.is_empty())
            .collect();
        return words[words.len().saturating_sub(2)..].join(" ").to_lowercase();
    }
    let tag = text_cues::find_tag(text);
    if tag.is_empty() {
        text_cues::find_tag(caption)
    } else {
        tag
    }
}

//! Builds an event unit from the turn units of its records.

use std::collections::BTreeMap;

use domain::id::UnitId;
use domain::record::{Modality, Record};
use domain::unit::{Grain, Status, Unit};

use crate::units::act::clip_at_word;
use crate::units::turn_units::RULES;
use crate::units::{summary, text_cues};

/// Maximum number of records from which an event takes its content.
const RECORDS_MAX: usize = 48;
/// Maximum length of the text, in bytes.
const TEXT_BYTES: usize = 480;
/// Maximum length of the summary, in bytes.
const SUMMARY_BYTES: usize = 3_200;
/// Maximum number of speakers, and of other names.
const NAMES_MAX: usize = 8;

/// Returns the event of `records`. Returns `None` for a single record, because its turn unit has the same content, and
/// for records without turn units. `turns` are the existing turn units of the records, in the same order.
pub(crate) fn build_event(records: &[Record], turns: &[&Unit]) -> Option<Unit> {
    let records = &records[..records.len().min(RECORDS_MAX)];
    let turns = &turns[..turns.len().min(RECORDS_MAX)];
    let first = records.first().filter(|_| records.len() > 1 && !turns.is_empty())?;
    let actors = distinct_actors(records);
    Some(Unit {
        id: UnitId::of_event(first.id),
        grain: Grain::Event,
        session: first.session,
        records: records.iter().map(|it| it.id).collect(),
        external_ids: records.iter().map(|it| it.external_id.clone()).collect(),
        observed_at: first.observed_at,
        ordinal: first.ordinal,
        modality: most_frequent_modality(records),
        actor: if actors.len() == 1 {
            actors[0].to_owned()
        } else {
            String::new()
        },
        addressee: String::new(),
        text: select_sentences(turns),
        caption: join_texts(turns.iter().map(|it| it.caption.as_str())),
        summary: write_summary(first, &actors, turns),
        times: collect_distinct(turns, |it| it.times.as_slice(), 16),
        participants: rank_participants(&actors, turns),
        location: text_cues::most_frequent(turns.iter().map(|it| it.location.as_str())),
        action: turns
            .iter()
            .map(|it| it.action.as_str())
            .max_by_key(|it| it.len())
            .unwrap_or_default()
            .to_owned(),
        step: turns.iter().find_map(|it| it.step),
        changes: collect_distinct(turns, |it| it.changes.as_slice(), 16),
        version: None,
        stated: Vec::new(),
        tag: most_frequent_tag(turns),
        cues: collect_distinct(turns, |it| it.cues.as_slice(), 32),
        question: String::new(),
        tags: Vec::new(),
        metadata: Default::default(),
        derived_by: RULES.to_owned(),
        status: Status::Active,
        confidence: 0.8,
    })
}

fn distinct_actors(records: &[Record]) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for actor in records.iter().map(|it| it.actor.as_str()) {
        if !actor.is_empty() && !out.contains(&actor) && out.len() < NAMES_MAX {
            out.push(actor);
        }
    }
    out
}

/// Returns the modality of most records; text on ties.
fn most_frequent_modality(records: &[Record]) -> Modality {
    let count = |kind: Modality| records.iter().filter(|it| it.modality == kind).count();
    let (text, visual, action) = (count(Modality::Text), count(Modality::Visual), count(Modality::Action));
    if action > text.max(visual) {
        Modality::Action
    } else if visual > text {
        Modality::Visual
    } else {
        Modality::Text
    }
}

/// Returns the sentences with most content, in their order, each with its speaker.
fn select_sentences(turns: &[&Unit]) -> String {
    let mut ranked: Vec<(usize, usize, String)> = Vec::new();
    for turn in turns {
        for sentence in text::split_sentences(&turn.text) {
            let weight = text::stem_words(sentence).len().min(20);
            let line = if turn.actor.is_empty() {
                sentence.to_owned()
            } else {
                format!("{}: {sentence}", text::shown_name(&turn.actor))
            };
            ranked.push((weight, ranked.len(), clip_at_word(&line, TEXT_BYTES / 2)));
        }
    }
    ranked.sort_by_key(|it| (std::cmp::Reverse(it.0), it.1));
    let mut left = TEXT_BYTES;
    ranked.retain(|it| {
        let fits = it.0 > 1 && it.2.len() < left;
        left -= if fits { it.2.len() + 1 } else { 0 };
        fits
    });
    ranked.sort_by_key(|it| it.1);
    ranked.into_iter().map(|it| it.2).collect::<Vec<_>>().join("\n")
}

/// Returns the summary: date, speakers, and each turn with the dates of its relative times. It is truncated at the
/// maximum length.
fn write_summary(first: &Record, actors: &[&str], turns: &[&Unit]) -> String {
    let date = format!("[{}] ", summary::format_day(first.observed_at));
    let names: Vec<_> = actors.iter().map(|it| text::shown_name(it)).collect();
    let mut out = format!("{date}{}", names.join(", "));
    for turn in turns {
        let line = turn.summary.strip_prefix(&date).unwrap_or(&turn.summary);
        if out.len() + line.len() + 1 > SUMMARY_BYTES {
            out.push('\n');
            out.push_str(&clip_at_word(line, SUMMARY_BYTES.saturating_sub(out.len())));
            break;
        }
        out.push('\n');
        out.push_str(line);
    }
    out
}

/// Returns the speakers in order of appearance, then the names mentioned most, ties by order of appearance.
fn rank_participants(actors: &[&str], turns: &[&Unit]) -> Vec<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (place, name) in turns.iter().flat_map(|it| &it.participants).enumerate() {
        counts.entry(name).or_insert((0, place)).0 += 1;
    }
    let mut others: Vec<(&str, (usize, usize))> = counts.into_iter().filter(|(it, _)| !actors.contains(it)).collect();
    others.sort_by_key(|(_, (count, place))| (std::cmp::Reverse(*count), *place));
    let others = others.into_iter().take(NAMES_MAX).map(|(name, _)| name);
    actors.iter().copied().chain(others).map(str::to_owned).collect()
}

/// Returns the tag of most turns; on ties the longest one, which says most.
fn most_frequent_tag(turns: &[&Unit]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for turn in turns.iter().filter(|it| !it.tag.is_empty()) {
        *counts.entry(&turn.tag).or_default() += 1;
    }
    let best = counts.into_iter().max_by_key(|(tag, count)| (*count, tag.len(), *tag));
    best.map(|(tag, _)| tag.to_owned()).unwrap_or_default()
}

fn collect_distinct<'a, T: Clone + PartialEq + 'a>(
    turns: &[&'a Unit],
    field: impl Fn(&'a Unit) -> &'a [T],
    max: usize,
) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    for value in turns.iter().flat_map(|it| field(it)) {
        if out.len() < max && !out.contains(value) {
            out.push(value.clone());
        }
    }
    out
}

fn join_texts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.filter(|it| !it.is_empty()).take(4).collect();
    texts.join("; ")
}

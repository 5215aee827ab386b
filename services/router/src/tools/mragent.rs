//! MRAgent's tools (section 3): from cues to tags to content, tags before content; the time of an event; its keywords;
//! its surroundings; topics. The tools about persons are in `person`.

pub(super) mod person;

use std::cmp::Reverse;
use std::sync::Arc;

use domain::id::{TopicId, UnitId};
use domain::message::ToolSpecV1;
use domain::topic::Topic;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{
    LIMIT_MAX, default_limit, limit_schema, not_found, offset_schema, parse_arguments, require_in_range,
    require_page_in_range, require_text, text_schema, tool_spec, unit_schema,
};
use super::compassmem::add_fields;
use super::{Look, Outcome};
use crate::space::memory::normalise_name;

/// Maximum number of turns on each side of a unit.
const NEIGHBOURS_MAX: u32 = 20;
/// Number of cues that are suggested if the requested one does not exist.
const NEAR: usize = 8;
/// The tag that is shown for a unit without a tag.
const UNTAGGED: &str = "untagged";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagEvents {
    cue: String,
    #[serde(default)]
    tag: Option<String>,
    #[serde(default = "default_limit")]
    limit: u32,
    #[serde(default)]
    offset: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfUnit {
    #[serde(alias = "event", alias = "gist_id")]
    unit: UnitId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Surroundings {
    #[serde(alias = "event", alias = "gist_id")]
    unit: UnitId,
    #[serde(default = "default_neighbours")]
    before: u32,
    #[serde(default = "default_neighbours")]
    after: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicEvents {
    #[serde(default)]
    topic: Option<String>,
    #[serde(default = "default_limit")]
    limit: u32,
    #[serde(default)]
    offset: u32,
}

pub(super) fn tool_specs() -> Vec<ToolSpecV1> {
    let neighbours = json!({"type": "integer", "minimum": 0, "maximum": NEIGHBOURS_MAX, "default": 3});
    let unit = json!({"unit": unit_schema()});
    let mut all = person::tool_specs();
    all.extend([
        tool_spec(
            "query_tag_events",
            "Without a tag, lists the tags of a cue (a keyword) with the number of units behind each; with a tag, returns those units, oldest first. Ask for the tags first.",
            json!({"cue": text_schema("A keyword: a thing, a name, a verb"), "tag": text_schema("A tag that this tool listed"),
                "limit": limit_schema(), "offset": offset_schema()}),
            &["cue"],
        ),
        tool_spec(
            "query_conversation_time",
            "Returns when a unit was told, when it happened, and its session.",
            unit.clone(),
            &["unit"],
        ),
        tool_spec(
            "query_event_keywords",
            "Returns the cues and tags of a unit, with the number of other units that each cue leads to.",
            unit,
            &["unit"],
        ),
        tool_spec(
            "query_event_context",
            "Returns what was said or done just before and after a unit in its session.",
            json!({"unit": unit_schema(), "before": neighbours, "after": neighbours}),
            &["unit"],
        ),
        tool_spec(
            "query_topic_events",
            "Without a topic, lists the topics, greatest first; with one, by id or label, returns its events, oldest first.",
            json!({"topic": text_schema("Id or label of a topic that this tool listed"), "limit": limit_schema(), "offset": offset_schema()}),
            &[],
        ),
    ]);
    all
}

/// Runs `query_tag_events`.
pub(super) fn tag_events(look: &Look, arguments: Value) -> Outcome {
    let TagEvents {
        cue,
        tag,
        limit,
        offset,
    } = parse_arguments(arguments)?;
    require_text("cue", &cue, "which keyword")?;
    require_page_in_range(limit, offset)?;
    let known = look.known_memory();
    let Some(stored) = known.find_cue(&cue) else {
        let near: Vec<&str> = known.cues_like(&cue).take(NEAR).collect();
        let near = if near.is_empty() {
            "try another word, or lexical_retrieve".to_owned()
        } else {
            format!("there are: {}", near.join(", "))
        };
        return Err(not_found(format!("no unit has this cue; {near}")));
    };
    let tags = known.tags_of_cue(stored);
    let (limit, offset) = (limit as usize, offset as usize);
    let Some(tag) = tag else {
        let listed = tags.iter().skip(offset).take(limit);
        let listed = listed.map(|(tag, units)| json!({"tag": display_tag(tag), "units": units}));
        return Ok(json!({"cue": stored, "tags": listed.collect::<Vec<Value>>(), "total": tags.len()}));
    };
    let wanted = normalise_name(&tag);
    let units: Vec<UnitId> = known
        .units_with(stored)
        .filter(|it| normalise_name(display_tag(known.tag_of_unit(*it))) == wanted)
        .collect();
    if units.is_empty() {
        let near: Vec<&str> = tags.iter().take(NEAR).map(|it| display_tag(it.0)).collect();
        return Err(not_found(format!(
            "the cue \"{stored}\" has no such tag; it has: {}",
            near.join(", ")
        )));
    }
    let shown = look.units_to_json(units.iter().skip(offset).copied(), limit);
    Ok(json!({"cue": stored, "tag": tag, "units": shown, "total": units.len()}))
}

fn display_tag(tag: &str) -> &str {
    if tag.is_empty() { UNTAGGED } else { tag }
}

/// Runs `query_conversation_time`.
pub(super) fn conversation_time(look: &Look, arguments: Value) -> Outcome {
    let OfUnit { unit } = parse_arguments(arguments)?;
    look.require_known(unit)?;
    let known = look.known_memory();
    let (observed_at, session, times) = match look.view.position_of_unit(unit).map(|it| &look.view.turns()[it].unit) {
        Some(turn) => (turn.observed_at, turn.session, &*turn.times),
        None => match (known.find_event(unit), known.find_gist(unit)) {
            (Some(event), _) => (event.observed_at, event.session, event.times.as_slice()),
            (None, Some(gist)) => (gist.observed_at, gist.session, gist.times.as_slice()),
            (None, None) => return Err(not_found(format!("there is no unit {unit}"))),
        },
    };
    let happened = times.iter().take(LIMIT_MAX as usize).map(|it| {
        let when = text::time::render_span(it, *observed_at.offset());
        json!({"words": it.words, "when": when, "start": it.start, "end": it.end, "precision": it.precision})
    });
    Ok(json!({
        "unit": unit, "told_at": observed_at, "told_on": observed_at.format("%-d %B %Y").to_string(),
        "happened": happened.collect::<Vec<Value>>(), "session": session, "event": known.event_of(unit)
    }))
}

/// Runs `query_event_keywords`.
pub(super) fn event_keywords(look: &Look, arguments: Value) -> Outcome {
    let OfUnit { unit } = parse_arguments(arguments)?;
    look.require_known(unit)?;
    let known = look.known_memory();
    let cues = known.cues_of(unit).into_iter().take(LIMIT_MAX as usize);
    let cues = cues.map(|it| json!({"cue": it, "units": known.units_with(it).count()}));
    let topic = known.find_topic_member(unit).and_then(|it| known.find_topic(it.topic));
    Ok(json!({
        "unit": unit, "tag": known.tag_of_unit(unit), "cues": cues.collect::<Vec<Value>>(),
        "topic": topic.map(|it| json!({"topic": it.id, "label": it.label, "keywords": it.keywords}))
    }))
}

/// Runs `query_event_context`: the turns around a turn, or around the turns of an event or a gist.
pub(super) fn event_context(look: &Look, arguments: Value) -> Outcome {
    let Surroundings { unit, before, after } = parse_arguments(arguments)?;
    require_in_range("before", before, 0, NEIGHBOURS_MAX)?;
    require_in_range("after", after, 0, NEIGHBOURS_MAX)?;
    look.require_known(unit)?;
    let own: Vec<usize> = std::iter::once(unit)
        .chain(look.memory.all_turns_of(unit))
        .filter_map(|it| look.view.position_of_unit(it))
        .collect();
    let (Some(&first), Some(&last)) = (own.iter().min(), own.iter().max()) else {
        return Ok(json!({"unit": unit, "units": []}));
    };
    let session = &look.view.session_ranges()[look.view.session_of(first)];
    let from = first.saturating_sub(before as usize).max(session.start);
    let to = (last.saturating_add(after as usize + 1)).min(session.end);
    let known = look.known_memory();
    let mut places: Vec<usize> = (from..to)
        .filter(|it| known.has_unit(look.view.turns()[*it].unit.id))
        .collect();
    // A long event is cut in the middle, so that the turns on both of its sides are shown.
    let most = 2 * NEIGHBOURS_MAX as usize + LIMIT_MAX as usize;
    let left_out = places.len().saturating_sub(most);
    let of_unit = places.partition_point(|it| *it < first)..places.partition_point(|it| *it <= last);
    let cut = of_unit.start + (of_unit.len() - left_out) / 2;
    places.drain(cut..cut + left_out);
    let shown = places.into_iter().filter_map(|place| {
        let mut gist = look.unit_to_json(look.view.turns()[place].unit.id)?;
        let at = if place < first {
            "before"
        } else if place > last {
            "after"
        } else {
            "it"
        };
        add_fields(&mut gist, json!({"place": at}));
        Some(gist)
    });
    let mut out = json!({"unit": unit, "units": shown.collect::<Vec<Value>>()});
    if left_out > 0 {
        add_fields(&mut out, json!({"left_out": left_out}));
    }
    Ok(out)
}

/// Runs `query_topic_events`.
pub(super) fn topic_events(look: &Look, arguments: Value) -> Outcome {
    let TopicEvents { topic, limit, offset } = parse_arguments(arguments)?;
    require_page_in_range(limit, offset)?;
    let known = look.known_memory();
    let (limit, offset) = (limit as usize, offset as usize);
    let mut all: Vec<Arc<Topic>> = known.all_topics().collect();
    all.sort_by_key(|it| (Reverse(it.units), it.id));
    let Some(topic) = topic else {
        let listed = all.iter().skip(offset).take(limit).map(|it| topic_to_json(it));
        return Ok(json!({"topics": listed.collect::<Vec<Value>>(), "total": all.len()}));
    };
    require_text("topic", &topic, "which topic")?;
    let id = topic.trim().parse::<TopicId>().ok();
    let wanted = normalise_name(&topic);
    let found = all
        .iter()
        .find(|it| Some(it.id) == id || normalise_name(&it.label) == wanted);
    let Some(found) = found else {
        let near: Vec<&str> = all.iter().take(NEAR).map(|it| it.label.as_str()).collect();
        let near = if near.is_empty() {
            "there are no topics yet; try semantic_retrieve".to_owned()
        } else {
            format!("the greatest are: {}", near.join("; "))
        };
        return Err(not_found(format!("there is no such topic; {near}")));
    };
    let units = known.units_of(found.id);
    let shown = look.units_to_json(units.iter().skip(offset).copied(), limit);
    Ok(json!({"topic": topic_to_json(found), "units": shown, "total": units.len()}))
}

fn topic_to_json(topic: &Topic) -> Value {
    let mut out = json!({"topic": topic.id, "label": topic.label, "keywords": topic.keywords, "events": topic.units,
        "first_seen": topic.first_seen, "last_seen": topic.last_seen});
    if let Some(summary) = &topic.summary {
        out["summary"] = json!(summary);
    }
    out
}

fn default_neighbours() -> u32 {
    3
}

//! CompassMem's way of looking around: neighbours in the event graph (section 3.3), with what their relations stand on.

use domain::id::{RecordId, UnitId};
use domain::message::ToolSpecV1;
use domain::relation::{Relation, RelationKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{limit_schema, offset_schema, page, read, spec, ten, unit_schema};
use super::shown::figure;
use super::{Found, Look, Outcome};

/// Relations cite at most this many records.
const EVIDENCE_MAX: usize = 12;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expand {
    #[serde(alias = "event", alias = "gist_id")]
    unit: UnitId,
    #[serde(default)]
    relation: Option<RelationKind>,
    #[serde(default = "ten")]
    limit: u32,
    #[serde(default)]
    offset: u32,
}

pub(super) fn specs() -> Vec<ToolSpecV1> {
    let kinds = [
        "causes",
        "motivates",
        "enables",
        "follows_up",
        "before",
        "contrasts",
        "part_of",
        "parallel",
        "elaborates",
        "same_as",
        "other",
    ];
    vec![spec(
        "expand_unit",
        "Lists the units that a unit is related to, each with the type and direction of the relation and the records it stands on. Use it to follow causes, sequels and contrasts.",
        json!({
            "unit": unit_schema(), "limit": limit_schema(), "offset": offset_schema(),
            "relation": {"type": "string", "enum": kinds, "description": "Only relations of this type"}
        }),
        &["unit"],
    )]
}

/// `expand_unit`: relations of the unit, then of the event that holds it, those to events of other sessions that tell of the
/// same or overlap with it included; strongest first, ties by the other unit.
pub(super) fn expand(look: &Look, found: Found, arguments: Value) -> Outcome {
    let Expand {
        unit,
        relation,
        limit,
        offset,
    } = read(arguments)?;
    page(limit, offset)?;
    look.require_known(unit)?;
    let known = look.known();
    let event = known.event_of(unit).unwrap_or(unit);
    let judged = known.judged(event);
    let mut related: Vec<(bool, Relation)> = found
        .relations
        .into_iter()
        .chain(judged)
        .filter(|it| relation.is_none_or(|kind| it.kind == kind))
        .map(|it| (it.source != unit && it.target != unit, it))
        .filter(|(of_event, it)| {
            let own = if *of_event { known.event_of(unit) } else { Some(unit) };
            own.is_some_and(|own| known.has(other(it, own)))
        })
        .collect();
    related.sort_by(|(a_event, a), (b_event, b)| {
        a_event
            .cmp(b_event)
            .then(b.weight.total_cmp(&a.weight))
            .then_with(|| (a.kind, &a.label, a.source, a.target).cmp(&(b.kind, &b.label, b.source, b.target)))
    });
    let total = related.len();
    let shown = related.iter().skip(offset as usize).take(limit as usize);
    let shown = shown.filter_map(|(of_event, it)| {
        let own = if *of_event { known.event_of(unit)? } else { unit };
        let mut told = json!({
            "relation": it.kind, "label": it.label, "direction": if it.source == own { "to" } else { "from" },
            "weight": figure(it.weight), "of": if *of_event { "its event" } else { "it" }, "evidence": evidence(look, &it.evidence)
        });
        merge(&mut told, look.gist(other(it, own))?);
        Some(told)
    });
    let related: Vec<Value> = shown.collect();
    let next = offset as usize + related.len();
    Ok(json!({
        "unit": unit, "event": known.event_of(unit), "related": related, "total": total,
        "next_offset": (next < total && !related.is_empty()).then_some(next)
    }))
}

fn other(relation: &Relation, unit: UnitId) -> UnitId {
    if relation.source == unit {
        relation.target
    } else {
        relation.source
    }
}

/// The callers' ids of the records that are known.
fn evidence(look: &Look, records: &[RecordId]) -> Vec<String> {
    let turns = records
        .iter()
        .map(|it| UnitId::turn(*it))
        .filter(|it| look.known().has(*it));
    turns.flat_map(|it| look.external_ids(it)).take(EVIDENCE_MAX).collect()
}

/// Adds the fields of one object to another.
pub(super) fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

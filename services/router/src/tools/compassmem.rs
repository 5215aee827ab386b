//! CompassMem's exploration: neighbours in the event graph (section 3.3), with the evidence of their relations.

use domain::id::{RecordId, UnitId};
use domain::message::ToolSpecV1;
use domain::relation::{Relation, RelationKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{limit_schema, offset_schema, page, read, spec, ten, unit_schema};
use super::shown::figure;
use super::{Found, Look, Outcome};

/// Maximum number of records that a relation cites.
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
        "Lists the units related to a unit, with the type and direction of each relation and its records. Use it to follow causes, sequels and contrasts.",
        json!({
            "unit": unit_schema(), "limit": limit_schema(), "offset": offset_schema(),
            "relation": {"type": "string", "enum": kinds, "description": "Only relations of this type"}
        }),
        &["unit"],
    )]
}

/// The unit that has a relation, in the order in which relations are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Unit,
    Event,
    Gist,
}

impl Holder {
    fn name(self) -> &'static str {
        match self {
            Holder::Unit => "it",
            Holder::Event => "its event",
            Holder::Gist => "its gist",
        }
    }
}

/// A relation, and the end of it that belongs to the unit in question.
struct Held {
    holder: Holder,
    own: UnitId,
    relation: Relation,
}

/// Runs `expand_unit`. It lists relations of the unit, then of the event that holds it, then of the gists that were
/// read in it; strongest first, ties by the other unit. Relations of the event include those to events of other
/// sessions that are the same event or overlap with it.
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
    let event = known.event_of(unit);
    let holders: Vec<(Holder, UnitId)> = std::iter::once((Holder::Unit, unit))
        .chain(event.map(|it| (Holder::Event, it)))
        .chain(look.memory.gists_of(unit).map(|it| (Holder::Gist, it)))
        .collect();
    let judged = known.judged(event.unwrap_or(unit));
    let of_kind = found.relations.into_iter().chain(judged);
    let of_kind = of_kind.filter(|it| relation.is_none_or(|kind| it.kind == kind));
    let held = of_kind.filter_map(|relation| {
        let ends = [relation.source, relation.target];
        let &(holder, own) = holders.iter().find(|it| ends.contains(&it.1))?;
        Some(Held { holder, own, relation })
    });
    let mut related: Vec<Held> = held
        .filter(|it| known.has(it.own) && known.has(other(&it.relation, it.own)))
        .collect();
    related.sort_by(|a, b| {
        let (x, y) = (&a.relation, &b.relation);
        let strongest = a.holder.cmp(&b.holder).then(y.weight.total_cmp(&x.weight));
        strongest.then_with(|| (x.kind, &x.label, x.source, x.target).cmp(&(y.kind, &y.label, y.source, y.target)))
    });
    let total = related.len();
    let shown = related.iter().skip(offset as usize).take(limit as usize);
    let related: Vec<Value> = shown.filter_map(|it| tell(look, it)).collect();
    let next = offset as usize + related.len();
    Ok(json!({
        "unit": unit, "event": event, "related": related, "total": total,
        "next_offset": (next < total && !related.is_empty()).then_some(next)
    }))
}

/// Returns a relation and the unit at its other end as JSON.
fn tell(look: &Look, held: &Held) -> Option<Value> {
    let Held { holder, own, relation } = held;
    let mut told = json!({
        "relation": relation.kind, "label": relation.label,
        "direction": if relation.source == *own { "to" } else { "from" },
        "weight": figure(relation.weight), "of": holder.name(), "evidence": evidence(look, &relation.evidence)
    });
    merge(&mut told, look.gist(other(relation, *own))?);
    Some(told)
}

fn other(relation: &Relation, unit: UnitId) -> UnitId {
    if relation.source == unit {
        relation.target
    } else {
        relation.source
    }
}

/// Returns the callers' ids of the records that are known.
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

//! Graph traversal, the exploration of CompassMem: neighbours in the event graph (section 3.3), with the evidence
//! of their relations.

use domain::id::{RecordId, UnitId};
use domain::message::ToolSpecV1;
use domain::relation::{Relation, RelationKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{
    default_limit, limit_schema, offset_schema, parse_arguments, require_page_in_range, tool_spec, unit_schema,
};
use super::json_output::float_to_json;
use super::{Look, Outcome, StoreResults};

/// Maximum number of records that a relation cites.
const EVIDENCE_MAX: usize = 12;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expand {
    #[serde(alias = "event", alias = "gist_id")]
    unit: UnitId,
    #[serde(default)]
    relation: Option<RelationKind>,
    #[serde(default = "default_limit")]
    limit: u32,
    #[serde(default)]
    offset: u32,
}

pub(super) fn tool_specs() -> Vec<ToolSpecV1> {
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
    vec![tool_spec(
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
    fn display_name(self) -> &'static str {
        match self {
            Holder::Unit => "it",
            Holder::Event => "its event",
            Holder::Gist => "its gist",
        }
    }
}

/// A relation, and the end of it that belongs to the unit in question.
struct HeldRelation {
    holder: Holder,
    own: UnitId,
    relation: Relation,
}

/// Runs `expand_unit`. It lists relations of the unit, then of the event that holds it, then of the gists that were
/// read from it; strongest first, ties by the other unit. Relations of the event include those to events of other
/// sessions that are the same event or overlap with it.
pub(super) fn expand_unit(look: &Look, found: StoreResults, arguments: Value) -> Outcome {
    let Expand {
        unit,
        relation,
        limit,
        offset,
    } = parse_arguments(arguments)?;
    require_page_in_range(limit, offset)?;
    look.require_known(unit)?;
    let known = look.known_memory();
    let event = known.event_of(unit);
    let holders: Vec<(Holder, UnitId)> = std::iter::once((Holder::Unit, unit))
        .chain(event.map(|it| (Holder::Event, it)))
        .chain(look.memory.gists_of(unit).map(|it| (Holder::Gist, it)))
        .collect();
    let judged = known.relations_of_event(event.unwrap_or(unit));
    let of_kind = found.relations.into_iter().chain(judged);
    let of_kind = of_kind.filter(|it| relation.is_none_or(|kind| it.kind == kind));
    let relations_of_unit = of_kind.filter_map(|relation| {
        let ends = [relation.source, relation.target];
        let &(holder, own) = holders.iter().find(|it| ends.contains(&it.1))?;
        Some(HeldRelation { holder, own, relation })
    });
    let mut related: Vec<HeldRelation> = relations_of_unit
        .filter(|it| known.has_unit(it.own) && known.has_unit(other_end(&it.relation, it.own)))
        .collect();
    related.sort_by(|a, b| {
        let (x, y) = (&a.relation, &b.relation);
        let strongest = a.holder.cmp(&b.holder).then(y.weight.total_cmp(&x.weight));
        strongest.then_with(|| (x.kind, &x.label, x.source, x.target).cmp(&(y.kind, &y.label, y.source, y.target)))
    });
    let total = related.len();
    let shown = related.iter().skip(offset as usize).take(limit as usize);
    let related: Vec<Value> = shown.filter_map(|it| relation_to_json(look, it)).collect();
    let next = offset as usize + related.len();
    Ok(json!({
        "unit": unit, "event": event, "related": related, "total": total,
        "next_offset": (next < total && !related.is_empty()).then_some(next)
    }))
}

/// Returns a relation and the unit at its other end as JSON.
fn relation_to_json(look: &Look, held_relation: &HeldRelation) -> Option<Value> {
    let HeldRelation { holder, own, relation } = held_relation;
    let mut out = json!({
        "relation": relation.kind, "label": relation.label,
        "direction": if relation.source == *own { "to" } else { "from" },
        "weight": float_to_json(relation.weight), "of": holder.display_name(), "evidence": external_ids_of_records(look, &relation.evidence)
    });
    add_fields(&mut out, look.unit_to_json(other_end(relation, *own))?);
    Some(out)
}

fn other_end(relation: &Relation, unit: UnitId) -> UnitId {
    if relation.source == unit {
        relation.target
    } else {
        relation.source
    }
}

/// Returns the callers' ids of the records that are known.
fn external_ids_of_records(look: &Look, records: &[RecordId]) -> Vec<String> {
    let turns = records
        .iter()
        .map(|it| UnitId::of_turn(*it))
        .filter(|it| look.known_memory().has_unit(*it));
    turns.flat_map(|it| look.external_ids(it)).take(EVIDENCE_MAX).collect()
}

/// Adds the fields of one object to another.
pub(super) fn add_fields(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

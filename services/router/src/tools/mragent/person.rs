//! MRAgent's semantic layer (section 3): (person, aspect, content), aspects before content.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::entity::{Entity, EntityKind};
use domain::fact::{Aspect, Fact};
use domain::message::{ToolErrorV1, ToolSpecV1};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::arguments::{
    default_limit, limit_schema, not_found, offset_schema, parse_arguments, require_page_in_range, require_text,
    text_schema, tool_spec,
};
use crate::tools::{Look, Outcome};

/// Number of people that are suggested if the requested one does not exist.
const NEAR: usize = 8;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Information {
    person: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAspect {
    person: String,
    aspect: Aspect,
    #[serde(default = "default_limit")]
    limit: u32,
    #[serde(default)]
    offset: u32,
}

pub(in crate::tools) fn tool_specs() -> Vec<ToolSpecV1> {
    let person = text_schema("Name of a person, or what they are called");
    vec![
        tool_spec(
            "query_personal_information",
            "Lists the known aspects of a person or another entity, with the number of facts in each, and their names. Ask for it before an aspect.",
            json!({"person": person}),
            &["person"],
        ),
        tool_spec(
            "query_personal_aspect",
            "Returns what is known of one aspect of a person: facts with their times, those that hold first, and the gists that state them.",
            json!({"person": person, "aspect": {"type": "string", "enum": Aspect::ALL}, "limit": limit_schema(), "offset": offset_schema()}),
            &["person", "aspect"],
        ),
    ]
}

/// Runs `query_personal_information`.
pub(in crate::tools) fn personal_information(look: &Look, arguments: Value) -> Outcome {
    let Information { person } = parse_arguments(arguments)?;
    let (entities, facts) = look.find_person(&person)?;
    let mut counts: BTreeMap<Aspect, (usize, usize)> = BTreeMap::new();
    for fact in &facts {
        let count = counts.entry(fact.aspect).or_default();
        count.0 += 1;
        count.1 += usize::from(fact.holds_at(look.reference_moment()));
    }
    let mut aspects: Vec<(Aspect, (usize, usize))> = counts.into_iter().collect();
    aspects.sort_by_key(|it| (Reverse(it.1.0), it.0));
    let aspects = aspects
        .into_iter()
        .map(|(aspect, (facts, hold))| json!({"aspect": aspect, "facts": facts, "hold": hold}));
    let entity = entities.first();
    let entities_shown = look.showable_entities(&entities);
    let others = entities_shown
        .iter()
        .skip(1)
        .take(NEAR)
        .map(|it| json!({"name": it.name, "kind": it.kind}));
    let names = entities_shown.first();
    Ok(json!({
        "person": names.map_or(person.as_str(), |it| it.name.as_str()),
        "entity": entity.map(|it| it.id), "kind": entity.map(|it| it.kind),
        "aliases": names.map(|it| &it.aliases), "roles": names.map(|it| &it.roles),
        "aspects": aspects.collect::<Vec<Value>>(),
        "others_of_this_name": others.collect::<Vec<Value>>()
    }))
}

/// Runs `query_personal_aspect`.
pub(in crate::tools) fn personal_aspect(look: &Look, arguments: Value) -> Outcome {
    let OfAspect {
        person,
        aspect,
        limit,
        offset,
    } = parse_arguments(arguments)?;
    require_page_in_range(limit, offset)?;
    let (entities, mut facts) = look.find_person(&person)?;
    facts.retain(|it| it.aspect == aspect);
    facts.sort_by_key(|it| {
        (
            !it.holds_at(look.reference_moment()),
            Reverse(it.valid_from.start),
            it.id,
        )
    });
    let (limit, offset) = (limit as usize, offset as usize);
    let shown: Vec<&Arc<Fact>> = facts.iter().skip(offset).take(limit).collect();
    let next = offset + shown.len();
    Ok(json!({
        "person": look.showable_entities(&entities).first().map_or(person.as_str(), |it| it.name.as_str()), "aspect": aspect,
        "facts": shown.iter().map(|it| look.fact_to_json(it)).collect::<Vec<Value>>(),
        "gists": look.units_to_json(shown.iter().map(|it| it.source), limit),
        "total": facts.len(), "next_offset": (next < facts.len() && !shown.is_empty()).then_some(next)
    }))
}

/// The entities of a name, people first, and all facts about them.
type Person = (Vec<Arc<Entity>>, Vec<Arc<Fact>>);

impl Look {
    /// Returns the entities whose names may be shown; none inside of a scope, since a name may come from outside of it.
    fn showable_entities<'a>(&self, entities: &'a [Arc<Entity>]) -> &'a [Arc<Entity>] {
        match self.scope {
            Some(_) => &[],
            None => entities,
        }
    }

    /// Returns the entities of a name, people first, and all facts about them.
    fn find_person(&self, name: &str) -> Result<Person, ToolErrorV1> {
        require_text("person", name, "whom you mean")?;
        let known = self.known_memory();
        let mut entities = known.entities_called(name);
        entities.sort_by_key(|it| !is_person(it));
        let facts = known.facts_about(name);
        let is_known = known.scope().is_none() && !entities.is_empty();
        if is_known || !facts.is_empty() {
            return Ok((entities, facts));
        }
        let all: Vec<Arc<Entity>> = known.all_entities().collect();
        let mut people: Vec<&Arc<Entity>> = self.showable_entities(&all).iter().filter(|it| is_person(it)).collect();
        people.sort_by_key(|it| (Reverse(it.mentions), it.id));
        let people: Vec<&str> = people.iter().take(NEAR).map(|it| it.name.as_str()).collect();
        let near = if people.is_empty() {
            "no person is known yet".to_owned()
        } else {
            format!("there are: {}", people.join(", "))
        };
        Err(not_found(format!("no person or thing is known by this name; {near}")))
    }
}

fn is_person(entity: &Entity) -> bool {
    matches!(entity.kind, EntityKind::Speaker | EntityKind::Person)
}

//! Parses the model's reply about events into unchecked entries.

use domain::relation::RelationKind;
use serde::Deserialize;
use serde_json::Value;
use text::model_text::model_reply::{after_thoughts, last_object};

/// Maximum number of entries read from a reply.
const ENTRIES_MAX: usize = 16;
/// Maximum length of a stored entry, in bytes.
const ENTRY_BYTES_MAX: usize = 8_192;

/// The unchecked judgement of two events.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct UncheckedJudgement {
    /// Whether both describe the same event.
    pub(crate) same_event: bool,
    /// Whether they have their subject in common.
    #[serde(default)]
    pub(crate) has_overlap: bool,
    /// The name of a kind of relation.
    #[serde(default)]
    relation_type: Option<String>,
    /// The reason in the model's words.
    #[serde(default)]
    pub(crate) reasoning: String,
}

/// The JSON object of a reply.
#[derive(Deserialize)]
struct Reply {
    events: Vec<Value>,
}

impl UncheckedJudgement {
    /// Parses a stored entry, or returns none if it is not a judgement.
    pub(crate) fn parse_entry(output: &str) -> Option<UncheckedJudgement> {
        serde_json::from_str(output).ok()
    }

    /// Returns the kind of relation that it names, or none if that is unknown or cannot hold between two different
    /// events.
    pub(crate) fn relation_kind(&self) -> Option<RelationKind> {
        let name = self
            .relation_type
            .as_deref()?
            .trim()
            .to_lowercase()
            .replace([' ', '-'], "_");
        let kind = serde_json::from_value(Value::String(name)).ok()?;
        match kind {
            RelationKind::Causes
            | RelationKind::Motivates
            | RelationKind::Enables
            | RelationKind::FollowsUp
            | RelationKind::Before
            | RelationKind::Contrasts
            | RelationKind::PartOf
            | RelationKind::Parallel
            | RelationKind::Elaborates => Some(kind),
            RelationKind::SameAs | RelationKind::Other => None,
        }
    }
}

/// Parses a reply about `count` earlier events. Returns the entry of each in its stored form, in their order, with
/// `None` for an event that the reply does not judge. Returns `None` if it judges none of them. Of two entries with
/// the same number the first counts.
pub(crate) fn parse_entries(output: &str, count: usize) -> Option<Vec<Option<String>>> {
    let (_, reply) = last_object::<Reply>(after_thoughts(output)?)?;
    let mut found: Vec<Option<String>> = vec![None; count];
    for entry in reply.events.iter().take(ENTRIES_MAX) {
        let number = entry.get("number").and_then(Value::as_u64);
        let place = number.and_then(|it| usize::try_from(it).ok()?.checked_sub(1));
        let Some(slot) = place.and_then(|it| found.get_mut(it)) else {
            continue;
        };
        let text = entry.to_string();
        if slot.is_none() && text.len() <= ENTRY_BYTES_MAX && UncheckedJudgement::parse_entry(&text).is_some() {
            *slot = Some(text);
        }
    }
    found.iter().any(Option::is_some).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_its_number_inside_surrounding_text() {
        let reply = "<think>{\"events\": []}</think>Here:\n```json\n{\"events\": [\
            {\"number\": 2, \"same_event\": true, \"has_overlap\": true, \"relation_type\": \"none\", \"reasoning\": \"One wedding.\"}, \
            {\"number\": 2, \"same_event\": false}, {\"number\": 9, \"same_event\": true}, {\"number\": 1, \"same_event\": \"yes\"}, 7]}\n```";
        let found = parse_entries(reply, 2).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], None, "what is no judgement is none");
        let judgement = UncheckedJudgement::parse_entry(found[1].as_deref().unwrap()).unwrap();
        assert!(judgement.same_event && judgement.has_overlap && judgement.relation_kind().is_none());
        assert_eq!(judgement.reasoning, "One wedding.");
    }

    #[test]
    fn a_reply_without_judgements_is_refused() {
        for reply in [
            "",
            "They are the same.",
            "{\"events\": []}",
            "{\"events\": \"1\"}",
            "{\"events\": [{\"number\": 0, \"same_event\": true}, {\"number\": 3, \"same_event\": true}]}",
            // Truncated.
            "{\"events\": [{\"number\": 1, \"same_event\": true, \"reas",
        ] {
            assert_eq!(parse_entries(reply, 2), None, "{reply}");
        }
    }

    #[test]
    fn only_kinds_between_two_different_events_are_relations() {
        let kind = |name: &str| {
            let entry = format!("{{\"same_event\": false, \"relation_type\": {name}}}");
            UncheckedJudgement::parse_entry(&entry).unwrap().relation_kind()
        };
        assert_eq!(kind("\"causes\""), Some(RelationKind::Causes));
        assert_eq!(kind("\"Follows up\""), Some(RelationKind::FollowsUp));
        assert_eq!(kind("\"part-of\""), Some(RelationKind::PartOf));
        for name in ["null", "\"none\"", "\"same_as\"", "\"other\"", "\"obeys\"", "\"\""] {
            assert_eq!(kind(name), None, "{name}");
        }
    }
}

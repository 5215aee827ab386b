//! The reply of a language model that read a passage, item by item and unchecked.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use text::model_reply::{after_thoughts, last_object};

/// Most items that are taken of one list of a reply.
pub(super) const ITEMS_MAX: usize = 64;
/// The lists of a reply.
const LISTS: [&str; 4] = ["gists", "relations", "facts", "changes"];

/// What a model said about a passage.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// What happened; an item that cannot be read keeps its place, as relations name gists by their places.
    pub(super) gists: Vec<Option<SaidGist>>,
    /// What follows from what.
    pub(super) relations: Vec<SaidRelation>,
    /// What is so.
    pub(super) facts: Vec<SaidFact>,
    /// What changed.
    pub(super) changes: Vec<SaidChange>,
}

/// One thing that happened.
#[derive(Debug, Deserialize)]
pub(super) struct SaidGist {
    /// A sentence.
    pub(super) text: String,
    /// Numbers of the lines that it comes from.
    #[serde(default)]
    pub(super) lines: Numbers,
    /// When it happened.
    pub(super) time: Option<String>,
    /// The people in it.
    pub(super) who: Option<Vec<String>>,
    /// Its topic.
    pub(super) tag: Option<String>,
    /// Its key words.
    pub(super) cues: Option<Vec<String>>,
}

/// Numbers of lines; what is no number is left out.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<Value>")]
pub(super) struct Numbers(pub(super) Vec<u64>);

impl From<Vec<Value>> for Numbers {
    fn from(values: Vec<Value>) -> Numbers {
        Numbers(values.iter().filter_map(Value::as_u64).collect())
    }
}

/// An end of a relation.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum End {
    /// A gist of the reply, by its place, from 1.
    Number(u64),
    /// The label of an earlier gist, "E2", or a number in quotes.
    Label(String),
}

/// How two things hang together.
#[derive(Debug, Deserialize)]
pub(super) struct SaidRelation {
    /// Where it starts.
    pub(super) from: End,
    /// Where it leads.
    pub(super) to: End,
    /// Its kind.
    pub(super) kind: String,
    /// Numbers of the lines that show it.
    pub(super) lines: Option<Numbers>,
}

/// Something that is so.
#[derive(Debug, Deserialize)]
pub(super) struct SaidFact {
    /// What it is about.
    pub(super) subject: String,
    /// A verb phrase.
    pub(super) predicate: String,
    /// The value.
    pub(super) object: String,
    /// The name of its aspect.
    pub(super) aspect: String,
    /// Number of the line that says it.
    pub(super) line: u64,
    /// The words that say it.
    pub(super) quote: String,
    /// Since when it holds.
    pub(super) since: Option<String>,
    /// When it ceases or ceased to hold.
    pub(super) until: Option<String>,
    /// False: it is over.
    pub(super) holds: Option<bool>,
    /// It says what is not so.
    pub(super) negated: Option<bool>,
    /// "implied" if it is not said outright.
    pub(super) sure: Option<String>,
}

/// A change of the state of something.
#[derive(Debug, Deserialize)]
pub(super) struct SaidChange {
    /// Whose state.
    pub(super) subject: String,
    /// Which state.
    pub(super) key: String,
    /// What it was.
    pub(super) before: Option<String>,
    /// What it is.
    pub(super) after: String,
    /// Number of the line that shows it.
    pub(super) line: u64,
}

/// An object with at least one of the lists: not one of the items of a reply that was cut.
#[derive(Deserialize)]
#[serde(try_from = "Map<String, Value>")]
struct Lists(Map<String, Value>);

impl TryFrom<Map<String, Value>> for Lists {
    type Error = &'static str;

    fn try_from(map: Map<String, Value>) -> Result<Lists, &'static str> {
        let is_reply = LISTS.iter().any(|it| map.get(*it).is_some_and(Value::is_array));
        is_reply.then_some(Lists(map)).ok_or("no list of a reply")
    }
}

impl Lists {
    /// Takes a list out, item by item: `None` for each that cannot be read.
    fn take<T: DeserializeOwned>(&mut self, name: &str) -> Vec<Option<T>> {
        let Some(Value::Array(items)) = self.0.remove(name) else {
            return Vec::new();
        };
        let items = items.into_iter().take(ITEMS_MAX);
        items.map(|it| serde_json::from_value(it).ok()).collect()
    }
}

/// Reads a reply. An item with a field that is missing or of the wrong type is left out, and the rest is kept; `None` if there is
/// no object with at least one of the lists.
pub(crate) fn parse(output: &str) -> Option<Said> {
    let (_, mut lists) = last_object::<Lists>(after_thoughts(output)?)?;
    Some(Said {
        gists: lists.take("gists"),
        relations: lists.take("relations").into_iter().flatten().collect(),
        facts: lists.take("facts").into_iter().flatten().collect(),
        changes: lists.take("changes").into_iter().flatten().collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reply_is_read_whatever_surrounds_it() {
        for reply in [
            r#"{"gists": [{"text": "A."}]}"#,
            "Here it is:\n```json\n{\"gists\": [{\"text\": \"A.\"}], \"facts\": null}\n```",
            r#"<think>{"gists": []}</think>{"gists": [{"text": "A."}], "more": 1}"#,
        ] {
            let said = parse(reply).unwrap();
            assert_eq!(said.gists[0].as_ref().unwrap().text, "A.", "{reply}");
        }
    }

    #[test]
    fn a_reply_without_any_list_is_none() {
        for reply in [
            "",
            "I cannot read this.",
            r#"{"text": "A.", "lines": [1]}"#,
            r#"{"gists": "none"}"#,
            // Cut: its items are no reply.
            r#"{"gists": [{"text": "A.", "lines": [1]}, {"te"#,
        ] {
            assert!(parse(reply).is_none(), "{reply}");
        }
        assert!(parse(r#"{"changes": []}"#).is_some());
    }

    #[test]
    fn an_item_of_the_wrong_type_is_left_out_and_the_others_stay() {
        let fact = json!({"subject": "Ann", "predicate": "likes", "object": "tea", "aspect": "preference", "line": 1, "quote": "tea"});
        let mut wrong = fact.clone();
        wrong["line"] = json!("first");
        let reply = json!({
            "gists": [{"text": 3}, "A.", {"text": "B.", "lines": [1, "2", -1, 3]}],
            "relations": [{"from": 1, "to": "E1", "kind": "causes"}, {"from": [1], "to": 2, "kind": "causes"}],
            "facts": [wrong, fact, {"subject": "Ann"}],
            "changes": [{"subject": "lamp", "key": "state", "after": "on", "line": 1}, {"subject": "lamp", "key": null}],
        });
        let said = parse(&reply.to_string()).unwrap();
        let texts: Vec<Option<&str>> = said
            .gists
            .iter()
            .map(|it| it.as_ref().map(|it| it.text.as_str()))
            .collect();
        assert_eq!(texts, [None, None, Some("B.")]);
        assert_eq!(said.gists[2].as_ref().unwrap().lines.0, [1, 3]);
        assert_eq!((said.relations.len(), said.facts.len(), said.changes.len()), (1, 1, 1));
    }

    #[test]
    fn lists_are_bounded() {
        let gists = vec![json!({"text": "A."}); 100];
        let said = parse(&json!({"gists": gists}).to_string()).unwrap();
        assert_eq!(said.gists.len(), ITEMS_MAX);
    }
}

//! Parses the model's reply about a passage into unchecked items.

use domain::port::Completion;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use text::model_text::model_reply::{after_thoughts, last_object};

use crate::reading::lines::to_visible_line;
use crate::reading::replies::salvage::salvage_objects;

/// Maximum number of items read from one list of a reply.
pub(crate) const ITEMS_MAX: usize = 64;
/// The names of the lists in a reply.
const LISTS: [&str; 4] = ["gists", "relations", "facts", "changes"];

/// The unchecked reply of a model about a passage.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UncheckedReading {
    /// The things that happened. An unreadable item keeps its position, because relations refer to gists by position.
    pub(crate) gists: Vec<Option<UncheckedGist>>,
    /// Relations between gists.
    pub(crate) relations: Vec<UncheckedRelation>,
    /// Facts.
    pub(crate) facts: Vec<UncheckedFact>,
    /// Changes of state.
    pub(crate) changes: Vec<UncheckedChange>,
    /// The beginning of the item at which the reply was cut off: empty if it was cut between two items, none if it is
    /// complete.
    pub(crate) cut: Option<String>,
}

impl UncheckedReading {
    fn has_items(&self) -> bool {
        let UncheckedReading {
            gists,
            relations,
            facts,
            changes,
            cut: _,
        } = self;
        gists.iter().any(Option::is_some) || !relations.is_empty() || !facts.is_empty() || !changes.is_empty()
    }

    /// Adds the relations and facts of the reply to a second call. Repeated facts are dropped; facts beyond the limit
    /// of the list are returned.
    pub(crate) fn add_second_reply(&mut self, second: UncheckedReading) -> Vec<UncheckedFact> {
        self.relations.extend(second.relations);
        let mut beyond = Vec::new();
        for fact in second.facts {
            if self.facts.iter().any(|it| it.says_the_same_as(&fact)) {
                continue;
            }
            match self.facts.len() < ITEMS_MAX {
                true => self.facts.push(fact),
                false => beyond.push(fact),
            }
        }
        beyond
    }
}

/// A thing that happened.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct UncheckedGist {
    /// One sentence.
    pub(crate) text: String,
    /// Numbers of the lines it comes from.
    #[serde(default)]
    pub(crate) lines: Numbers,
    /// The time at which the event happened.
    pub(crate) time: Option<String>,
    /// The people involved.
    pub(crate) who: Option<Vec<String>>,
    /// Topic of the gist.
    pub(crate) tag: Option<String>,
    /// Keywords of the gist.
    pub(crate) cues: Option<Vec<String>>,
}

/// Numbers of lines; values that are not numbers are dropped.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<Value>")]
pub(crate) struct Numbers(pub(crate) Vec<u64>);

impl From<Vec<Value>> for Numbers {
    fn from(values: Vec<Value>) -> Numbers {
        Numbers(values.iter().filter_map(Value::as_u64).collect())
    }
}

/// One end of a relation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum End {
    /// A gist of the reply by its position, from 1.
    Number(u64),
    /// The label of an earlier gist ("E2"), or a number in quotes.
    Label(String),
}

/// A relation between two gists.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct UncheckedRelation {
    /// The source.
    pub(crate) from: End,
    /// The target.
    pub(crate) to: End,
    /// Kind of the relation.
    pub(crate) kind: String,
    /// Numbers of the lines that support the relation.
    pub(crate) lines: Option<Numbers>,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct UncheckedFact {
    /// The subject.
    pub(crate) subject: String,
    /// The predicate, a verb phrase.
    pub(crate) predicate: String,
    /// The value.
    pub(crate) object: String,
    /// The name of its aspect.
    pub(crate) aspect: String,
    /// Number of the line that states the fact.
    pub(crate) line: u64,
    /// The words that state it.
    pub(crate) quote: String,
    /// The time since which the fact holds.
    pub(crate) since: Option<String>,
    /// The time until which the fact holds or held.
    pub(crate) until: Option<String>,
    /// False if the fact no longer holds.
    pub(crate) holds: Option<bool>,
    /// True if the fact is a denial.
    pub(crate) negated: Option<bool>,
    /// "implied" if the text does not state the fact directly.
    pub(crate) sure: Option<String>,
}

impl UncheckedFact {
    /// Returns true if both facts state the same about the same line, ignoring case.
    fn says_the_same_as(&self, other: &UncheckedFact) -> bool {
        let parts =
            |it: &UncheckedFact| [&it.subject, &it.predicate, &it.object].map(|part| part.trim().to_lowercase());
        self.line == other.line && parts(self) == parts(other)
    }
}

/// A change of state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct UncheckedChange {
    /// The thing that changed.
    pub(crate) subject: String,
    /// The name of the state.
    pub(crate) key: String,
    /// The former value.
    pub(crate) before: Option<String>,
    /// The new value.
    pub(crate) after: String,
    /// Number of the line that reports it.
    pub(crate) line: u64,
}

/// A JSON object with at least one of the lists. This distinguishes a reply from a single item of a truncated reply.
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
    /// Removes a list and returns its items, with `None` for each unreadable item.
    fn take_list<T: DeserializeOwned>(&mut self, name: &str) -> Vec<Option<T>> {
        let Some(Value::Array(items)) = self.0.remove(name) else {
            return Vec::new();
        };
        let items = items.into_iter().take(ITEMS_MAX);
        items.map(|it| serde_json::from_value(it).ok()).collect()
    }
}

/// Parses a reply. An item with a missing field or a field of the wrong type is dropped, and the rest is kept.
/// Returns `None` if there is no object with at least one of the lists. Of a truncated object, the complete items are
/// read.
pub(crate) fn parse_reply(output: &str) -> Option<UncheckedReading> {
    let output = after_thoughts(output)?;
    if let Some((_, lists)) = last_object::<Lists>(output) {
        return Some(read_lists(lists, None));
    }
    salvage_objects(output).find_map(|it| {
        let lists = serde_json::from_str(&it.json).ok()?;
        Some(read_lists(lists, Some(it.rest)))
    })
}

/// Returns true if a reply is usable: it is complete, or the model was stopped by a limit and at least one item is
/// complete.
pub(crate) fn is_usable(completion: &Completion) -> bool {
    parse_reply(&completion.text).is_some_and(|notes| notes.cut.is_none() || (completion.cut && notes.has_items()))
}

fn read_lists(mut lists: Lists, rest: Option<&str>) -> UncheckedReading {
    UncheckedReading {
        gists: lists.take_list("gists"),
        relations: lists.take_list("relations").into_iter().flatten().collect(),
        facts: lists.take_list("facts").into_iter().flatten().collect(),
        changes: lists.take_list("changes").into_iter().flatten().collect(),
        cut: rest.map(to_visible_line),
    }
}

#[cfg(test)]
mod tests {
    use domain::port::Usage;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sample_completion(text: &str, cut: bool) -> Completion {
        Completion {
            text: text.to_owned(),
            calls: Vec::new(),
            usage: Usage::default(),
            cut,
        }
    }

    #[test]
    fn the_complete_items_of_a_truncated_reply_are_read() {
        let notes = parse_reply("Here:\n{\"gists\": [{\"text\": \"A.\", \"lines\": [1]}, {\"text\": \"B").unwrap();
        assert_eq!((notes.gists.len(), notes.cut.as_deref()), (1, Some("{\"text\": \"B")));
        let full = parse_reply(r#"{"gists": [{"text": "A."}]}"#).unwrap();
        assert_eq!((full.gists.len(), full.cut), (1, None));
        assert!(parse_reply("<think>{\"gists\": [{\"text\": \"A.\"}, ").is_none());
    }

    #[test]
    fn a_truncated_reply_is_usable_if_a_limit_stopped_the_model_and_an_item_is_complete() {
        let (some, nothing) = (r#"{"gists": [{"text": "A."}, {"#, r#"{"gists": [{"te"#);
        assert!(is_usable(&sample_completion(some, true)));
        // A model that stops in the middle without reaching a limit is asked once more.
        assert!(!is_usable(&sample_completion(some, false)));
        assert!(!is_usable(&sample_completion(nothing, true)));
        assert!(is_usable(&sample_completion(r#"{"gists": []}"#, false)));
        assert!(!is_usable(&sample_completion("I am sorry.", true)));
    }

    #[test]
    fn a_second_reply_adds_relations_and_new_facts() {
        let fact = |object: &str| json!({"subject": "Ann", "predicate": "likes", "object": object, "aspect": "preference", "line": 1, "quote": "tea"});
        let first = json!({"gists": [{"text": "A."}], "facts": [fact("tea")]});
        let many: Vec<Value> = (0..70).map(|it| fact(&format!("tea {it}"))).collect();
        let facts: Vec<Value> = [fact("Tea ")].into_iter().chain(many).collect();
        let second =
            json!({"gists": [{"text": "B."}], "relations": [{"from": 1, "to": 2, "kind": "causes"}], "facts": facts});
        let mut notes = parse_reply(&first.to_string()).unwrap();
        let beyond = notes.add_second_reply(parse_reply(&second.to_string()).unwrap());
        assert_eq!((notes.gists.len(), notes.relations.len()), (1, 1));
        // The second list is cut to 64 facts when it is parsed; the first of them is already known.
        assert_eq!((notes.facts.len(), beyond.len()), (ITEMS_MAX, 0));
        assert_eq!(
            (notes.facts[0].object.as_str(), notes.facts[1].object.as_str()),
            ("tea", "tea 0")
        );
        let further = json!({"facts": [fact("coffee")]});
        assert_eq!(
            notes.add_second_reply(parse_reply(&further.to_string()).unwrap()).len(),
            1
        );
    }

    /// Returns names, quotes and brackets as models write them.
    fn words_strategy() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[a-zäß猫{}\\[\\],:\"\\\\ \n]{0,12}").unwrap()
    }

    fn reply_strategy() -> impl Strategy<Value = Value> {
        let gist = (
            words_strategy(),
            prop::collection::vec(0..9_u32, 0..3),
            prop::option::of(words_strategy()),
        )
            .prop_map(|(text, lines, time)| json!({"text": text, "lines": lines, "time": time, "who": [text]}));
        let gist = prop_oneof![6 => gist, 1 => words_strategy().prop_map(Value::from)];
        let relation = (0..5_u32, words_strategy())
            .prop_map(|(from, kind)| json!({"from": from, "to": "E1", "kind": kind, "lines": [1]}));
        let fact = (words_strategy(), words_strategy()).prop_map(|(subject, quote)| {
            json!({"subject": subject, "predicate": "likes", "object": quote, "aspect": "work", "line": 1, "quote": quote})
        });
        let change = words_strategy().prop_map(|it| json!({"subject": it, "key": "state", "after": it, "line": 2}));
        let lists = (
            prop::collection::vec(gist, 0..4),
            prop::collection::vec(relation, 0..4),
            prop::collection::vec(fact, 0..4),
            prop::collection::vec(change, 0..3),
        );
        lists.prop_map(|(gists, relations, facts, changes)| {
            json!({"gists": gists, "relations": relations, "facts": facts, "changes": changes})
        })
    }

    proptest! {
        #[test]
        fn a_truncated_reply_gives_a_prefix_of_the_items_of_the_complete_reply(
            reply in reply_strategy(),
            is_pretty: bool,
            is_fenced: bool,
        ) {
            let json = if is_pretty { format!("{reply:#}") } else { reply.to_string() };
            let text = if is_fenced { format!("Notes:\n```json\n{json}\n```\n") } else { json };
            let full = parse_reply(&text).unwrap();
            prop_assert_eq!(&full.cut, &None);
            let mut most = 0;
            for (end, _) in text.char_indices() {
                let Some(part) = parse_reply(&text[..end]) else { continue };
                prop_assert!(full.gists.starts_with(&part.gists));
                prop_assert!(full.relations.starts_with(&part.relations));
                prop_assert!(full.facts.starts_with(&part.facts));
                prop_assert!(full.changes.starts_with(&part.changes));
                let items = part.gists.len() + part.relations.len() + part.facts.len() + part.changes.len();
                // A complete item is never lost as the reply grows.
                prop_assert!(items >= most);
                most = items;
            }
        }
    }

    #[test]
    fn a_reply_is_parsed_inside_surrounding_text() {
        for reply in [
            r#"{"gists": [{"text": "A."}]}"#,
            "Here it is:\n```json\n{\"gists\": [{\"text\": \"A.\"}], \"facts\": null}\n```",
            r#"<think>{"gists": []}</think>{"gists": [{"text": "A."}], "more": 1}"#,
        ] {
            let notes = parse_reply(reply).unwrap();
            assert_eq!(notes.gists[0].as_ref().unwrap().text, "A.", "{reply}");
        }
    }

    #[test]
    fn a_text_without_any_list_is_not_a_reply() {
        for reply in [
            "",
            "I cannot read this.",
            r#"{"text": "A.", "lines": [1]}"#,
            r#"{"gists": "none"}"#,
            // Truncated: its first item must not be taken for a reply.
            r#"{"text": "A.", "lines": [1], "te"#,
        ] {
            assert!(parse_reply(reply).is_none(), "{reply}");
        }
        assert!(parse_reply(r#"{"changes": []}"#).is_some());
    }

    #[test]
    fn an_item_of_the_wrong_type_is_dropped_and_the_others_are_kept() {
        let fact = json!({"subject": "Ann", "predicate": "likes", "object": "tea", "aspect": "preference", "line": 1, "quote": "tea"});
        let mut wrong = fact.clone();
        wrong["line"] = json!("first");
        let reply = json!({
            "gists": [{"text": 3}, "A.", {"text": "B.", "lines": [1, "2", -1, 3]}],
            "relations": [{"from": 1, "to": "E1", "kind": "causes"}, {"from": [1], "to": 2, "kind": "causes"}],
            "facts": [wrong, fact, {"subject": "Ann"}],
            "changes": [{"subject": "lamp", "key": "state", "after": "on", "line": 1}, {"subject": "lamp", "key": null}],
        });
        let notes = parse_reply(&reply.to_string()).unwrap();
        let texts: Vec<Option<&str>> = notes
            .gists
            .iter()
            .map(|it| it.as_ref().map(|it| it.text.as_str()))
            .collect();
        assert_eq!(texts, [None, None, Some("B.")]);
        assert_eq!(notes.gists[2].as_ref().unwrap().lines.0, [1, 3]);
        assert_eq!(
            (notes.relations.len(), notes.facts.len(), notes.changes.len()),
            (1, 1, 1)
        );
    }

    #[test]
    fn lists_are_bounded() {
        let gists = vec![json!({"text": "A."}); 100];
        let notes = parse_reply(&json!({"gists": gists}).to_string()).unwrap();
        assert_eq!(notes.gists.len(), ITEMS_MAX);
    }
}

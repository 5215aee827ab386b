//! The reply of a language model that read a passage, item by item and unchecked.

use domain::port::Completion;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use text::model_reply::{after_thoughts, last_object};

use super::lines::visible;
use super::salvage::salvaged;

/// Most items that are taken of one list of a reply.
pub(super) const ITEMS_MAX: usize = 64;
/// The lists of a reply.
const LISTS: [&str; 4] = ["gists", "relations", "facts", "changes"];

/// What a model said about a passage.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// What happened; an item that cannot be read keeps its place, as relations name gists by their places.
    pub(super) gists: Vec<Option<SaidGist>>,
    /// What follows from what.
    pub(super) relations: Vec<SaidRelation>,
    /// What is so.
    pub(super) facts: Vec<SaidFact>,
    /// What changed.
    pub(super) changes: Vec<SaidChange>,
    /// The beginning of the item at which the reply was cut off; empty if it was cut between two items, none if it is whole.
    pub(super) cut: Option<String>,
}

impl Said {
    fn has_items(&self) -> bool {
        let Said {
            gists,
            relations,
            facts,
            changes,
            cut: _,
        } = self;
        gists.iter().any(Option::is_some) || !relations.is_empty() || !facts.is_empty() || !changes.is_empty()
    }

    /// Adds the relations and facts of the reply to a second call; what it repeats is dropped, and what is beyond the bound of a
    /// list is returned.
    pub(super) fn add(&mut self, second: Said) -> Vec<SaidFact> {
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

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<Value>")]
pub(super) struct Numbers(pub(super) Vec<u64>);

impl From<Vec<Value>> for Numbers {
    fn from(values: Vec<Value>) -> Numbers {
        Numbers(values.iter().filter_map(Value::as_u64).collect())
    }
}

/// An end of a relation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum End {
    /// A gist of the reply, by its place, from 1.
    Number(u64),
    /// The label of an earlier gist, "E2", or a number in quotes.
    Label(String),
}

/// How two things hang together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
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

impl SaidFact {
    /// Returns true if both state the same of the same line, in whatever case.
    fn says_the_same_as(&self, other: &SaidFact) -> bool {
        let parts = |it: &SaidFact| [&it.subject, &it.predicate, &it.object].map(|part| part.trim().to_lowercase());
        self.line == other.line && parts(self) == parts(other)
    }
}

/// A change of the state of something.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
/// no object with at least one of the lists. Of an object that was cut off, the complete items are read.
pub(crate) fn parse(output: &str) -> Option<Said> {
    let output = after_thoughts(output)?;
    if let Some((_, lists)) = last_object::<Lists>(output) {
        return Some(said(lists, None));
    }
    salvaged(output).find_map(|it| {
        let lists = serde_json::from_str(&it.json).ok()?;
        Some(said(lists, Some(it.rest)))
    })
}

/// Returns true if a reply can be used: it is whole, or the model was made to stop and something of it is complete.
pub(crate) fn is_usable(completion: &Completion) -> bool {
    parse(&completion.text).is_some_and(|said| said.cut.is_none() || (completion.cut && said.has_items()))
}

fn said(mut lists: Lists, rest: Option<&str>) -> Said {
    Said {
        gists: lists.take("gists"),
        relations: lists.take("relations").into_iter().flatten().collect(),
        facts: lists.take("facts").into_iter().flatten().collect(),
        changes: lists.take("changes").into_iter().flatten().collect(),
        cut: rest.map(visible),
    }
}

#[cfg(test)]
mod tests {
    use domain::port::Usage;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn completion(text: &str, cut: bool) -> Completion {
        Completion {
            text: text.to_owned(),
            calls: Vec::new(),
            usage: Usage::default(),
            cut,
        }
    }

    #[test]
    fn complete_items_of_a_reply_that_was_cut_off_are_read() {
        let said = parse("Here:\n{\"gists\": [{\"text\": \"A.\", \"lines\": [1]}, {\"text\": \"B").unwrap();
        assert_eq!((said.gists.len(), said.cut.as_deref()), (1, Some("{\"text\": \"B")));
        let whole = parse(r#"{"gists": [{"text": "A."}]}"#).unwrap();
        assert_eq!((whole.gists.len(), whole.cut), (1, None));
        assert!(parse("<think>{\"gists\": [{\"text\": \"A.\"}, ").is_none());
    }

    #[test]
    fn a_cut_reply_is_usable_if_the_model_was_made_to_stop_and_an_item_is_complete() {
        let (some, nothing) = (r#"{"gists": [{"text": "A."}, {"#, r#"{"gists": [{"te"#);
        assert!(is_usable(&completion(some, true)));
        // A model that stops by itself in the middle is asked once more.
        assert!(!is_usable(&completion(some, false)));
        assert!(!is_usable(&completion(nothing, true)));
        assert!(is_usable(&completion(r#"{"gists": []}"#, false)));
        assert!(!is_usable(&completion("I am sorry.", true)));
    }

    #[test]
    fn a_second_reply_adds_relations_and_the_facts_that_are_new() {
        let fact = |object: &str| json!({"subject": "Ann", "predicate": "likes", "object": object, "aspect": "preference", "line": 1, "quote": "tea"});
        let first = json!({"gists": [{"text": "A."}], "facts": [fact("tea")]});
        let many: Vec<Value> = (0..70).map(|it| fact(&format!("tea {it}"))).collect();
        let facts: Vec<Value> = [fact("Tea ")].into_iter().chain(many).collect();
        let second =
            json!({"gists": [{"text": "B."}], "relations": [{"from": 1, "to": 2, "kind": "causes"}], "facts": facts});
        let mut said = parse(&first.to_string()).unwrap();
        let beyond = said.add(parse(&second.to_string()).unwrap());
        assert_eq!((said.gists.len(), said.relations.len()), (1, 1));
        // The second list has 64 facts as it is read, of which the first one is known.
        assert_eq!((said.facts.len(), beyond.len()), (ITEMS_MAX, 0));
        assert_eq!(
            (said.facts[0].object.as_str(), said.facts[1].object.as_str()),
            ("tea", "tea 0")
        );
        let further = json!({"facts": [fact("coffee")]});
        assert_eq!(said.add(parse(&further.to_string()).unwrap()).len(), 1);
    }

    /// Names, quotes and brackets as models write them.
    fn words() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[a-zäß猫{}\\[\\],:\"\\\\ \n]{0,12}").unwrap()
    }

    fn reply() -> impl Strategy<Value = Value> {
        let gist = (
            words(),
            prop::collection::vec(0..9_u32, 0..3),
            prop::option::of(words()),
        )
            .prop_map(|(text, lines, time)| json!({"text": text, "lines": lines, "time": time, "who": [text]}));
        let gist = prop_oneof![6 => gist, 1 => words().prop_map(Value::from)];
        let relation =
            (0..5_u32, words()).prop_map(|(from, kind)| json!({"from": from, "to": "E1", "kind": kind, "lines": [1]}));
        let fact = (words(), words()).prop_map(|(subject, quote)| {
            json!({"subject": subject, "predicate": "likes", "object": quote, "aspect": "work", "line": 1, "quote": quote})
        });
        let change = words().prop_map(|it| json!({"subject": it, "key": "state", "after": it, "line": 2}));
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
        fn what_is_read_of_the_beginning_of_a_reply_is_the_beginning_of_what_is_read_of_all(
            reply in reply(),
            is_pretty: bool,
            is_fenced: bool,
        ) {
            let json = if is_pretty { format!("{reply:#}") } else { reply.to_string() };
            let text = if is_fenced { format!("Notes:\n```json\n{json}\n```\n") } else { json };
            let whole = parse(&text).unwrap();
            prop_assert_eq!(&whole.cut, &None);
            let mut most = 0;
            for (end, _) in text.char_indices() {
                let Some(part) = parse(&text[..end]) else { continue };
                prop_assert!(whole.gists.starts_with(&part.gists));
                prop_assert!(whole.relations.starts_with(&part.relations));
                prop_assert!(whole.facts.starts_with(&part.facts));
                prop_assert!(whole.changes.starts_with(&part.changes));
                let items = part.gists.len() + part.relations.len() + part.facts.len() + part.changes.len();
                // Nothing that was complete is lost as the reply goes on.
                prop_assert!(items >= most);
                most = items;
            }
        }
    }

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
            // Cut: its first item may be no reply.
            r#"{"text": "A.", "lines": [1], "te"#,
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

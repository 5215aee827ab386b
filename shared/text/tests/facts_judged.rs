//! Precision of the facts of whole conversations, and the share of stated facts that are found.
//!
//! Every statement of three sets of this repository, of `data/plain_talk.txt` and of `data/passing_talk.txt` was judged
//! by reading. The judgements are in `data/judged.tsv`. For the last two files, the test also counts how many of the
//! facts that a reader takes are stated.
//!
//! The statements must be exactly those that the file marks as right or wrong; each change fails the test and is
//! printed. For a new statement, read its turn, judge it, and add the line. If a right statement is no longer made,
//! mark it as lost; delete a wrong one. Facts that a reader takes and no rule states must be exactly those of the
//! snapshot.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::{DateTime, NaiveDateTime};
use serde_json::Value;
use text::facts::{Statement, Subject, Telling, stated_in_reply};

const JUDGED: &str = include_str!("data/judged.tsv");
const PLAIN: &str = include_str!("data/plain_talk.txt");
const PASSING: &str = include_str!("data/passing_talk.txt");
const LATER: &str = include_str!("data/later_talk.txt");

#[test]
fn statements_are_exactly_those_that_were_judged() {
    let judged: BTreeMap<&str, &str> = JUDGED
        .lines()
        .filter_map(|it| it.split_once('\t'))
        .map(|(mark, line)| (line, mark))
        .collect();
    let known = |mark: &str| matches!(mark, "right" | "wrong" | "lost");
    assert!(
        judged.values().all(|it| known(it)),
        "a line begins with right, wrong or lost"
    );
    let found = found();
    let stands = |line: &str| judged.get(line).is_some_and(|it| *it != "lost");
    let new = found.iter().map(String::as_str).filter(|it| !stands(it));
    let gone = judged
        .iter()
        .filter(|(line, mark)| **mark != "lost" && !found.contains(**line));
    let changes: Vec<String> = new
        .map(|it| format!("new\t{it}"))
        .chain(gone.map(|(line, mark)| format!("gone\t{mark}\t{line}")))
        .collect();
    assert!(
        changes.is_empty(),
        "{} changes to judge:\n{}",
        changes.len(),
        changes.join("\n")
    );
}

fn found() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut out = BTreeSet::new();
    for set in ["train/data/corpus", "eval/data/house", "eval/data/casual"] {
        let lines = std::fs::read_to_string(root.join(set).join("conversations.jsonl")).unwrap();
        for line in lines.lines() {
            talk(&serde_json::from_str(line).unwrap(), &mut out);
        }
    }
    for (name, talks) in [("plain", PLAIN), ("passing", PASSING), ("later", LATER)] {
        for (number, turn) in talk_turns(talks).iter().enumerate() {
            let place = format!("{name}/{}", number + 1);
            add(&place, &turn.telling(), turn.question, &mut out);
        }
    }
    out
}

fn talk(talk: &Value, out: &mut BTreeSet<String>) {
    let speakers: Vec<&str> = list(&talk["speakers"]).filter_map(Value::as_str).collect();
    let name = talk["conversation_id"].as_str().unwrap();
    let mut before = None;
    for turn in list(&talk["turns"]) {
        let text = |name: &str| turn[name].as_str().unwrap_or_default();
        let time: NaiveDateTime = text("timestamp").parse().unwrap();
        let other = speakers
            .iter()
            .find(|it| speakers.len() == 2 && **it != text("speaker"));
        let telling = Telling {
            text: text("text"),
            speaker: text("speaker"),
            addressee: other.copied().unwrap_or_default(),
            observed_at: time.and_utc().fixed_offset(),
        };
        add(
            &format!("{name}/{}", text("id")),
            &telling,
            asked(before, telling.speaker),
            out,
        );
        before = Some((telling.speaker, telling.text));
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the question of another speaker that a turn answers: one of the last three sentences of the turn before it.
fn asked<'a>(before: Option<(&str, &'a str)>, speaker: &str) -> &'a str {
    let Some((_, text)) = before.filter(|it| it.0 != speaker) else {
        return "";
    };
    let sentences = text::split_sentences(text);
    let last = sentences.into_iter().rev().take(3).find(|it| text::ends_asking(it));
    last.unwrap_or_default()
}

fn add(place: &str, telling: &Telling<'_>, question: &str, out: &mut BTreeSet<String>) {
    out.extend(
        stated_in_reply(telling, question)
            .iter()
            .map(|it| format!("{place}\t{}", shown(it, telling.speaker))),
    );
}

fn shown(it: &Statement, speaker: &str) -> String {
    let subject = match &it.subject {
        Subject::Speaker => speaker.to_owned(),
        Subject::Phrase(phrase) => format!("{speaker}: {phrase}"),
        Subject::Name(name) => name.clone(),
    };
    let since = it.since.as_ref().map(|it| format!(" since {}", it.start.date_naive()));
    let until = it.until.map(|it| format!(" until {}", it.date_naive()));
    let (since, until) = (since.unwrap_or_default(), until.unwrap_or_default());
    let ended = if it.ended { " ended" } else { "" };
    format!("[{subject}] {} | {}{since}{until}{ended}", it.predicate, it.object)
}

/// A fact that a reader takes from a turn.
struct Taken {
    whom: Vec<String>,
    words: BTreeSet<String>,
    positive: bool,
    ended: bool,
}

/// One turn of a conversation and the facts that a reader takes from it.
struct Turn {
    speaker: &'static str,
    addressee: &'static str,
    text: &'static str,
    question: &'static str,
    taken: Vec<&'static str>,
}

#[test]
fn facts_that_a_reader_takes_are_stated_except_those_in_the_snapshot() {
    let mut out = String::new();
    for (name, talks) in [("plain", PLAIN), ("passing", PASSING), ("later", LATER)] {
        let (mut all, mut missed) = (0, Vec::new());
        for turn in talk_turns(talks) {
            let statements = stated_in_reply(&turn.telling(), turn.question);
            for line in &turn.taken {
                all += 1;
                let taken = Taken::read(line);
                if !statements.iter().any(|it| taken.is(it, turn.speaker)) {
                    missed.push(format!("{line}\n    {}\n", turn.text));
                }
            }
        }
        assert!(all > missed.len(), "{name}: nothing is stated");
        out += &format!(
            "{name}: {} of {all} are stated, not:\n{}\n",
            all - missed.len(),
            missed.concat()
        );
    }
    insta::assert_snapshot!(out);
}

/// Returns the turns of conversations, which blank lines separate; the text before the first blank line describes the
/// file.
fn talk_turns(talks: &'static str) -> Vec<Turn> {
    talks.split("\n\n").skip(1).flat_map(turns).collect()
}

/// Reads a conversation: turns are `Name: text`, and lines that begin with a dash are the facts that a reader takes
/// from the turn before.
fn turns(talk: &'static str) -> Vec<Turn> {
    let mut out: Vec<Turn> = Vec::new();
    for line in talk.lines() {
        match (line.strip_prefix("- "), out.last_mut()) {
            (Some(taken), Some(last)) => last.taken.push(taken),
            _ => {
                let (speaker, text) = line.split_once(": ").unwrap();
                let others = talk.lines().filter(|it| !it.starts_with("- "));
                let mut others = others.filter_map(|it| it.split_once(": ")).map(|it| it.0);
                let addressee = others.find(|it| *it != speaker).unwrap();
                out.push(Turn {
                    speaker,
                    addressee,
                    text,
                    question: asked(out.last().map(|it| (it.speaker, it.text)), speaker),
                    taken: Vec::new(),
                });
            }
        }
    }
    out
}

impl Turn {
    fn telling(&self) -> Telling<'_> {
        Telling {
            text: self.text,
            speaker: self.speaker,
            addressee: self.addressee,
            observed_at: DateTime::parse_from_rfc3339("2024-06-03T09:00:00Z").unwrap(),
        }
    }
}

impl Taken {
    /// Reads "[name / name] predicate | object", then "not" or "ended".
    fn read(line: &str) -> Taken {
        let (whom, rest) = line.strip_prefix('[').unwrap().split_once("] ").unwrap();
        let (_, object) = rest.split_once(" | ").unwrap();
        let (object, ended) = object.strip_suffix(" ended").map_or((object, false), |it| (it, true));
        let (object, not) = object.strip_suffix(" not").map_or((object, false), |it| (it, true));
        Taken {
            whom: whom.split(" / ").map(str::to_lowercase).collect(),
            words: text::stem_words(object).into_iter().collect(),
            positive: !not,
            ended,
        }
    }

    /// Returns true if a statement has the same subject and all words of this fact.
    fn is(&self, it: &Statement, speaker: &str) -> bool {
        let whom = match &it.subject {
            Subject::Speaker => speaker,
            Subject::Phrase(whom) | Subject::Name(whom) => whom,
        };
        let words: BTreeSet<String> = text::stem_words(&format!("{} {}", it.predicate, it.object))
            .into_iter()
            .collect();
        self.whom.contains(&whom.to_lowercase())
            && it.positive == self.positive
            && it.ended == self.ended
            && self.words.is_subset(&words)
    }
}

//! Facts that sentences state, by the table in `data/facts.txt`.

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use text::facts::{Statement, Subject, Telling, statements_of_turn};

const TABLE: &str = include_str!("data/facts.txt");

#[test]
fn sentences_state_the_facts_of_the_table() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 120, "{} cases", cases.len());
    for (sentence, expected) in cases {
        let got: Vec<String> = statements_of_turn(&telling_of_sentence(sentence))
            .iter()
            .map(shown)
            .collect();
        if got != expected {
            wrong.push(format!("{sentence}\n  said  {expected:?}\n  found {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn turns_of_an_assistant_state_nothing() {
    for speaker in ["assistant", "Assistant-2", "tool", "AI"] {
        let telling = Telling {
            speaker,
            ..telling_of_sentence("> I live in Porto.")
        };
        assert_eq!(statements_of_turn(&telling), Vec::new(), "{speaker}");
    }
}

fn cases() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut out: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in TABLE.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        match (line.starts_with('['), out.last_mut()) {
            (true, Some(last)) => last.1.push(line),
            (true, None) => panic!("nothing said: {line}"),
            (false, _) => out.push((line, Vec::new())),
        }
    }
    out
}

fn telling_of_sentence(line: &str) -> Telling<'_> {
    let (speaker, addressee, text) = match line.split_once(' ') {
        Some((">", text)) => ("Nora", "Sam", text),
        Some(("@", text)) => ("user", "assistant", text),
        _ => panic!("no mark: {line}"),
    };
    Telling {
        text,
        speaker,
        addressee,
        observed_at: DateTime::<FixedOffset>::default() + Duration::from_secs(SAID_AT),
    }
}

/// 12 June 2024, 10:00 UTC.
const SAID_AT: u64 = 1_718_186_400;

fn shown(it: &Statement) -> String {
    let subject = match &it.subject {
        Subject::Speaker => "I".to_owned(),
        Subject::Phrase(phrase) => format!("\"{phrase}\""),
        Subject::Name(name) => name.clone(),
    };
    let mut line = format!("[{subject}] {} | {}", it.predicate, it.object);
    if let Some(since) = &it.since {
        line += &format!(" since {}", since.start.date_naive());
    }
    if let Some(until) = it.until {
        line += &format!(" until {}", until.date_naive());
    }
    for (mark, on) in [("ended", it.ended), ("not", !it.positive), ("corrects", it.corrects)] {
        if on {
            line += &format!(" {mark}");
        }
    }
    line
}

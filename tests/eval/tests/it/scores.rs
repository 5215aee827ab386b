//! Small cases that were computed by hand: which text counts as evidence, how ranks and budgets count, and the score
//! of an answer.

use eval::check::check_data;
use eval::data::{Conversation, DataSet, Question};
use eval::run_file::{Item, Line};
use eval::score::retrieval::Metrics;
use eval::score::summary::{ALL, bootstrap_interval, interval_of_mean, summarise_rows};
use eval::score::{Labels, porter, score_run};
use serde_json::{Value, json};

const KITE: &str = "I built a red kite called Swallow out of bamboo last Sunday.";
const SISTER: &str = "My sister runs a small repair shop for accordions in Graz.";

fn talk() -> Conversation {
    let turn = |id: &str, speaker: &str, text: &str| json!({ "id": id, "session": 1, "speaker": speaker, "text": text, "timestamp": "2026-05-04T10:00:00" });
    let mut picture = turn("t3", "Ada", "There!");
    picture["image_caption"] = json!("a photo of a yellow paper lantern");
    let turns = [
        turn("t1", "Ada", KITE),
        turn("t2", "Ben", SISTER),
        picture,
        turn("t4", "Ben", "I did!"),
    ];
    serde_json::from_value(json!({ "conversation_id": "c", "speakers": ["Ada", "Ben"], "turns": turns })).unwrap()
}

fn question(fields: Value) -> Question {
    let mut question = json!({
        "id": "q", "conversation_id": "c", "question": "?", "answer": "Swallow", "category": "plain",
        "evidence": ["t1"], "answerable": true,
    });
    question
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    serde_json::from_value(question).unwrap()
}

fn line(fields: Value) -> Line {
    let mut line = json!({ "question_id": "q" });
    line.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    serde_json::from_value(line).unwrap()
}

fn item(id: &str, text: &str) -> Value {
    serde_json::to_value(Item {
        turn_ids: vec![id.to_owned()],
        text: text.to_owned(),
    })
    .unwrap()
}

fn metrics(asked: Value, answer: Value) -> Metrics {
    let data = DataSet {
        conversations: vec![talk()],
        questions: vec![question(asked)],
    };
    score_run(&data, &[line(answer)], Labels::Clean)
        .unwrap()
        .remove(0)
        .metrics
}

fn check_number(metrics: &Metrics, name: &str, expected: f64) {
    let found = metrics[name];
    assert!((found - expected).abs() < 1e-9, "{name} is {found}, not {expected}");
}

#[test]
fn a_group_counts_once_in_a_ranking() {
    let ranked = [
        item("t4", "I did!"),
        item("t2", SISTER),
        item("t2", SISTER),
        item("t1", KITE),
    ];
    let found = metrics(json!({ "evidence": ["t1", "t2"] }), json!({ "ranked": ranked }));
    check_number(&found, "R@1", 0.0);
    check_number(&found, "R@3", 0.5);
    check_number(&found, "R@5", 1.0);
    check_number(&found, "MRR", 0.5);
    let gain = 1.0 / 3_f64.log2() + 1.0 / 5_f64.log2();
    check_number(&found, "nDCG@10", gain / (1.0 + 1.0 / 3_f64.log2()));
}

#[test]
fn one_turn_of_a_group_is_enough() {
    let groups = json!({ "evidence_groups": [["t1", "t4"], ["t2"]] });
    let found = metrics(groups, json!({ "ranked": [item("t1", KITE)] }));
    check_number(&found, "E@512", 0.5);
    check_number(&found, "all@512", 0.0);
}

#[test]
fn evidence_counts_only_if_the_text_contains_the_answer() {
    for (id, text, answer, carried) in [
        ("t1", KITE, "Swallow", 1.0),
        ("t1", "", "Swallow", 0.0),
        ("t1", "Swallow", "Swallow", 0.0),
        ("t1", "Ada: kite Swallow, bamboo, red, Sunday", "Swallow", 1.0),
        ("t2", KITE, "Swallow", 0.0),
        ("t3", "There!", "lantern", 0.0),
        ("t3", "There! [yellow paper lantern]", "lantern", 1.0),
        ("t4", "whatever", "lantern", 1.0),
    ] {
        let asked = json!({ "evidence": [id], "answer": answer });
        let found = metrics(asked, json!({ "ranked": [item(id, text)] }));
        assert_eq!(
            (found["E@512"], found["claimE@512"]),
            (carried, 1.0),
            "{id} by {text:?}"
        );
    }
}

#[test]
fn a_budget_is_counted_in_tokens_of_the_text() {
    let long = "word ".repeat(400);
    let ranked = json!({ "ranked": [item("t4", &long), item("t1", KITE)] });
    let found = metrics(json!({}), ranked.clone());
    let used = text::count_tokens(KITE) as f64 + 1.0;
    check_number(&found, "used@256", used);
    check_number(&found, "E@256", 1.0);
    check_number(&found, "prec@256", 1.0);
    check_number(&found, "used@512", used + text::count_tokens(&long) as f64 + 1.0);
    let mut own = ranked;
    own["packs"] = json!({ "256": [item("t4", &long), item("t1", KITE)] });
    check_number(&metrics(json!({}), own), "E@256", 0.0);
}

#[test]
fn answers_are_compared_by_stems() {
    for (category, gold, answer, worth) in [
        (4, "the running shoes", "Running shoe", 1.0),
        (4, "a red kite", "kite", 2.0 / 3.0),
        (4, "a red kite", "lantern", 0.0),
        (4, "a red kite", "No information available.", 0.0),
        (1, "kite, lantern", "a lantern, an accordion", 0.5),
        (3, "Yes; she likes heights", "yes", 1.0),
    ] {
        let asked = json!({ "category_id": category, "answer": gold });
        let found = metrics(asked, json!({ "answer": answer }));
        assert!(
            (found["answer"] - worth).abs() < 1e-9,
            "{answer:?} for {gold:?} is worth {}",
            found["answer"]
        );
    }
    let choice = json!({ "options": ["(a) kite", "(b) lantern"], "answer": "(b)" });
    assert_eq!(
        metrics(choice.clone(), json!({ "answer": "B) lantern" }))["answer"],
        1.0
    );
    assert_eq!(metrics(choice, json!({ "answer": "both" }))["answer"], 0.0);
}

#[test]
fn published_scores_use_answerable_questions_and_the_best_accepted_answer() {
    let asked = json!({ "answer": "a red kite called Swallow", "accept": ["the red kite"] });
    let found = metrics(asked.clone(), json!({ "answer": "Red kite" }));
    check_number(&found, "F1", 1.0);
    check_number(&found, "EM", 1.0);
    check_number(&found, "BLEU-1", (1.0_f64 - 3.0 / 2.0).exp());
    let refused = metrics(
        asked,
        json!({ "answer": "No information available.", "abstained": true }),
    );
    check_number(&refused, "F1", 0.0);
    check_number(&refused, "BLEU-1", 0.0);
    let unanswerable = json!({ "answer": "", "evidence": [], "answerable": false });
    let found = metrics(unanswerable, json!({ "abstained": true }));
    assert!(!found.contains_key("F1") && found["answer"] == 1.0, "{found:?}");
}

#[test]
fn intervals_are_reported_by_category_and_depend_on_the_seed() {
    let asked = |id: usize| {
        let mut question = question(json!({ "category": if id < 6 { "plain" } else { "odd" } }));
        question.id = id.to_string();
        question
    };
    let data = DataSet {
        conversations: vec![talk()],
        questions: (0..8).map(asked).collect(),
    };
    let line_of = |id: usize| Line {
        question_id: id.to_string(),
        answer: Some(if id.is_multiple_of(2) { "Swallow" } else { "Heron" }.to_owned()),
        ..Line::default()
    };
    let rows = score_run(&data, &(0..8).map(line_of).collect::<Vec<_>>(), Labels::Clean).unwrap();
    let drawn = |seed: u64| {
        let mut summary = summarise_rows(&rows);
        summary.add_intervals(&rows, &["F1", "BLEU-1"], seed);
        summary
    };
    let summary = drawn(7);
    let (low, high) = summary.category_intervals["plain"]["F1"];
    assert!(low < 0.5 && high > 0.5, "{low} to {high}");
    assert_eq!(summary.category_intervals["odd"].len(), 2);
    assert_eq!(summary, drawn(7));
    let of_forty = |seed: u64| interval_of_mean((0..40_i32).map(|it| ("c", f64::from(it).sqrt())), seed);
    assert_eq!(of_forty(7), of_forty(7));
    assert_ne!(of_forty(7), of_forty(8));
}

#[test]
fn refusals_are_scored_as_a_classification() {
    let conversations = vec![talk()];
    let asked = |id: &str, answerable: bool| {
        let gold = if answerable {
            json!({})
        } else {
            json!({ "answer": "", "evidence": [], "category": "none" })
        };
        let mut question = question(gold);
        question.id = id.to_owned();
        question.answerable = answerable;
        question
    };
    let questions = vec![asked("1", true), asked("2", true), asked("3", false), asked("4", false)];
    let data = DataSet {
        conversations,
        questions,
    };
    let line_of = |id: &str, abstained: bool| Line {
        question_id: id.to_owned(),
        abstained: Some(abstained),
        ..Line::default()
    };
    let rows = score_run(
        &data,
        &[
            line_of("1", true),
            line_of("2", false),
            line_of("3", true),
            line_of("4", false),
        ],
        Labels::Clean,
    );
    let rows = rows.unwrap();
    let summary = summarise_rows(&rows);
    let all = &summary.table[ALL];
    check_number(all, "refusal_P", 0.5);
    check_number(all, "refusal_R", 0.5);
    check_number(all, "refusal_F1", 0.5);
    check_number(all, "false_refusal_rate", 0.5);
    check_number(&summary.table["none"], "answer", 0.5);
    let (low, high) = bootstrap_interval(&rows, "answer", 7).unwrap();
    assert!(
        (0.0..0.25).contains(&low) && (0.25..=1.0).contains(&high),
        "{low} to {high}"
    );
}

#[test]
fn stems_match_those_of_published_scores() {
    for (word, stem) in [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "tie"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),
        ("enjoy", "enjoy"),
        ("relational", "relat"),
        ("radically", "radic"),
        ("geology", "geolog"),
        ("hopefully", "hope"),
        ("adoption", "adopt"),
        ("controlling", "control"),
        ("skies", "sky"),
        ("dying", "die"),
        ("Größe", "größe"),
        ("is", "is"),
    ] {
        assert_eq!(porter::stem_word(word), stem, "{word}");
    }
}

#[test]
fn an_invalid_data_set_is_reported_by_id() {
    let mut talk = talk();
    talk.turns[3].id = "t1".into();
    talk.turns[3].timestamp = "2026-05-03T10:00:00".into();
    let missing = question(json!({ "evidence": ["t9"] }));
    let gold = question(json!({ "id": "r", "answerable": false }));
    let unborne = question(json!({ "id": "s", "evidence": ["t2"] }));
    let found = check_data(&DataSet {
        conversations: vec![talk],
        questions: vec![missing, gold, unborne],
    });
    let errors = found.errors.join("\n");
    assert_eq!(
        errors,
        "turn t1 of c: its id stands twice\n\
         turn t1 of c: it is earlier than the turn before it\n\
         question q: its conversation has no turn t9\n\
         question r: it is not answerable and has an answer or evidence"
    );
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
}

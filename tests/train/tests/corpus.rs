//! Checks the format and the balance of the corpus, and that the shipped weights come from it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use eval::check::check_data;
use eval::data::DataSet;
use eval::score::Row;
use eval::score::retrieval::Metrics;
use router::route::scoring::heads::Weights;
use train::data_digest::digest_of_folder;
use train::fit::{Case, fit_weights};
use train::interval::bootstrap_interval;
use train::poured::measure_channels;

fn corpus_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read_corpus() -> DataSet {
    DataSet::read(&corpus_path("data/corpus")).unwrap()
}

#[test]
fn the_corpus_has_no_format_errors() {
    let errors = check_data(&read_corpus()).errors;
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn the_corpus_is_broad_enough() {
    let data = read_corpus();
    let settings: BTreeSet<_> = data.conversations.iter().map(|it| it.split.clone()).collect();
    assert!(data.conversations.len() >= 36 && settings.len() >= 12, "{settings:?}");
    let unanswerable = data.questions.iter().filter(|it| !it.answerable).count();
    assert!(data.questions.len() >= 1_500 && unanswerable * 4 >= data.questions.len());
    for conversation in &data.conversations {
        assert!(
            (60..=200).contains(&conversation.turns.len()),
            "{}",
            conversation.conversation_id
        );
    }
}

#[test]
fn the_corpus_shares_no_sentence_with_the_evaluation_sets() {
    let sentences_of = |data: &DataSet| -> BTreeSet<String> {
        let texts = data
            .conversations
            .iter()
            .flat_map(|it| &it.turns)
            .map(|it| it.text.to_lowercase());
        texts.filter(|it| it.split_whitespace().count() > 4).collect()
    };
    for set in ["../eval/data/house", "../eval/data/long"] {
        let data = DataSet::read(&corpus_path(set)).unwrap();
        let both: Vec<String> = sentences_of(&read_corpus())
            .intersection(&sentences_of(&data))
            .cloned()
            .collect();
        assert!(both.is_empty(), "{both:?}");
        assert!(
            check_data(&data).errors.is_empty(),
            "{set}: {:#?}",
            check_data(&data).errors
        );
    }
}

#[test]
fn questions_of_one_conversation_differ() {
    let mut met: BTreeMap<(String, String), String> = BTreeMap::new();
    for question in read_corpus().questions {
        let key = (question.conversation_id.clone(), question.question.to_lowercase());
        let twin = met.insert(key, question.id.clone());
        assert!(twin.is_none(), "{} asks what {twin:?} asks", question.id);
    }
}

#[test]
fn the_shipped_weights_come_from_this_corpus() {
    let digest = digest_of_folder(&corpus_path("data/corpus")).unwrap();
    for name in ["corpus-6.json", "corpus-6-encoder.json"] {
        let file = std::fs::read_to_string(corpus_path("../../services/router/weights").join(name)).unwrap();
        let weights: serde_json::Value = serde_json::from_str(&file).unwrap();
        assert_eq!(
            weights["about"]["data"], digest,
            "{name}: train again: see docs/EVALUATION.md"
        );
    }
}

#[test]
fn the_channel_ablation_reports_the_loss_without_each_channel() {
    let mut data = DataSet::read(&corpus_path("../eval/data/long")).unwrap();
    data.questions.retain(|it| it.answerable);
    data.questions = data.questions.into_iter().step_by(60).collect();
    let findings = measure_channels(data, Weights::builtin().unwrap()).unwrap();
    assert_eq!(findings.len(), 16, "packed and proposed, of eight channels");
    let of = |what: &str| findings.iter().find(|it| it.what == what).unwrap();
    let (vectors, packed) = (of("without Semantic, proposed"), of("without Semantic, packed"));
    assert!(
        vectors.packed < vectors.whole,
        "vectors propose what no other channel does"
    );
    assert!(
        packed.whole > 0.3 && packed.whole <= vectors.whole,
        "a pack shows what is proposed"
    );
}

#[test]
fn a_fit_finds_the_deciding_feature_and_is_repeatable() {
    let case = |number: usize| {
        let row = |at: usize| vec![f32::from(u8::from(at == number % 5)), (at * number % 7) as f32, 1.0];
        Case {
            rows: (0..5).map(row).collect(),
            gold: (0..5).map(|at| f64::from(u8::from(at == number % 5))).collect(),
            weight: 1.0,
        }
    };
    let cases: Vec<Case> = (0..40).map(case).collect();
    let weights = fit_weights(&cases, 0.01).unwrap();
    assert!(
        weights[0] > 10.0 * weights[1].abs() && weights[2].abs() < 1e-6,
        "{weights:?}"
    );
    assert_eq!(weights, fit_weights(&cases, 0.01).unwrap());
}

#[test]
fn an_interval_contains_the_mean_and_narrows_with_more_questions() {
    let row = |at: usize| Row {
        id: at.to_string(),
        conversation: (at % 3).to_string(),
        category: String::new(),
        answerable: true,
        refused: false,
        answered: true,
        present: true,
        metrics: Metrics::from([("E@512".to_owned(), f64::from(u8::from(at.is_multiple_of(4))))]),
    };
    let few: Vec<Row> = (0..40).map(row).collect();
    let many: Vec<Row> = (0..400).map(row).collect();
    let width = |rows: &[Row]| {
        let (from, to) = bootstrap_interval(rows, "E@512").unwrap();
        assert!(from < 0.25 && 0.25 < to);
        to - from
    };
    assert!(width(&many) < width(&few) / 2.0);
    assert_eq!(bootstrap_interval(&few, "E@512"), bootstrap_interval(&few, "E@512"));
    assert_eq!(bootstrap_interval(&few, "ans@512"), None);
}

//! Compares the relations that the rules find with relations that were judged by reading. `docs/EVALUATION.md`
//! describes how they were judged.

use std::collections::BTreeMap;
use std::path::Path;

use crate::corpus::found;

/// A file with one relation per line: `right` or `wrong`, grain and kind, key.
const JUDGED: &str = "tests/data/judged.tsv";

#[test]
fn relations_are_as_precise_as_when_they_were_judged() {
    let judged = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(JUDGED)).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let sets = ["eval/data/house", "train/data/corpus"].map(|it| root.join(it).join("conversations.jsonl"));
    let all = sets.iter().flat_map(|it| found(it).unwrap());
    let present: BTreeMap<(String, String), String> = all.map(|it| ((it.kind, it.key), it.texts)).collect();
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut lost, mut held) = (0, 0);
    for line in judged.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let right = fields[0] == "right";
        if !present.contains_key(&(fields[1].to_owned(), fields[2].to_owned())) {
            lost += usize::from(right);
            continue;
        }
        held += 1;
        let kind = kinds.entry(fields[1].split(' ').next_back().unwrap()).or_default();
        kind.0 += usize::from(right);
        kind.1 += 1;
    }
    let right: usize = kinds.values().map(|it| it.0).sum();
    assert!(
        held >= 180 && lost <= 10,
        "{held} judged relations are still found, {lost} right ones are not"
    );
    assert!(right * 100 >= held * 85, "{right} of {held} are right: {kinds:?}");
    for (kind, (right, all)) in &kinds {
        assert!(*all < 4 || right * 10 >= all * 7, "{kind}: {right} of {all} are right");
    }
}

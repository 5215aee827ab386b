use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

fn filter(json: Value) -> Filter {
    serde_json::from_value(json).unwrap()
}

fn takes(metadata: Value) -> bool {
    let record_metadata = BTreeMap::from([
        ("lang".to_owned(), "de".to_owned()),
        ("pages".to_owned(), "12".to_owned()),
        ("due".to_owned(), "2026-05-07T18:30:00+02:00".to_owned()),
    ]);
    filter(json!({ "metadata": metadata })).matches_labels(&[], &record_metadata)
}

#[test]
fn every_operator_handles_present_and_missing_values() {
    for (metadata, expected) in [
        (json!({"key": "lang", "eq": "de"}), true),
        (json!({"key": "lang", "eq": "DE"}), false),
        (json!({"key": "pages", "eq": 12}), true),
        (json!({"key": "missing", "eq": "de"}), false),
        (json!({"key": "lang", "ne": "en"}), true),
        (json!({"key": "lang", "ne": "de"}), false),
        (json!({"key": "missing", "ne": "de"}), true),
        (json!({"key": "lang", "in": ["en", "de"]}), true),
        (json!({"key": "lang", "in": []}), false),
        (json!({"key": "missing", "in": ["de"]}), false),
        (json!({"key": "lang", "nin": ["en", "fr"]}), true),
        (json!({"key": "lang", "nin": ["de"]}), false),
        (json!({"key": "missing", "nin": ["de"]}), true),
        (json!({"key": "pages", "gt": 9}), true),
        (json!({"key": "pages", "gt": 12}), false),
        (json!({"key": "pages", "gte": 12.0}), true),
        (json!({"key": "pages", "lt": "100"}), true),
        (json!({"key": "pages", "lte": 11.5}), false),
        (json!({"key": "missing", "lte": 11.5}), false),
        (json!({"key": "due", "gt": "2026-05-07T16:00:00Z"}), true),
        (json!({"key": "due", "lt": "2026-05-07T16:00:00Z"}), false),
        (json!({"key": "due", "gte": "2026-05-07T16:30:00Z"}), true),
        (json!({"key": "lang", "gt": "da"}), false),
        (json!({"key": "pages", "lt": "2026-05-07T16:00:00Z"}), false),
        (json!({"key": "due", "contains": "05-07"}), true),
        (json!({"key": "lang", "contains": "D"}), false),
        (json!({"key": "missing", "contains": "a"}), false),
        (json!({"key": "lang", "exists": true}), true),
        (json!({"key": "lang", "exists": false}), false),
        (json!({"key": "missing", "exists": true}), false),
        (json!({"key": "missing", "exists": false}), true),
        (json!({"key": "pages", "gt": 9, "lt": 20}), true),
        (json!({"key": "pages", "gt": 9, "lt": 10}), false),
    ] {
        assert_eq!(takes(metadata.clone()), expected, "{metadata}");
        assert_eq!(takes(json!({"not": metadata})), !expected, "not {metadata}");
    }
}

#[test]
fn and_or_and_not_combine_conditions() {
    let (yes, no) = (json!({"key": "lang", "eq": "de"}), json!({"key": "lang", "eq": "en"}));
    for (metadata, expected) in [
        (json!({"and": [yes, yes]}), true),
        (json!({"and": [yes, no]}), false),
        (json!({"or": [no, yes]}), true),
        (json!({"or": [no, no]}), false),
        (json!({"and": [yes, {"not": {"or": [no, {"and": [yes, no]}]}}]}), true),
    ] {
        assert_eq!(takes(metadata.clone()), expected, "{metadata}");
    }
}

#[test]
fn tags_are_filtered_by_any_all_and_none() {
    let tags = ["home", "work"].map(str::to_owned);
    for (wanted, expected) in [
        (json!({}), true),
        (json!({"any": ["work", "draft"]}), true),
        (json!({"any": ["Work"]}), false),
        (json!({"all": ["home", "work"]}), true),
        (json!({"all": ["home", "draft"]}), false),
        (json!({"none": ["draft"]}), true),
        (json!({"none": ["draft", "home"]}), false),
        (json!({"any": ["home"], "all": ["work"], "none": ["draft"]}), true),
    ] {
        let filter = filter(json!({ "tags": wanted }));
        assert_eq!(filter.matches_labels(&tags, &BTreeMap::new()), expected, "{wanted}");
    }
    let filter = filter(json!({"tags": {"any": ["home"]}}));
    assert!(!filter.matches_labels(&[], &BTreeMap::new()));
}

/// Returns all conditions of up to three levels over two comparisons.
fn small_conditions() -> Vec<Condition> {
    let compared = |key: &str| {
        let (key, test) = (key.to_owned(), Test::Eq("1".to_owned()));
        Condition::Compare(Comparison { key, test })
    };
    let mut all = vec![compared("a"), compared("b")];
    for _ in 0..2 {
        let known = all.clone();
        all.extend(known.iter().map(|it| Condition::Not(Box::new(it.clone()))));
        for pair in known
            .iter()
            .flat_map(|a| known.iter().map(move |b| vec![a.clone(), b.clone()]))
        {
            all.push(Condition::And(pair.clone()));
            all.push(Condition::Or(pair));
        }
    }
    all
}

#[test]
fn conditions_obey_the_laws_of_logic() {
    let not = |it: Condition| Condition::Not(Box::new(it));
    for it in small_conditions() {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let holds = |comparison: &Comparison| if comparison.key == "a" { a } else { b };
            let value = it.evaluate_with(&holds);
            assert_eq!(not(not(it.clone())).evaluate_with(&holds), value, "not not {it:?}");
            let turned = match &it {
                Condition::And(all) => Condition::Or(all.iter().cloned().map(not).collect()),
                Condition::Or(some) => Condition::And(some.iter().cloned().map(not).collect()),
                Condition::Not(_) | Condition::Compare(_) => continue,
            };
            assert_eq!(turned.evaluate_with(&holds), !value, "de Morgan on {it:?}");
        }
    }
}

#[test]
fn a_filter_serialises_to_the_json_it_was_read_from() {
    for json in [
        json!({}),
        json!({"tags": {"any": ["a"], "none": ["b"]}}),
        json!({"metadata": {"and": [{"key": "a", "in": ["1", "2"]}, {"not": {"key": "b", "exists": true}}]}}),
        json!({"metadata": {"or": [{"key": "a", "lte": "3"}]}}),
    ] {
        assert_eq!(serde_json::to_value(filter(json.clone())).unwrap(), json);
    }
}

#[test]
fn malformed_filters_are_rejected() {
    for (json, expected) in [
        (json!({"tag": {}}), "unknown field `tag`"),
        (json!({"tags": {"some": []}}), "unknown field `some`"),
        (json!({"metadata": {"key": "a"}}), "names the key `a` without a test"),
        (
            json!({"metadata": {"eq": "a"}}),
            "has no `key` and none of `and`, `or` and `not`",
        ),
        (
            json!({"metadata": {}}),
            "has no `key` and none of `and`, `or` and `not`",
        ),
        (json!({"metadata": {"key": "a", "like": "b"}}), "unknown field `like`"),
        (json!({"metadata": {"and": [], "or": []}}), "in more than one way"),
        (
            json!({"metadata": {"not": {"key": "a", "eq": "b"}, "key": "a", "eq": "b"}}),
            "in more than one way",
        ),
        (
            json!({"metadata": {"key": "a", "eq": ["b"]}}),
            "expected a text, a number, true or false",
        ),
        (json!({"metadata": ["a"]}), "expected a condition"),
        (json!({"tags": [["a"]]}), "expected an object"),
    ] {
        let error = serde_json::from_value::<Filter>(json.clone()).unwrap_err().to_string();
        assert!(error.contains(expected), "{json}: {error}");
    }
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({"key": "a", "eq": "b"}), |inner, _| json!({ "not": inner }))
}

#[test]
fn filters_beyond_a_limit_are_rejected() {
    let one = json!({"key": "a", "eq": "b"});
    for (json, expected) in [
        (json!({"metadata": {"and": vec![one.clone(); 64]}}), ""),
        (
            json!({"metadata": {"and": vec![one.clone(); 1_000]}}),
            "filter.metadata: has 1000 comparisons, more than 64",
        ),
        (json!({"metadata": nested(8)}), ""),
        (
            json!({"metadata": {"or": [one, nested(8)]}}),
            "filter.metadata.or[1].not.not.not.not.not.not.not: is nested more than 8 levels deep",
        ),
        (
            json!({"metadata": {"and": []}}),
            "filter.metadata.and: is empty; leave it out instead",
        ),
        (
            json!({"metadata": {"key": "a", "in": vec!["b"; 101]}}),
            "filter.metadata.in: has 101 entries, more than 100",
        ),
        (
            json!({"metadata": {"key": "a".repeat(65), "eq": "b"}}),
            "filter.metadata.key: has 65 bytes, more than 64",
        ),
        (
            json!({"metadata": {"key": "", "eq": "b"}}),
            "filter.metadata.key: is empty",
        ),
        (
            json!({"metadata": {"key": "a", "nin": ["b", "c".repeat(1_025)]}}),
            "filter.metadata.nin[1]: has 1025 bytes, more than 1024",
        ),
        (json!({"tags": {"any": vec!["a"; 100]}}), ""),
        (
            json!({"tags": {"any": vec!["a"; 101]}}),
            "filter.tags.any: has 101 entries, more than 100",
        ),
        (
            json!({"tags": {"none": ["a".repeat(10_240)]}}),
            "filter.tags.none[0]: has 10240 bytes, more than 128",
        ),
        (
            json!({"tags": {"all": ["a", " "]}}),
            "filter.tags.all[1]: is empty; leave it out instead",
        ),
    ] {
        let checked = filter(json).check_limits("filter");
        assert_eq!(checked.err().unwrap_or_default(), expected);
    }
    assert!(
        filter(json!({ "metadata": nested(50) }))
            .check_limits("filter")
            .is_err()
    );
}

#[test]
fn tags_of_a_record_are_checked_sorted_and_deduplicated() {
    let given = |tags: &[&str]| checked_tags("tags", tags.iter().map(|it| (*it).to_owned()).collect());
    assert_eq!(given(&["work", "home", "work"]).unwrap(), ["home", "work"]);
    let many: Vec<String> = (0..33).map(|it| it.to_string()).collect();
    assert_eq!(
        checked_tags("tags", many).unwrap_err(),
        "tags: has 33 tags, more than 32"
    );
    assert_eq!(
        given(&["a", ""]).unwrap_err(),
        "tags[1]: is empty; leave it out instead"
    );
    assert_eq!(
        given(&["a\nb"]).unwrap_err(),
        "tags[0]: holds the control character U+000A"
    );
    let long = "ä".repeat(65);
    assert_eq!(
        given(&[long.as_str()]).unwrap_err(),
        "tags[0]: has 130 bytes, more than 128"
    );
}

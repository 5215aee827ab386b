//! Checks relations between gists that a language model read.

use chrono::{DateTime, Utc};
use domain::id::{ReadingId, RecordId, UnitId};
use domain::reading::{LeftOut, Reading};
use domain::relation::{Relation, RelationKind};
use domain::time::{Precision, TimeSpan};

use crate::reading::checks::gists::Gist;
use crate::reading::checks::passage_content::Ground;
use crate::reading::lines::to_visible_line;
use crate::reading::replies::left_out::left_out_of;
use crate::reading::replies::reply::{End, UncheckedRelation};

/// Weight of a relation.
const WEIGHT: f32 = 0.7;
/// Maximum length of a label, in bytes.
const LABEL_BYTES_MAX: usize = 40;
/// The kinds of relations with fixed names.
const KINDS: [(&str, RelationKind); 10] = [
    ("causes", RelationKind::Causes),
    ("motivates", RelationKind::Motivates),
    ("enables", RelationKind::Enables),
    ("follows_up", RelationKind::FollowsUp),
    ("before", RelationKind::Before),
    ("contrasts", RelationKind::Contrasts),
    ("part_of", RelationKind::PartOf),
    ("parallel", RelationKind::Parallel),
    ("elaborates", RelationKind::Elaborates),
    ("same_as", RelationKind::SameAs),
];

/// Returns the name of the kind of a relation as a language model uses it: the fixed name, or the label.
pub(crate) fn kind_name(relation: &Relation) -> &str {
    let fixed = KINDS.iter().find(|it| it.1 == relation.kind);
    fixed.map_or(relation.label.as_str(), |it| it.0)
}

/// An existing end of a relation.
#[derive(Clone, Copy)]
struct RelationEnd<'a> {
    unit: UnitId,
    /// The gist, if it belongs to this reading.
    gist: Option<&'a Gist>,
}

/// Returns the accepted relations, in the order of the reply.
pub(crate) fn check_relations(
    reading: &Reading,
    ground: &Ground<'_>,
    gists: &[Gist],
    unchecked: &[UncheckedRelation],
    left_out: &mut Vec<LeftOut>,
) -> Vec<Relation> {
    let mut out: Vec<Relation> = Vec::new();
    for unchecked in unchecked {
        let is_known = |it: &Relation, new: &Relation| {
            (it.source, it.target, it.kind) == (new.source, new.target, new.kind) && it.label == new.label
        };
        match check_relation(reading, ground, gists, unchecked) {
            Ok(new) if out.iter().any(|it| is_known(it, &new)) => {
                left_out.push(left_out_of(&describe_relation(unchecked), "it is given twice"))
            }
            Ok(new) => out.push(new),
            Err(why) => left_out.push(left_out_of(&describe_relation(unchecked), why)),
        }
    }
    out
}

fn describe_relation(unchecked: &UncheckedRelation) -> String {
    let end = |it: &End| match it {
        End::Number(number) => number.to_string(),
        End::Label(label) => to_visible_line(label),
    };
    format!(
        "{} {} {}",
        end(&unchecked.from),
        to_visible_line(&unchecked.kind),
        end(&unchecked.to)
    )
}

fn check_relation(
    reading: &Reading,
    ground: &Ground<'_>,
    gists: &[Gist],
    unchecked: &UncheckedRelation,
) -> Result<Relation, &'static str> {
    let found = |end| find_end(reading, gists, end).ok_or("an end of it does not exist or was left out");
    let (source, target) = (found(&unchecked.from)?, found(&unchecked.to)?);
    if source.unit == target.unit {
        return Err("it leads to itself");
    }
    if source.gist.is_none() && target.gist.is_none() {
        return Err("both of its ends are in earlier passages");
    }
    let (kind, label) = parse_kind(&unchecked.kind).ok_or("its kind is not a label")?;
    let runs_with_time = matches!(
        kind,
        RelationKind::Causes | RelationKind::FollowsUp | RelationKind::Before
    );
    if runs_with_time && is_reversed(times_of_end(source), times_of_end(target)) {
        return Err("it contradicts the times of its ends");
    }
    Ok(Relation {
        source: source.unit,
        target: target.unit,
        kind,
        label,
        weight: WEIGHT,
        evidence: evidence_records(ground, unchecked, [source, target]),
    })
}

/// Returns the gist, of this reading or an earlier one, that an end refers to.
fn find_end<'a>(reading: &Reading, gists: &'a [Gist], end: &End) -> Option<RelationEnd<'a>> {
    let number = match end {
        End::Number(number) => *number,
        End::Label(label) => match label.trim().strip_prefix(['E', 'e']) {
            Some(number) => return find_earlier_end(reading, number),
            None => label.trim().parse().ok()?,
        },
    };
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    let gist = gists.iter().find(|it| it.place == place)?;
    Some(RelationEnd {
        unit: gist.unit.id,
        gist: Some(gist),
    })
}

fn find_earlier_end<'a>(reading: &Reading, number: &str) -> Option<RelationEnd<'a>> {
    let place = number.parse::<usize>().ok()?.checked_sub(1)?;
    let gist = reading.earlier.get(place)?;
    Some(RelationEnd {
        unit: UnitId::of_gist(ReadingId::of_passage(gist.first), gist.number),
        gist: None,
    })
}

/// Returns the kind of a relation and its label: a known kind with an empty label, or a label in free words.
fn parse_kind(kind_name: &str) -> Option<(RelationKind, String)> {
    let lower = to_visible_line(kind_name).to_lowercase().replace([' ', '-'], "_");
    let lower = lower.trim_matches('_');
    if let Some((_, kind)) = KINDS.iter().find(|it| it.0 == lower) {
        return Some((*kind, String::new()));
    }
    let label = lower.replace('_', " ");
    let is_label = label.chars().all(|it| it.is_alphabetic() || it == ' ') && label.chars().any(char::is_alphabetic);
    (is_label && label.len() <= LABEL_BYTES_MAX).then_some((RelationKind::Other, label))
}

fn times_of_end(end: RelationEnd<'_>) -> &[TimeSpan] {
    end.gist.map(|it| it.unit.times.as_slice()).unwrap_or_default()
}

/// Returns true if both sides have times and the target is over before the source begins.
fn is_reversed(source: &[TimeSpan], target: &[TimeSpan]) -> bool {
    let dated = |it: &&TimeSpan| it.precision != Precision::Unknown;
    let starts = |it: &[TimeSpan]| -> Option<DateTime<Utc>> { it.iter().filter(dated).map(|it| it.start).min() };
    let ends = target.iter().filter(dated).map(|it| it.end).max();
    match (starts(source), starts(target), ends) {
        (Some(source), Some(target), Some(end)) => target < source && end <= source,
        _ => false,
    }
}

/// Returns the records of the lines that support a relation, or else those of its ends in this reading.
fn evidence_records(ground: &Ground<'_>, unchecked: &UncheckedRelation, ends: [RelationEnd<'_>; 2]) -> Vec<RecordId> {
    let cited = unchecked
        .lines
        .as_ref()
        .map(|it| ground.existing_line_numbers(&it.0))
        .unwrap_or_default();
    let mut out: Vec<RecordId> = ground.find_lines(&cited).map(|it| it.record.id).collect();
    if out.is_empty() {
        for record in ends.iter().filter_map(|it| it.gist).flat_map(|it| &it.unit.records) {
            if !out.contains(record) {
                out.push(*record);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use domain::reading::GistRef;
    use serde_json::{Value, json};

    use super::*;
    use crate::reading::derive::{DerivedFromReading, derive_from_reading};
    use crate::reading::example::{records_of_talk, rejection_reasons, sample_reading, sample_record};

    const TALK: [&str; 3] = [
        "Ann: The mill closed in May 2022.",
        "Ann: So I lost my job in June 2022.",
        "Ann: I like tea.",
    ];

    /// Returns the data derived from these relations between gists, one for each line; the third gist is rejected.
    fn derive_relations(relations: &[Value]) -> DerivedFromReading {
        let records = records_of_talk(&TALK);
        let gists = json!([
            {"text": "The mill closed.", "lines": [1], "time": "2022-05"},
            {"text": "Ann lost her job.", "lines": [2], "time": "2022-06"},
            {"text": "Ann likes tea with Klaus Meyer.", "lines": [3]},
        ]);
        let reading = Reading {
            earlier: vec![earlier_gist_ref(7), earlier_gist_ref(8)],
            ..sample_reading(&records, &json!({"gists": gists, "relations": relations}).to_string())
        };
        let mut derived = derive_from_reading(&reading, &[], &records);
        assert_eq!(
            derived.left_out.remove(0).why,
            "it names a person or thing that is not in the passage"
        );
        derived
    }

    fn earlier_gist_ref(number: u16) -> GistRef {
        GistRef {
            first: sample_record(100, "Ann", "Hi.").id,
            number,
        }
    }

    fn relation_json(from: impl Into<Value>, kind: &str, to: impl Into<Value>) -> Value {
        json!({"from": from.into(), "to": to.into(), "kind": kind, "lines": [2]})
    }

    #[track_caller]
    fn assert_left_out(relation: Value, why: &str) {
        let derived = derive_relations(&[relation]);
        assert_eq!(rejection_reasons(&derived), [why]);
        assert!(derived.relations.is_empty());
    }

    #[test]
    fn a_relation_connects_two_gists_and_names_its_records() {
        let derived = derive_relations(&[relation_json(1, "causes", 2)]);
        let [it] = derived.relations.as_slice() else { panic!() };
        assert_eq!((it.source, it.target), (derived.units[0].id, derived.units[1].id));
        assert_eq!(
            (it.kind, it.label.as_str(), it.weight),
            (RelationKind::Causes, "", WEIGHT)
        );
        assert_eq!(it.evidence, [records_of_talk(&TALK)[1].id]);
    }

    #[test]
    fn a_relation_without_lines_is_supported_by_the_records_of_its_ends() {
        for lines in [json!([]), json!([9]), Value::Null] {
            let relation = json!({"from": 1, "to": "2", "kind": "causes", "lines": lines});
            let records = records_of_talk(&TALK);
            assert_eq!(
                derive_relations(&[relation]).relations[0].evidence,
                [records[0].id, records[1].id]
            );
        }
    }

    #[test]
    fn an_earlier_gist_is_named_by_its_label() {
        let derived = derive_relations(&[relation_json("E2", "same as", 2)]);
        let it = &derived.relations[0];
        let earlier = earlier_gist_ref(8);
        assert_eq!(
            it.source,
            UnitId::of_gist(ReadingId::of_passage(earlier.first), earlier.number)
        );
        assert_eq!((it.target, it.kind), (derived.units[1].id, RelationKind::SameAs));
        assert_left_out(
            relation_json("E1", "causes", "E2"),
            "both of its ends are in earlier passages",
        );
    }

    #[test]
    fn both_ends_must_exist_and_differ() {
        let missing = "an end of it does not exist or was left out";
        for to in [json!(0), json!(3), json!(4), json!("E3"), json!("E0"), json!("two")] {
            assert_left_out(relation_json(1, "causes", to), missing);
        }
        assert_left_out(relation_json(1, "parallel", 1), "it leads to itself");
    }

    #[test]
    fn an_unknown_kind_is_a_short_label() {
        let it = derive_relations(&[relation_json(1, "Repeats-the plan", 2)])
            .relations
            .remove(0);
        assert_eq!((it.kind, it.label.as_str()), (RelationKind::Other, "repeats the plan"));
        for kind in ["", "causes!", "a</x>", &"long ".repeat(9)] {
            assert_left_out(relation_json(1, kind, 2), "its kind is not a label");
        }
    }

    #[test]
    fn a_relation_may_not_contradict_the_times_of_its_ends() {
        for kind in ["causes", "follows_up", "before"] {
            assert_eq!(derive_relations(&[relation_json(1, kind, 2)]).relations.len(), 1);
            assert_left_out(relation_json(2, kind, 1), "it contradicts the times of its ends");
        }
        assert_eq!(
            derive_relations(&[relation_json(2, "elaborates", 1)]).relations.len(),
            1
        );
        assert_eq!(derive_relations(&[relation_json("E1", "before", 1)]).relations.len(), 1);
    }

    #[test]
    fn a_repeated_relation_is_rejected() {
        let derived = derive_relations(&[
            relation_json(1, "causes", 2),
            relation_json(1, "causes", 2),
            relation_json(1, "before", 2),
        ]);
        assert_eq!(derived.relations.len(), 2);
        assert_eq!(rejection_reasons(&derived), ["it is given twice"]);
    }
}

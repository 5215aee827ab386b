//! The anchors that the router reads from a question.

use domain::anchor::AnswerKind;
use router::route::query::Query;
use router::space::view::View;

use crate::talk::units;

#[test]
fn the_main_verb_follows_its_subject() {
    let view = View::from_units(units());
    let now = "2024-06-01T00:00:00Z".parse().unwrap();
    for (question, verb) in [
        ("What did Omar make?", "make"),
        ("What does Biscuit chase?", "chase"),
        ("Where is the bowl?", ""),
    ] {
        assert_eq!(
            Query::from_question(question, &view, now).anchors.action,
            verb,
            "{question}"
        );
    }
}

#[test]
fn the_subject_and_kind_of_questions_in_other_languages_are_read() {
    let mut units = units();
    units[1].actor = "小明".to_owned();
    let view = View::from_units(units);
    let now = "2024-06-01T00:00:00Z".parse().unwrap();
    for (question, kind, subject, bare) in [
        ("Wo ist Livs Hund?", AnswerKind::Where, "Liv", "Hund"),
        ("¿Dónde vive Omar?", AnswerKind::Where, "Omar", "vive"),
        ("小明住在哪里？", AnswerKind::Where, "小明", "住"),
        ("Where does Omar live?", AnswerKind::Where, "Omar", "Where does live"),
    ] {
        let anchors = Query::from_question(question, &view, now).anchors;
        assert_eq!(anchors.answer, kind, "{question}");
        assert_eq!(anchors.subjects, [subject], "{question}");
        assert_eq!(anchors.bare, bare, "{question}");
    }
}

//! Corrections that a speaker makes in words ("Sorry, I meant Braga.") of what he or she stated before.

use domain::anchor::AnswerKind::Where;

use crate::talk::Talk;

fn home_of_ann(lines: &str) -> String {
    Talk::new(lines).answer(Where, "Where does Ann live?")
}

#[test]
fn a_spoken_correction_replaces_the_value_before_it() {
    for (lines, expected) in [
        ("Ann: I live in Porto.\nAnn: Sorry, I meant Braga.", "Braga"),
        (
            "Ann: I live in Porto.\nBob: Lovely.\nAnn: Sorry, I meant Braga, not Porto.",
            "Braga",
        ),
        (
            "Ann: I live in Porto.\nAnn: Sorry, I meant Braga.\nAnn: No wait, it's Faro.",
            "Faro",
        ),
    ] {
        assert_eq!(home_of_ann(lines), expected, "{lines}");
    }
}

#[test]
fn both_lines_of_a_corrected_statement_support_the_answer() {
    let supports = |lines: &str| {
        let answered = Talk::new(lines).ask(Where, "Where does Ann live?");
        answered.answer.map(|it| it.external_ids).unwrap_or_default()
    };
    assert_eq!(
        supports("Ann: I live in Porto.\nAnn: Sorry, I meant Braga."),
        ["t1", "t2"]
    );
    assert_eq!(supports("Ann: I live in Porto.\nAnn: It rained."), ["t1"]);
}

#[test]
fn a_correction_of_something_else_changes_nothing() {
    for lines in [
        // Another speaker, another session, and another kind of value.
        "Ann: I live in Porto.\nBob: Sorry, I meant Braga.",
        "Ann: I live in Porto.\n\nAnn: Sorry, I meant Braga.",
        "Ann: I live in Porto.\nAnn: Sorry, I meant Tuesday.",
        "Ann: I live in Porto.\nAnn: Sorry, I meant Braga, not Faro.",
        "Ann: I live in Porto.\nAnn: It was Braga.",
    ] {
        assert_eq!(home_of_ann(lines), "Porto", "{lines}");
    }
}

#[test]
fn a_statement_that_a_correction_may_mean_is_left_out() {
    let talk = Talk::new("Ann: I live in Porto.\nBob: I live in Oslo.\nAnn: Sorry, I meant Braga.");
    assert_eq!(talk.answer(Where, "Where does Ann live?"), "refused");
    assert_eq!(talk.answer(Where, "Where does Bob live?"), "Oslo");
    let named = "Ann: I live in Porto.\nBob: I live in Oslo.\nAnn: Sorry, I meant Braga, not Porto.";
    assert_eq!(home_of_ann(named), "Braga");
}

#[test]
fn a_denial_that_may_answer_a_hidden_question_changes_nothing() {
    // The request hides Bob's turn "Is that dog called Rex?".
    assert_eq!(home_of_ann("Ann: I live in Porto.\nAnn: No, it's Fido."), "Porto");
    assert_eq!(
        home_of_ann("Ann: I live in Porto.\nBob: Lovely.\nAnn: Nope, it's Fido."),
        "Porto"
    );
    for corrected in [
        "Ann: I live in Porto.\nAnn: No, it's Braga, not Porto.",
        "Ann: I live in Porto.\nAnn: Sorry, it's Braga.",
        "Ann: I live in Porto.\nBob: Is that Porto?\nAnn: No, it's Braga.",
    ] {
        assert_eq!(home_of_ann(corrected), "Braga", "{corrected}");
    }
}

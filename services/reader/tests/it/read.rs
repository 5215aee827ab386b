//! Questions about small talks that were written for these tests: answers, refusals, and their reasons.

use domain::anchor::AnswerKind;
use domain::evidence::{ReasonCode, Sufficiency};

use crate::talk::{Talk, read};

fn friends() -> Talk {
    Talk::new(
        "@ 2024-03-14
         Nadia: Hey Tom! How was your week?
         Tom: Busy! I finally adopted a greyhound last Saturday. Her name is Pepper.
         Nadia: Congrats on the greyhound! You must be so happy.
         Tom: Thanks! What about you, any news?
         Nadia: I started a pottery class yesterday. I made a blue bowl for my sister.
         Tom: That sounds lovely. Your sister will adore it.

         @ 2024-04-02
         Tom: I don't eat meat any more, by the way.
         Nadia: Oh really? Why did you stop?
         Tom: I stopped because my doctor warned me about my heart.
         Nadia: Good for you. I moved to Lisbon in February, did I tell you?
         Tom: No! Do you like the city?
         Nadia: Yes, I love the trams, the river and the pastries.
         Tom: I played chess with my grandfather for three hours on Sunday.
         Nadia: Is Pepper fine? I have two parrots and a tortoise now.",
    )
}

#[test]
fn a_question_about_the_right_person_is_answered_and_one_about_another_is_refused() {
    let talk = friends();
    for (kind, question, right, wrong) in [
        (AnswerKind::When, "When did Tom adopt a greyhound?", "Tom", "Nadia"),
        (AnswerKind::Duration, "How long did Tom play chess?", "Tom", "Nadia"),
    ] {
        assert!(talk.ask(kind, question).answer.is_some(), "{question}");
        let swapped = question.replace(right, wrong);
        let refused = talk.ask(kind, &swapped);
        assert!(refused.answer.is_none(), "{swapped}: {:?}", refused.answer);
        assert_eq!(refused.verdict.status, Sufficiency::Insufficient);
        assert_eq!(refused.verdict.nearest[0].reason, "said_by_other", "{swapped}");
    }
}

#[test]
fn a_question_with_a_changed_detail_is_refused_and_the_detail_is_shown() {
    let talk = friends();
    let refused = talk.ask(AnswerKind::Who, "Who gets the crimson bowl that Nadia made?");
    assert!(refused.answer.is_none(), "{:?}", refused.answer);
    assert_eq!(refused.verdict.nearest[0].reason, "detail_differs");
    let reply = talk.ask(AnswerKind::Who, "Who gets the blue bowl that Nadia made?");
    assert_eq!(reply.verdict.code, Some(ReasonCode::NoShortAnswer), "not refused");
}

#[test]
fn times_are_answered_as_exactly_as_they_were_said() {
    let talk = friends();
    for (question, expected) in [
        ("When did Nadia start a pottery class?", "13 March 2024"),
        ("When did Tom adopt a greyhound?", "the Saturday before 14 March 2024"),
        ("When did Nadia move to Lisbon?", "February 2024"),
    ] {
        assert_eq!(talk.answer(AnswerKind::When, question), expected, "{question}");
    }
}

#[test]
fn a_time_answers_only_for_the_event_next_to_it() {
    let talk = Talk::new(
        "Nadia: I booked the ferry for the last week of June, and the landlord fixed the boiler on Saturday
         Tom: Good, I was cold when I visited.",
    );
    for (question, expected) in [
        ("When was the boiler fixed?", "9 March 2024"),
        (
            "When does the ferry leave that Nadia booked?",
            "the week of 24 June 2024",
        ),
    ] {
        assert_eq!(talk.answer(AnswerKind::When, question), expected, "{question}");
    }
}

#[test]
fn durations_and_counts_are_answered() {
    let talk = friends();
    assert_eq!(
        talk.answer(AnswerKind::Duration, "How long did Tom play chess?"),
        "three hours"
    );
    let counted = read(&talk.request(
        AnswerKind::Number,
        "How many parrots does Nadia have?",
        "parrots",
        "have",
    ));
    assert_eq!(counted.answer.unwrap().text, "two");
}

#[test]
fn later_values_replace_earlier_ones_and_equal_times_conflict() {
    let talk = Talk::new(
        "@ 2024-01-05
         Ines: I have four hens in the garden now.
         Leo: Lovely, fresh eggs!

         @ 2024-05-05
         Ines: I have six hens in the garden now.
         Leo: More eggs for me then.",
    );
    let question = "How many hens does Ines have in the garden?";
    let updated = read(&talk.request(AnswerKind::Number, question, "hens", "have"));
    assert_eq!(updated.answer.unwrap().text, "six");
    assert_eq!(updated.verdict.status, Sufficiency::Supported);
    assert!(
        updated.verdict.reasons[0].starts_with("updated"),
        "{:?}",
        updated.verdict.reasons
    );
    let mut same = talk.request(AnswerKind::Number, question, "hens", "have");
    let day = same.scenes[0].turns[0].observed_at;
    same.scenes
        .iter_mut()
        .flat_map(|it| &mut it.turns)
        .for_each(|it| it.observed_at = day);
    let conflicting = read(&same);
    assert_eq!(conflicting.verdict.status, Sufficiency::Conflicting);
    assert_eq!(conflicting.answer.unwrap().external_ids.len(), 2);
}

#[test]
fn questions_without_evidence_are_refused() {
    let talk = friends();
    let mut empty = talk.request(AnswerKind::Where, "Where did Nadia move?", "", "move");
    empty.scenes.clear();
    assert_eq!(read(&empty).verdict.status, Sufficiency::Insufficient);
    let absent = talk.ask(AnswerKind::WhatIs, "What was the verdict of the insurance tribunal?");
    assert!(absent.answer.is_none(), "{:?}", absent.answer);
    assert_eq!(absent.verdict.nearest[0].reason, "weak");
    assert!(talk.ask(AnswerKind::Other, "?").verdict.reasons.len() == 1);
}

#[test]
fn statements_about_others_count_in_groups_and_with_assistants() {
    let group = Talk::new(
        "Ana: Did you hear? Bruno won the chess tournament in Braga.
         Carla: Wow, well done Bruno! I only came sixth.
         Bruno: Thanks, the final took five hours.",
    );
    assert_eq!(
        group.answer(AnswerKind::Duration, "How long did the final of Bruno take?"),
        "five hours"
    );
    let help = Talk::new(
        "user: My router keeps losing the connection. What should I do?
         assistant: Update the firmware to version 4.2 and move the router away from the microwave.
         user: That fixed it, thanks. My office is in Ghent, can you note that?",
    );
    let office = help.ask(AnswerKind::Where, "Where is my office?");
    assert_eq!(office.verdict.code, Some(ReasonCode::NoShortAnswer), "not refused");
}

#[test]
fn questions_in_other_languages_do_not_panic() {
    let talk = Talk::new(
        "Lucía: ¿Qué hiciste ayer, Mateo?
         Mateo: Compré una bicicleta roja en Sevilla. ¡Estoy muy contento!
         Lucía: 我昨天在北京买了一辆自行车。",
    );
    for question in [
        "¿Dónde compró Mateo la bicicleta?",
        "Mateo 在哪里买了自行车？",
        "🚲?",
        "",
    ] {
        for kind in [
            AnswerKind::Where,
            AnswerKind::When,
            AnswerKind::YesNo,
            AnswerKind::Kind,
            AnswerKind::Other,
        ] {
            let _ = talk.ask(kind, question);
        }
    }
}

#[test]
fn equal_requests_get_equal_replies() {
    let talk = friends();
    let request = talk.request(AnswerKind::WhatDoes, "What did Tom do with his grandfather?", "", "do");
    let once = serde_json::to_string(&read(&request)).unwrap();
    assert!((0..5).all(|_| serde_json::to_string(&read(&request)).unwrap() == once));
}

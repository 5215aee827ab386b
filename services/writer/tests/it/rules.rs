use domain::record::{Modality, Record};
use domain::unit::Unit;

use crate::{call, record, talk};

fn last(records: &[Record]) -> Unit {
    writer::write_turn_units(records, &[records.len() - 1]).pop().unwrap()
}

#[test]
fn a_summary_has_a_date_its_speaker_and_its_own_words() {
    for (lines, expected) in [
        (
            vec![
                "Tom: Hi!",
                "Ana: I'm happy. I went to my dentist yesterday, and you really like it!",
            ],
            "[8 May 2023] Ana to Tom: I'm happy. I went to my dentist yesterday (7 May 2023), and you really like it!",
        ),
        (
            vec!["Ana: Where do you live, Tom?", "Tom: I've moved to Oslo."],
            "[8 May 2023] Tom to Ana: (asked: Where do you live, Tom?) I've moved to Oslo.",
        ),
        (
            vec!["Ana: Thank you! She said \"I am not you\" and you know why."],
            "[8 May 2023] Ana: Thank you! She said \"I am not you\" and you know why.",
        ),
        (
            vec!["Ana: Me gusta mucho, my amor"],
            "[8 May 2023] Ana: Me gusta mucho, my amor",
        ),
        (
            vec!["安娜: 我昨天去了奥斯陆。"],
            "[8 May 2023] 安娜: 我昨天 (7 May 2023)去了奥斯陆。",
        ),
    ] {
        assert_eq!(last(&talk(&lines)).summary, expected);
    }
}

#[test]
fn a_reply_has_its_question_and_its_addressee() {
    for (lines, addressee, question) in [
        (
            vec!["Ana: Did you see it?", "Tom: Yes, twice."],
            "Ana",
            "Did you see it?",
        ),
        (
            vec!["Ana: Did you see it?", "Ana: I did.", "Tom: Me too."],
            "Ana",
            "Did you see it?",
        ),
        (vec!["Ana: Did you see it?", "Tom: Did you?"], "Ana", ""),
        (vec!["Ana: Did you see it?", "Ana: I did."], "", ""),
        (
            vec!["Bo: Hello", "Ana: Tom, did you see it?", "Tom: I did."],
            "Ana",
            "Tom, did you see it?",
        ),
        (vec!["Tom: Hello", "Ana: Tom, did you see it?", "Bo: I did."], "Ana", ""),
        (vec!["Tom: Hello", "Bo: Hello", "Ana: Hey Tom! All well."], "Tom", ""),
        (
            vec!["Tom: Привет", "Bo: Как дела？", "Ana: Всё хорошо"],
            "Bo",
            "Как дела？",
        ),
    ] {
        let unit = last(&talk(&lines));
        assert_eq!(
            (unit.addressee.as_str(), unit.question.as_str()),
            (addressee, question),
            "{lines:?}"
        );
    }
}

#[test]
fn a_unit_has_people_a_place_an_action_and_cues() {
    let unit = last(&talk(&[
        "Tom: Hi",
        "Ana: Congrats, Tom! Last week I visited my sister Julia in New York. We baked sourdough bread on Monday.",
    ]));
    assert_eq!(unit.participants, ["Tom", "Julia", "New York"]);
    assert_eq!(unit.location, "New York");
    assert_eq!(unit.action, "visited my sister julia");
    assert_eq!(unit.tag, "sourdough bread");
    assert_eq!(
        unit.cues.join(" "),
        "congrats tom last week visited sister julia new york baked sourdough bread monday"
    );
    assert_eq!(unit.times.len(), 2);
    assert_eq!((unit.derived_by.as_str(), unit.step), (writer::RULES, None));
}

#[test]
fn an_image_is_represented_by_its_caption() {
    let image = Record {
        modality: Modality::Visual,
        image_caption: Some("a photo of a dog on a beach".to_owned()),
        ..record("talk", 1, "Ana", "")
    };
    let unit = last(&[image]);
    assert_eq!((unit.text.as_str(), unit.caption.as_str()), ("", "dog on a beach"));
    assert_eq!(unit.summary, "[8 May 2023] Ana: [image: dog on a beach]");
}

#[test]
fn an_action_shows_its_call_and_the_changes_it_made() {
    for (arguments, result, text, expected) in [
        (
            r#"{"order_id": "A7"}"#,
            r#"{"status": "shipped", "ok": true}"#,
            r#"act(order_id=A7) -> {"status": "shipped", "ok": true}"#,
            vec!["A7 status:  -> shipped"],
        ),
        (
            "{}",
            r#"{"changes": {"price": {"old": 4, "new": 5}}}"#,
            r#"act() -> {"changes": {"price": {"old": 4, "new": 5}}}"#,
            vec!["act price: 4 -> 5"],
        ),
        (
            "north",
            "You are in the kitchen. You take the brass key from the table.",
            "act(north) -> You are in the kitchen. You take the brass key from the table.",
            vec!["agent location:  -> kitchen", "brass key location: table -> agent"],
        ),
        (
            "",
            "health: 9 -> 7, food=3",
            "act() -> health: 9 -> 7, food=3",
            vec!["act health: 9 -> 7", "act food:  -> 3"],
        ),
        (
            "",
            "The front door is now open.",
            "act() -> The front door is now open.",
            vec!["front door state:  -> open"],
        ),
    ] {
        let unit = last(&[call(4, "act", arguments, result)]);
        assert_eq!(
            (unit.text.as_str(), unit.action.as_str(), unit.step),
            (text, "act", Some(4))
        );
        assert_eq!(changed(&unit), expected);
    }
}

#[test]
fn a_response_in_words_gives_step_place_and_state() {
    let unit = last(&talk(&[
        "agent: [step 3] goto(aisle B)",
        "environment: You are in aisle B. B1 now holds bag of rice x3. Carrying: copper pan x2. Battery 62.",
    ]));
    assert_eq!(
        (unit.step, unit.location.as_str(), unit.addressee.as_str()),
        (Some(3), "aisle B", "agent")
    );
    assert_eq!(
        changed(&unit),
        [
            "agent location:  -> aisle B",
            "B1 holds:  -> bag of rice x3",
            "agent carrying:  -> copper pan x2",
            "agent battery:  -> 62",
        ]
    );
}

fn changed(unit: &Unit) -> Vec<String> {
    let lines = unit
        .changes
        .iter()
        .map(|it| format!("{} {}: {} -> {}", it.subject, it.key, it.before, it.after));
    lines.collect()
}

#[test]
fn a_unit_is_the_same_in_any_sufficiently_wide_window() {
    let lines: Vec<String> = (0..60)
        .map(|it| format!("{}: Number {it}, is it {it}? It is.", ["Ana", "Tom", "Bo"][it % 3]))
        .collect();
    let records = talk(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let whole = writer::write_turn_units(&records, &(0..60).collect::<Vec<_>>());
    for at in 12..48 {
        assert_eq!(
            writer::write_turn_units(&records[at - 12..=at + 12], &[12])[0],
            whole[at]
        );
    }
}

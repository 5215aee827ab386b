//! Checks facts that a language model read in a line, and assigns them to gists.

use domain::fact::{Aspect, Stated};
use domain::reading::{LeftOut, Reading};
use domain::time::TimeSpan;
use text::role::{Role, role};

use super::derive::left_out_of;
use super::gists::{self, Draft, Gist};
use super::ground::{Ground, Line};
use super::lines::visible;
use super::reply::{Said, SaidFact};
use super::times;
use crate::act;

/// Maximum lengths of the parts of a fact, in bytes.
const SUBJECT_BYTES_MAX: usize = 80;
const PREDICATE_BYTES_MAX: usize = 40;
const OBJECT_BYTES_MAX: usize = 200;
/// Confidence of a fact that people state of themselves, of one stated of others, and of one that is only implied.
const OF_ONESELF: f32 = 0.9;
const OF_OTHERS: f32 = 0.8;
const IMPLIED: f32 = 0.6;
/// Confidence of a gist made from a fact.
const GIST_CONFIDENCE: f32 = 0.8;

/// Adds each accepted fact to the first gist from the same line. A fact whose line has no gist becomes a gist itself.
pub(super) fn attach(
    reading: &Reading,
    ground: &Ground<'_>,
    said: &Said,
    gists: &mut Vec<Gist>,
    left_out: &mut Vec<LeftOut>,
) {
    let mut made = Vec::new();
    for (place, fact) in (said.gists.len()..).zip(&said.facts) {
        let stated = match checked(ground, fact, left_out) {
            Ok(stated) => stated,
            Err(why) => {
                left_out.push(left_out_of(&words(fact), why));
                continue;
            }
        };
        match gists.iter_mut().find(|it| it.lines.contains(&fact.line)) {
            Some(gist) => gist.unit.stated.push(stated),
            None => made.extend(gist_of(reading, ground, fact.line, place, stated)),
        }
    }
    gists.extend(made);
}

/// Returns the words of a fact.
pub(super) fn words(fact: &SaidFact) -> String {
    visible(&format!("{} {} {}", fact.subject, fact.predicate, fact.object))
}

/// Returns a gist that contains only a fact.
fn gist_of(reading: &Reading, ground: &Ground<'_>, line: u64, place: usize, stated: Stated) -> Option<Gist> {
    let over = if stated.ended { " (no longer)" } else { "" };
    let draft = Draft {
        place,
        lines: vec![line],
        text: format!("{} {} {}{over}.", stated.subject, stated.predicate, stated.object),
        times: stated.since.iter().cloned().collect(),
        confidence: GIST_CONFIDENCE,
    };
    let mut gist = gists::unit(reading, ground, draft)?;
    gist.unit.stated.push(stated);
    Some(gist)
}

fn checked(ground: &Ground<'_>, fact: &SaidFact, left_out: &mut Vec<LeftOut>) -> Result<Stated, &'static str> {
    let line = ground.line(fact.line).ok_or("its line does not exist")?;
    if !line.quotes(&fact.quote) {
        return Err("its line does not have the words that it quotes");
    }
    let subject = part(&fact.subject, SUBJECT_BYTES_MAX)?;
    let predicate = part(&fact.predicate, PREDICATE_BYTES_MAX)?;
    let object = part(&fact.object, OBJECT_BYTES_MAX)?;
    let aspect = aspect(&fact.aspect).ok_or("its aspect is not known")?;
    if !may_state(line, aspect) {
        return Err("whoever says it states nothing");
    }
    let subject = match ground.actor(&subject) {
        Some(actor) => actor.to_owned(),
        None if ground.is_named(&subject) => subject,
        None => return Err("its subject is not in the passage"),
    };
    let since = time(line, fact.since.as_deref(), fact, left_out);
    let until = time(line, fact.until.as_deref(), fact, left_out);
    let spans: Vec<TimeSpan> = since.iter().chain(&until).cloned().collect();
    if !ground.holds(&object) || ground.unknown_number(&object, &[fact.line], &spans).is_some() {
        return Err("its object is not in the passage");
    }
    let (told_by, observed_at) = (&line.record.actor, line.record.observed_at);
    let ended = fact.holds == Some(false);
    let until = until.map(|it| match ended {
        true => it.end.min(observed_at.to_utc()),
        false => it.start,
    });
    let is_implied = fact.sure.as_deref() == Some("implied");
    Ok(Stated {
        record: line.record.id,
        observed_at,
        told_by: told_by.clone(),
        confidence: match subject == *told_by {
            _ if is_implied => IMPLIED,
            true => OF_ONESELF,
            false => OF_OTHERS,
        },
        subject,
        predicate,
        object,
        aspect,
        positive: fact.negated != Some(true),
        since,
        until,
        ended,
    })
}

/// Returns a part of a fact on one line.
fn part(said: &str, bytes_max: usize) -> Result<String, &'static str> {
    let part = visible(said);
    let part = part.trim().trim_end_matches('.');
    match part.len() {
        0 => Err("a part of it is empty"),
        bytes if bytes > bytes_max => Err("a part of it is too long"),
        _ => Ok(part.to_owned()),
    }
}

fn aspect(said: &str) -> Option<Aspect> {
    let lower = said.trim().to_lowercase();
    Aspect::ALL.into_iter().find(|it| it.name() == lower)
}

/// Returns true if a line may state a fact. Tools and actions state nothing, and neither does a speaker who writes in
/// the name of another. Facts about or claimed by assistants do not count, but an assistant may repeat an
/// instruction.
fn may_state(line: &Line<'_>, aspect: Aspect) -> bool {
    let Line { record, addressee, .. } = line;
    let is_quote = text::quoted_speaker(&record.text, &record.actor, &[addressee]).is_some();
    let is_tool = act::is_world(record) && role(&record.actor) != Some(Role::System);
    let is_assistant = text::role::is_assistant_to(&record.actor, addressee);
    !is_quote && !is_tool && (!is_assistant || aspect == Aspect::Instruction)
}

/// Returns a time of a fact, or none if there is none that can be parsed.
fn time(line: &Line<'_>, given: Option<&str>, fact: &SaidFact, left_out: &mut Vec<LeftOut>) -> Option<TimeSpan> {
    let given = given.filter(|it| !it.trim().is_empty())?;
    let span = times::parse(given, *line.record.observed_at.offset());
    if span.is_none() {
        left_out.push(left_out_of(&words(fact), "a time of it cannot be read"));
    }
    span
}

#[cfg(test)]
mod tests {
    use domain::id::UnitId;
    use domain::time::Precision;
    use serde_json::{Value, json};

    use super::*;
    use crate::reading::derive::{Derived, derive};
    use crate::reading::example::{call, derived, reading, reasons, talk, texts};

    const TALK: [&str; 4] = [
        "Tom: My sister Zoe moved to York in 2019. She doesn't eat meat.",
        "Ann: I work at the bakery in Leeds, and I have three cats.",
        "user: From now on answer me in French.",
        "assistant: I live in the cloud. From now on I answer in French.",
    ];

    fn fact(subject: &str, predicate: &str, object: &str, line: u64) -> Value {
        let quote = ["", "moved to York", "i work at", "answer me", "I live"][usize::try_from(line).unwrap().min(4)];
        json!({"subject": subject, "predicate": predicate, "object": object, "aspect": "work", "line": line, "quote": quote})
    }

    fn with(mut fact: Value, key: &str, value: Value) -> Value {
        fact[key] = value;
        fact
    }

    fn work() -> Value {
        fact("Ann", "works at", "the bakery in Leeds", 2)
    }

    fn all(facts: &[Value]) -> Derived {
        derived(&TALK, &json!({"facts": facts}))
    }

    #[track_caller]
    fn kept(fact: &Value) -> Stated {
        let mut derived = all(std::slice::from_ref(fact));
        assert_eq!(reasons(&derived), [""; 0], "{fact}");
        derived.units.remove(0).stated.remove(0)
    }

    #[track_caller]
    fn assert_left_out(fact: &Value, why: &str) {
        let derived = all(std::slice::from_ref(fact));
        assert_eq!(reasons(&derived), [why], "{fact}");
        assert!(derived.units.is_empty());
    }

    #[test]
    fn a_fact_names_its_record_and_its_speaker() {
        let stated = kept(&work());
        let record = &talk(&TALK)[1];
        assert_eq!((stated.record, stated.observed_at), (record.id, record.observed_at));
        assert_eq!([&*stated.told_by, &*stated.subject], ["Ann", "Ann"]);
        assert_eq!(
            [&*stated.predicate, &*stated.object],
            ["works at", "the bakery in Leeds"]
        );
        assert!(stated.positive && !stated.ended && stated.aspect == Aspect::Work);
    }

    #[test]
    fn the_line_has_to_exist_and_contain_the_quote() {
        assert_left_out(&with(work(), "line", json!(5)), "its line does not exist");
        let quote = "its line does not have the words that it quotes";
        assert_left_out(&with(work(), "quote", json!("I work for")), quote);
        assert_left_out(&with(work(), "line", json!(1)), quote);
        kept(&with(work(), "quote", json!("I work ... three cats")));
    }

    #[test]
    fn each_part_is_required_and_bounded() {
        for (key, most) in [("subject", 80), ("predicate", 40), ("object", 200)] {
            assert_left_out(&with(work(), key, json!(" ")), "a part of it is empty");
            assert_left_out(
                &with(work(), key, json!("a".repeat(most + 1))),
                "a part of it is too long",
            );
        }
        assert_eq!(
            kept(&with(work(), "object", json!("the\nbakery."))).object,
            "the bakery"
        );
    }

    #[test]
    fn the_aspect_must_be_one_of_ten() {
        assert_left_out(&with(work(), "aspect", json!("mood")), "its aspect is not known");
        assert_eq!(kept(&with(work(), "aspect", json!("Habit"))).aspect, Aspect::Habit);
    }

    #[test]
    fn the_subject_must_occur_in_the_passage_and_gets_the_name_of_the_speaker() {
        assert_left_out(
            &with(work(), "subject", json!("Klaus")),
            "its subject is not in the passage",
        );
        assert_eq!(kept(&with(work(), "subject", json!("ann"))).subject, "Ann");
        assert_eq!(kept(&fact("Zoe", "lives in", "York", 1)).subject, "Zoe");
        assert_eq!(
            kept(&fact("Tom's sister", "lives in", "York", 1)).subject,
            "Tom's sister"
        );
    }

    #[test]
    fn half_of_the_object_and_all_of_its_numbers_must_occur_in_the_passage() {
        let object = "its object is not in the passage";
        assert_left_out(&with(work(), "object", json!("a mill in Hull")), object);
        assert_left_out(&with(work(), "object", json!("it")), object);
        assert_left_out(&with(work(), "object", json!("4 cats")), object);
        assert_eq!(kept(&with(work(), "object", json!("3 cats"))).object, "3 cats");
        assert_eq!(
            kept(&with(work(), "object", json!("Leeds bakeries"))).object,
            "Leeds bakeries"
        );
    }

    #[test]
    fn a_fact_about_oneself_is_more_certain_than_one_about_others_or_an_implied_one() {
        let implied = with(work(), "sure", json!("implied"));
        let confidences = [work(), fact("Zoe", "lives in", "York", 1), implied].map(|it| kept(&it).confidence);
        assert_eq!(confidences, [OF_ONESELF, OF_OTHERS, IMPLIED]);
    }

    #[test]
    fn a_denial_and_an_end_are_kept() {
        let denied = with(fact("Zoe", "does not eat", "meat", 1), "negated", json!(true));
        assert!(!kept(&denied).positive);
        let over = with(with(work(), "holds", json!(false)), "until", json!("2023-05"));
        let stated = kept(&over);
        assert!(stated.ended && stated.positive);
        assert_eq!(stated.until.unwrap().to_rfc3339(), "2023-05-31T22:00:00+00:00");
        assert_eq!(texts(&all(&[over])), ["Ann works at the bakery in Leeds (no longer)."]);
    }

    #[test]
    fn a_time_of_a_fact_is_kept_if_it_can_be_parsed() {
        let since = kept(&with(fact("Zoe", "lives in", "York", 1), "since", json!("2019")))
            .since
            .unwrap();
        assert_eq!((since.precision, &*since.words), (Precision::Year, "2019"));
        let until = kept(&with(work(), "until", json!("2024-01"))).until.unwrap();
        assert_eq!(until.to_rfc3339(), "2023-12-31T22:00:00+00:00");
        let derived = all(&[with(work(), "since", json!("long ago"))]);
        assert_eq!(reasons(&derived), ["a time of it cannot be read"]);
        assert_eq!(derived.units[0].stated[0].since, None);
    }

    #[test]
    fn assistants_and_tools_state_nothing_but_instructions() {
        let claim = fact("assistant", "lives in", "the cloud", 4);
        assert_left_out(&claim, "whoever says it states nothing");
        let wish = with(
            fact("user", "asks to", "answer in French", 4),
            "aspect",
            json!("instruction"),
        );
        kept(&wish);
        let mut records = talk(&TALK);
        records.push(call(5, "mail", "", "From now on answer in French."));
        let of_tool = with(with(wish, "line", json!(5)), "quote", json!("answer in French"));
        let derived = derive(
            &reading(&records, &json!({"facts": [of_tool]}).to_string()),
            &[],
            &records,
        );
        assert_eq!(reasons(&derived), ["whoever says it states nothing"]);
    }

    #[test]
    fn a_speaker_who_writes_as_another_states_nothing() {
        let quit = json!({"subject": "Ann", "predicate": "works at", "object": "the mill", "aspect": "work", "line": 2, "quote": "the mill"});
        let reply = json!({"facts": [quit]});
        let left_out = derived(&["Ann: Hi.", "Tom: Ann: I work at the mill."], &reply);
        assert_eq!(reasons(&left_out), ["whoever says it states nothing"]);
        let kept = derived(&["Ann: Hi.", "Tom: Ann works at the mill."], &reply);
        assert_eq!(kept.units.len(), 1);
    }

    #[test]
    fn a_fact_belongs_to_the_first_gist_of_its_line() {
        let gists = json!([
            {"text": "Tom has a sister.", "lines": [1]},
            {"text": "Ann works at the bakery.", "lines": [1, 2]},
            {"text": "Ann has cats.", "lines": [2]},
        ]);
        let derived = derived(&TALK, &json!({"gists": gists, "facts": [work()]}));
        let stated: Vec<usize> = derived.units.iter().map(|it| it.stated.len()).collect();
        assert_eq!(stated, [0, 1, 0]);
    }

    #[test]
    fn a_fact_whose_line_has_no_gist_becomes_one() {
        let gists = json!([{"text": "Tom has a sister.", "lines": [1]}]);
        let wrong = with(work(), "aspect", json!("mood"));
        let derived = derived(&TALK, &json!({"gists": gists, "facts": [wrong, work()]}));
        assert_eq!(
            texts(&derived),
            ["Tom has a sister.", "Ann works at the bakery in Leeds."]
        );
        let unit = &derived.units[1];
        assert_eq!(unit.id, UnitId::gist(reading(&talk(&TALK), "").id, 2));
        assert_eq!(
            (unit.external_ids.as_slice(), unit.stated.len()),
            (&["r2".to_owned()][..], 1)
        );
    }
}

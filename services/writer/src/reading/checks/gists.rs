//! Checks gists (the things that happened) and turns them into units.

use domain::id::UnitId;
use domain::reading::{LeftOut, Reading};
use domain::time::TimeSpan;
use domain::unit::{Grain, Status, Unit};

use crate::reading::checks::gist_times::{CONFIDENCE, LIST_MAX, place_gist};
use crate::reading::checks::passage_content::{Ground, Line};
use crate::reading::checks::times;
use crate::reading::lines::to_visible_line;
use crate::reading::replies::left_out::left_out_of;
use crate::reading::replies::reply::UncheckedGist;

/// Maximum number of gists of one reading, without those made from facts.
const GISTS_MAX: usize = 48;
/// Maximum length of a gist, in bytes.
const TEXT_BYTES_MAX: usize = 500;
const NAME_BYTES_MAX: usize = 80;
const CUE_BYTES_MAX: usize = 40;

/// An accepted gist.
pub(crate) struct Gist {
    /// Position of the gist in the list of the reply, from 0; gists made from facts continue the numbers.
    pub(crate) place: usize,
    /// The numbers of the lines it comes from, in order; at least one.
    pub(crate) lines: Vec<u64>,
    /// The unit.
    pub(crate) unit: Unit,
}

/// The input for a unit.
pub(crate) struct Draft {
    /// The position of the gist, from 0.
    pub(crate) place: usize,
    /// The numbers of the lines it comes from, in order; at least one, and all of them exist.
    pub(crate) lines: Vec<u64>,
    /// The text of the gist.
    pub(crate) text: String,
    /// The time at which the event happened.
    pub(crate) times: Vec<TimeSpan>,
    /// From 0 to 1.
    pub(crate) confidence: f32,
}

/// Returns the accepted gists, in the order of the reply.
pub(crate) fn check_gists(
    reading: &Reading,
    ground: &Ground<'_>,
    unchecked: &[Option<UncheckedGist>],
    left_out: &mut Vec<LeftOut>,
) -> Vec<Gist> {
    let mut out: Vec<Gist> = Vec::new();
    for (place, unchecked) in unchecked.iter().enumerate() {
        let Some(unchecked) = unchecked else {
            left_out.push(left_out_of("", "a gist cannot be read"));
            continue;
        };
        let text = to_visible_line(&unchecked.text);
        let checked = match out.len() < GISTS_MAX {
            true => check_gist(reading, ground, NumberedGist { place, unchecked }, left_out),
            false => Err("there are too many gists"),
        };
        match checked {
            Ok(gist) => out.push(gist),
            Err(why) => left_out.push(left_out_of(&text, why)),
        }
    }
    out
}

/// A gist of a reply, with its position.
#[derive(Clone, Copy)]
struct NumberedGist<'a> {
    place: usize,
    unchecked: &'a UncheckedGist,
}

fn check_gist(
    reading: &Reading,
    ground: &Ground<'_>,
    NumberedGist { place, unchecked }: NumberedGist<'_>,
    left_out: &mut Vec<LeftOut>,
) -> Result<Gist, &'static str> {
    let text = to_visible_line(&unchecked.text);
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > TEXT_BYTES_MAX {
        return Err("it is too long");
    }
    let lines = ground.existing_line_numbers(&unchecked.lines.0);
    let first = lines.first().and_then(|it| ground.find_line(*it));
    let Some(first) = first else {
        return Err("none of its lines exists");
    };
    let people = distinct_bounded_names(unchecked.who.as_deref().unwrap_or_default(), NAME_BYTES_MAX);
    if ground.has_unknown_name(&text, &people) {
        return Err("it names a person or thing that is not in the passage");
    }
    let model_time = parse_gist_time(unchecked, first, &text, left_out);
    if ground.unknown_number(&text, &lines, model_time.as_slice()).is_some() {
        return Err("it has a number that is not in the passage");
    }
    let (times, confidence) = place_gist(ground, &lines, model_time);
    if confidence < CONFIDENCE {
        left_out.push(left_out_of(&text, "its time differs from what the rules read"));
    }
    let draft = Draft {
        place,
        lines,
        text,
        times,
        confidence,
    };
    let mut gist = build_gist(reading, ground, draft).ok_or("none of its lines exists")?;
    gist.unit.participants = people
        .into_iter()
        .filter(|it| ground.is_named(it))
        .take(LIST_MAX)
        .collect();
    gist.unit.tag = normalise_tag(unchecked.tag.as_deref().unwrap_or_default());
    gist.unit.cues = normalise_cues(unchecked.cues.as_deref().unwrap_or_default());
    Ok(gist)
}

/// Returns the time that the model gives, or none if there is none that can be parsed.
fn parse_gist_time(
    unchecked: &UncheckedGist,
    first: &Line<'_>,
    text: &str,
    left_out: &mut Vec<LeftOut>,
) -> Option<TimeSpan> {
    let given = unchecked.time.as_deref().filter(|it| !it.trim().is_empty())?;
    let span = times::parse_time(given, *first.record.observed_at.offset());
    if span.is_none() {
        left_out.push(left_out_of(text, "its time cannot be read"));
    }
    span
}

/// Returns a gist as a unit without people, tag and cues, or none if it has no line.
pub(crate) fn build_gist(reading: &Reading, ground: &Ground<'_>, draft: Draft) -> Option<Gist> {
    let lines: Vec<&Line<'_>> = ground.find_lines(&draft.lines).collect();
    let first = lines.first()?.record;
    let is_of_one = lines.iter().all(|it| it.record.actor == first.actor);
    let unit = Unit {
        id: UnitId::of_gist(reading.id, u16::try_from(draft.place).ok()?),
        grain: Grain::Gist,
        session: reading.session,
        records: lines.iter().map(|it| it.record.id).collect(),
        external_ids: lines.iter().map(|it| it.record.external_id.clone()).collect(),
        observed_at: first.observed_at,
        ordinal: first.ordinal,
        modality: first.modality,
        actor: if is_of_one { first.actor.clone() } else { String::new() },
        addressee: String::new(),
        summary: draft.text.clone(),
        text: draft.text,
        caption: String::new(),
        times: draft.times,
        participants: Vec::new(),
        location: String::new(),
        action: String::new(),
        step: None,
        changes: Vec::new(),
        version: None,
        stated: Vec::new(),
        tag: String::new(),
        cues: Vec::new(),
        question: String::new(),
        tags: Vec::new(),
        metadata: Default::default(),
        derived_by: reading.prompt.clone(),
        status: Status::Active,
        confidence: draft.confidence,
    };
    let (place, lines) = (draft.place, draft.lines);
    Some(Gist { place, lines, unit })
}

/// Returns distinct names, each on one line, without those that are too long.
fn distinct_bounded_names(names: &[String], bytes: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in names.iter().map(|it| to_visible_line(it)) {
        if !name.is_empty() && name.len() <= bytes && !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Returns at most two words in lower case.
fn normalise_tag(tag: &str) -> String {
    let lower = to_visible_line(tag).to_lowercase();
    let words = text::split_words(&lower)
        .into_iter()
        .filter(|it| it.len() <= CUE_BYTES_MAX);
    words.take(2).collect::<Vec<&str>>().join(" ")
}

/// Returns distinct words in lower case, in order, without function words.
fn normalise_cues(cues: &[String]) -> Vec<String> {
    let lower = to_visible_line(&cues.join(" ")).to_lowercase();
    let mut out: Vec<String> = Vec::new();
    for word in text::split_words(&lower) {
        let is_cue = word.len() <= CUE_BYTES_MAX && !text::is_stop(word);
        if is_cue && out.len() < LIST_MAX && !out.iter().any(|it| it == word) {
            out.push(word.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use domain::time::Precision;
    use serde_json::{Value, json};

    use super::*;
    use crate::reading::checks::gist_times::DOUBTFUL;
    use crate::reading::derive::{DerivedFromReading, derive_from_reading};
    use crate::reading::example::{
        derive_talk, records_of_talk, rejection_reasons, sample_reading, sample_record, unit_texts,
    };

    const TALK: [&str; 3] = [
        "Tom: Found a job in the end?",
        "Ann: Yes! I started at the bakery in Leeds last week, for 1,200 a month.",
        "Tom: Great. We see each other on 12 June then.",
    ];

    fn derive_gist(gist: &Value) -> DerivedFromReading {
        derive_talk(&TALK, &json!({"gists": [gist]}))
    }

    /// Asserts that a gist with this text and these lines is accepted, or rejected for a reason.
    #[track_caller]
    fn assert_kept(text: &str, lines: &[u64], reason: Option<&str>) {
        let derived = derive_gist(&json!({"text": text, "lines": lines}));
        assert_eq!(rejection_reasons(&derived), Vec::from_iter(reason), "{text}");
        assert_eq!(derived.units.len(), usize::from(reason.is_none()), "{text}");
    }

    #[test]
    fn a_number_of_a_speakers_name_is_known() {
        let gist = json!({"text": "kt_92 found a job.", "lines": [1]});
        let derived = derive_talk(&["kt_92: I found a job!"], &json!({"gists": [gist]}));
        assert_eq!(rejection_reasons(&derived), Vec::<&str>::new());
    }

    #[test]
    fn a_gist_needs_at_least_one_existing_line() {
        let none = "none of its lines exists";
        assert_kept("Ann found a job.", &[2], None);
        assert_kept("Ann found a job.", &[], Some(none));
        assert_kept("Ann found a job.", &[0, 4], Some(none));
        let derived = derive_gist(&json!({"text": "Ann found a job.", "lines": [9, 2, 1, 2]}));
        assert_eq!(derived.units[0].external_ids, ["r1", "r2"]);
    }

    #[test]
    fn a_gist_is_one_line_of_bounded_length() {
        assert_kept(" \n ", &[1], Some("it is empty"));
        assert_kept(&"job ".repeat(124), &[1], None);
        assert_kept(&"job ".repeat(130), &[1], Some("it is too long"));
        let derived = derive_gist(&json!({"text": "Ann\u{200b} found\na job.", "lines": [2]}));
        assert_eq!(unit_texts(&derived), ["Ann found a job."]);
    }

    #[test]
    fn at_most_48_gists_are_kept() {
        let gists = vec![json!({"text": "Ann found a job.", "lines": [2]}); 60];
        let derived = derive_talk(&TALK, &json!({"gists": gists}));
        assert_eq!((derived.units.len(), derived.left_out.len()), (48, 12));
    }

    #[test]
    fn a_gist_may_not_name_anyone_who_is_not_in_the_passage() {
        let unknown = "it names a person or thing that is not in the passage";
        assert_kept("In June Ann told Tom about the bakery in Leeds.", &[2], None);
        assert_kept("Ann told Tom about the bakery in York.", &[2], Some(unknown));
        assert_kept("Ann told Klaus Meyer about the bakery.", &[2], Some(unknown));
        assert_kept("Everyone saw that Ann found a job.", &[2], None);
        let reply_naming =
            |name: &str| derive_gist(&json!({"text": format!("{name} found a job."), "lines": [2], "who": [name]}));
        assert_eq!(rejection_reasons(&reply_naming("Klaus")), [unknown]);
        assert_eq!(reply_naming("Ann").units[0].participants, ["Ann"]);
    }

    #[test]
    fn names_from_before_the_passage_are_known() {
        let (before, records) = (
            [sample_record(0, "Zoe", "Klaus moved to York.")],
            records_of_talk(&TALK),
        );
        let reply = json!({"gists": [{"text": "Ann told Klaus about York.", "lines": [2]}]});
        let reading = sample_reading(&records, &reply.to_string());
        assert_eq!(derive_from_reading(&reading, &before, &records).units.len(), 1);
        assert_eq!(derive_from_reading(&reading, &[], &records).units.len(), 0);
    }

    #[test]
    fn people_who_do_not_occur_are_dropped_from_who() {
        let derived =
            derive_gist(&json!({"text": "Ann found a job.", "lines": [2], "who": ["Ann", "Klaus", "Ann", "tom", ""]}));
        assert_eq!(derived.units[0].participants, ["Ann", "tom"]);
    }

    #[test]
    fn a_gist_may_not_have_a_number_that_is_not_in_the_passage() {
        let unknown = "it has a number that is not in the passage";
        assert_kept("Ann earns 1200 a month.", &[2], None);
        assert_kept("Ann earns 1300 a month.", &[2], Some(unknown));
        // The days of the week before, and the day of the line.
        assert_kept(
            "Ann told Tom on 9 June 2023 that she started in the week of 29 May 2023.",
            &[2],
            None,
        );
        assert_kept("Ann started in the week of 22 May 2023.", &[2], Some(unknown));
        assert_kept("Ann and Tom see each other on 12 June 2023.", &[3], None);
        let dated = json!({"text": "Ann started on 1 April 2022.", "lines": [1], "time": "2022-04-01"});
        assert_eq!(derive_gist(&dated).units.len(), 1);
    }

    #[test]
    fn the_models_time_counts_if_it_overlaps_a_time_by_rule() {
        let derived = derive_gist(&json!({"text": "Ann started.", "lines": [2], "time": "2023-05-30"}));
        let unit = &derived.units[0];
        assert_eq!(
            (unit.times[0].words.as_str(), unit.confidence),
            ("2023-05-30", CONFIDENCE)
        );
        assert_eq!(unit.times[0].precision, Precision::Day);
        assert!(derived.left_out.is_empty());
    }

    #[test]
    fn the_models_time_is_replaced_if_it_differs_from_the_times_by_rule() {
        let derived = derive_gist(&json!({"text": "Ann started.", "lines": [2], "time": "2022-05"}));
        let unit = &derived.units[0];
        assert_eq!((unit.times[0].words.as_str(), unit.confidence), ("last week", DOUBTFUL));
        assert_eq!(
            rejection_reasons(&derived),
            ["its time differs from what the rules read"]
        );
    }

    #[test]
    fn without_a_time_by_the_model_the_times_by_rule_count() {
        for time in [Value::Null, json!("")] {
            let derived = derive_gist(&json!({"text": "Ann started.", "lines": [2], "time": time}));
            assert_eq!(derived.units[0].times[0].words, "last week");
            assert!(derived.left_out.is_empty());
        }
        let derived = derive_gist(&json!({"text": "Ann started.", "lines": [2], "time": "last week"}));
        assert_eq!(derived.units[0].times[0].words, "last week");
        assert_eq!(rejection_reasons(&derived), ["its time cannot be read"]);
        // For a line without any time, the model's time counts.
        let derived = derive_gist(&json!({"text": "Tom asked.", "lines": [1], "time": "2022"}));
        assert_eq!(derived.units[0].times[0].words, "2022");
    }

    #[test]
    fn a_gist_of_one_speaker_has_an_actor() {
        let actor = |lines: &[u64]| {
            derive_gist(&json!({"text": "Ann found a job.", "lines": lines})).units[0]
                .actor
                .clone()
        };
        assert_eq!([actor(&[2]), actor(&[1, 3]), actor(&[1, 2])], ["Ann", "Tom", ""]);
    }

    #[test]
    fn tags_and_cues_are_a_few_words_in_lower_case() {
        let cues: Vec<String> = (0..20).map(|it| format!("word{it}")).collect();
        let derived = derive_gist(&json!({
            "text": "Ann found a job.",
            "lines": [2],
            "tag": "New Job hunt",
            "cues": ["The Bakery", "bakery", "word0 word1"],
        }));
        let unit = &derived.units[0];
        assert_eq!(unit.tag, "new job");
        assert_eq!(unit.cues, ["bakery", "word0", "word1"]);
        let many = derive_gist(&json!({"text": "Ann found a job.", "lines": [2], "cues": cues}));
        assert_eq!(many.units[0].cues.len(), LIST_MAX);
    }

    #[test]
    fn the_number_of_a_gist_is_its_position_in_the_reply() {
        let good = json!({"text": "Ann found a job.", "lines": [2]});
        let derived = derive_talk(&TALK, &json!({"gists": [3, good]}));
        let reading = sample_reading(&records_of_talk(&TALK), "");
        assert_eq!(derived.units[0].id, UnitId::of_gist(reading.id, 1));
        assert_eq!(rejection_reasons(&derived), ["a gist cannot be read"]);
    }
}

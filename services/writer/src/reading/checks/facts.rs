//! Checks facts that a language model read in a line, and assigns them to gists.

use domain::fact::{Aspect, Stated};
use domain::reading::{LeftOut, Reading};
use domain::time::TimeSpan;
use text::facts::{fact_sentence, is_claim_of_group, is_single_order, names_first_person};
use text::people::role::{Role, role_of_speaker};

use crate::reading::checks::fact_ends::check_end;
use crate::reading::checks::gists::{self, Draft, Gist};
use crate::reading::checks::passage_content::{Ground, Line};
use crate::reading::checks::times;
use crate::reading::lines::to_visible_line;
use crate::reading::replies::left_out::left_out_of;
use crate::reading::replies::reply::{UncheckedFact, UncheckedReading};
use crate::units::act;
use crate::word_lists::DENYING_BEGINNINGS;

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
pub(crate) fn attach_facts(
    reading: &Reading,
    ground: &Ground<'_>,
    unchecked: &UncheckedReading,
    gists: &mut Vec<Gist>,
    left_out: &mut Vec<LeftOut>,
) {
    let mut new_gists = Vec::new();
    for (place, fact) in (unchecked.gists.len()..).zip(&unchecked.facts) {
        let stated = match check_fact(ground, fact, left_out) {
            Ok(stated) => stated,
            Err(why) => {
                left_out.push(left_out_of(&describe_fact(fact), why));
                continue;
            }
        };
        match gists.iter_mut().find(|it| it.lines.contains(&fact.line)) {
            Some(gist) => gist.unit.stated.push(stated),
            None => new_gists.extend(gist_of(reading, ground, fact.line, place, stated)),
        }
    }
    gists.extend(new_gists);
}

/// Returns the words of a fact.
pub(crate) fn describe_fact(fact: &UncheckedFact) -> String {
    to_visible_line(&format!("{} {} {}", fact.subject, fact.predicate, fact.object))
}

/// Returns a gist that contains only a fact.
fn gist_of(reading: &Reading, ground: &Ground<'_>, line: u64, place: usize, stated: Stated) -> Option<Gist> {
    let over = if stated.ended { " (no longer)" } else { "" };
    let draft = Draft {
        place,
        lines: vec![line],
        text: format!("{}{over}.", fact_sentence(&stated)),
        times: stated.since.iter().cloned().collect(),
        confidence: GIST_CONFIDENCE,
    };
    let mut gist = gists::build_gist(reading, ground, draft)?;
    gist.unit.stated.push(stated);
    Some(gist)
}

fn check_fact(ground: &Ground<'_>, fact: &UncheckedFact, left_out: &mut Vec<LeftOut>) -> Result<Stated, &'static str> {
    let line = ground.find_line(fact.line).ok_or("its line does not exist")?;
    if !line.contains_quote(&fact.quote) {
        return Err("its line does not have the words that it quotes");
    }
    let subject = check_part(&fact.subject, SUBJECT_BYTES_MAX)?;
    let predicate = check_part(&fact.predicate, PREDICATE_BYTES_MAX)?;
    let object = check_part(&fact.object, OBJECT_BYTES_MAX)?;
    let aspect = parse_aspect(&fact.aspect).ok_or("its aspect is not known")?;
    if !may_state(line, aspect) {
        return Err("its speaker states no facts");
    }
    let subject = match ground.find_actor(&subject) {
        Some(actor) => actor.to_owned(),
        None if ground.is_named(&subject) => subject,
        None => return Err("its subject is not in the passage"),
    };
    let is_own = subject == line.record.actor;
    let positive = fact.negated != Some(true);
    if is_own && is_said_of_group(line, &fact.quote, aspect) {
        return Err("its line says it of a group and not of its subject alone");
    }
    if aspect == Aspect::Instruction && positive && is_order_for_once(line, &fact.quote, [&predicate, &object]) {
        return Err("it asks for one thing now and not from now on");
    }
    let ended = fact.holds == Some(false);
    let since = parse_fact_time(line, fact.since.as_deref(), fact, left_out);
    let until = parse_fact_time(line, fact.until.as_deref(), fact, left_out);
    let until = until.and_then(|it| check_end(line, &fact.quote, it, ended));
    let spans: Vec<TimeSpan> = since.iter().chain(&until).cloned().collect();
    if !ground.holds_half_of(&object) || ground.unknown_number(&object, &[fact.line], &spans).is_some() {
        return Err("its object is not in the passage");
    }
    let (told_by, observed_at) = (&line.record.actor, line.record.observed_at);
    let until = until.map(|it| match ended {
        true => it.end.min(observed_at.to_utc()),
        false => it.start,
    });
    let is_implied = fact.sure.as_deref() == Some("implied");
    Ok(Stated {
        record: line.record.id,
        observed_at,
        told_by: told_by.clone(),
        confidence: match is_own {
            _ if is_implied => IMPLIED,
            true => OF_ONESELF,
            false => OF_OTHERS,
        },
        subject,
        predicate: match positive {
            true => predicate,
            false => deny_request(predicate, &object),
        },
        object,
        aspect,
        positive,
        since,
        until,
        ended,
    })
}

/// Returns true if the words of a fact about the speaker state it of a group ("we"). What a group does, plans or likes,
/// and where it lives, holds of its members too; what it has or is does not.
fn is_said_of_group(line: &Line<'_>, quote: &str, aspect: Aspect) -> bool {
    let is_shared_out = match aspect {
        Aspect::Possession | Aspect::Count | Aspect::Attribute => false,
        Aspect::Preference
        | Aspect::Relation
        | Aspect::Place
        | Aspect::Work
        | Aspect::Plan
        | Aspect::Habit
        | Aspect::Instruction => true,
    };
    // The quote may leave out the words that say whose it is.
    let claim = match names_first_person(quote) {
        true => quote.to_owned(),
        false => line.text_around_quote(quote),
    };
    !is_shared_out && is_claim_of_group(&claim)
}

/// Returns true if an instruction with this predicate and object is an order for one time.
fn is_order_for_once(line: &Line<'_>, quote: &str, [predicate, object]: [&str; 2]) -> bool {
    let order = match predicate.split_once(" to ") {
        Some((_, verb)) => format!("{verb} {object}"),
        None => object.to_owned(),
    };
    is_single_order(&order, &line.text_around_quote(quote))
}

/// Returns the predicate of a request that is denied: "asks not to" instead of "asks to", unless the object denies.
fn deny_request(predicate: String, object: &str) -> String {
    let lower = object.to_lowercase().replace('\u{2019}', "'");
    let denies = DENYING_BEGINNINGS
        .iter()
        .any(|it| lower.strip_prefix(it).is_some_and(|rest| rest.starts_with(' ')));
    match predicate.strip_suffix("asks to").filter(|_| !denies) {
        Some(before) => format!("{before}asks not to"),
        None => predicate,
    }
}

/// Returns a part of a fact on one line.
fn check_part(model_text: &str, bytes_max: usize) -> Result<String, &'static str> {
    let part = to_visible_line(model_text);
    let part = part.trim().trim_end_matches('.');
    match part.len() {
        0 => Err("a part of it is empty"),
        bytes if bytes > bytes_max => Err("a part of it is too long"),
        _ => Ok(part.to_owned()),
    }
}

fn parse_aspect(aspect_name: &str) -> Option<Aspect> {
    let lower = aspect_name.trim().to_lowercase();
    Aspect::ALL.into_iter().find(|it| it.name() == lower)
}

/// Returns true if a line may state a fact. Tools and actions state nothing, and neither does a speaker who writes in
/// the name of another. Facts about or claimed by assistants do not count, but an assistant may repeat an
/// instruction.
fn may_state(line: &Line<'_>, aspect: Aspect) -> bool {
    let Line { record, addressee, .. } = line;
    let is_quote = text::quoted_speaker(&record.text, &record.actor, &[addressee]).is_some();
    let is_tool = act::is_world(record) && role_of_speaker(&record.actor) != Some(Role::System);
    let is_assistant = text::people::role::is_assistant_to(&record.actor, addressee);
    !is_quote && !is_tool && (!is_assistant || aspect == Aspect::Instruction)
}

/// Returns the numbers of the lines, from 1, that may state no fact: those of tools, logs and environments, and those
/// in which somebody writes in the name of another. An assistant may still repeat an instruction.
pub(crate) fn lines_without_facts(ground: &Ground<'_>) -> Vec<u64> {
    let lines = (1..).map_while(|number| Some((number, ground.find_line(number)?)));
    lines
        .filter(|(_, line)| !may_state(line, Aspect::Instruction))
        .map(|(number, _)| number)
        .collect()
}

/// Returns a time of a fact, or none if there is none that can be parsed.
fn parse_fact_time(
    line: &Line<'_>,
    given: Option<&str>,
    fact: &UncheckedFact,
    left_out: &mut Vec<LeftOut>,
) -> Option<TimeSpan> {
    let given = given.filter(|it| !it.trim().is_empty())?;
    let span = times::parse_time(given, *line.record.observed_at.offset());
    if span.is_none() {
        left_out.push(left_out_of(&describe_fact(fact), "a time of it cannot be read"));
    }
    span
}

#[cfg(test)]
mod tests;

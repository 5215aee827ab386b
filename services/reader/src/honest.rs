//! What every answer has to meet, however probable it is: it is about what the question names, and its lines are by the one
//! who is said to have said them.

use domain::anchor::AnswerKind;
use domain::evidence::Turn;
use domain::message::AnsweredV1;
use text::{quoted_speaker, shown_name};

use crate::answer::Found;
use crate::judge::Case;
use crate::pool::{Line, same};
use crate::refuse::{misses, refused, withheld};

/// A line of somebody that covers this share of what the line of another covers speaks for itself.
const COMPARABLE: f32 = 0.75;

/// Returns the reply that has to be given in place of an answer; none if the answer is honest.
pub(crate) fn instead(case: &Case<'_>, found: &Found) -> Option<AnsweredV1> {
    let Case { question, pool, .. } = *case;
    let first = &pool.lines[*found.lines.first()?];
    if let Some(stem) = unheard(case) {
        let reason = format!("nothing is remembered of \"{stem}\"");
        return Some(refused(&reason, misses(pool, &found.lines, "weak")));
    }
    if let Some(name) = found.lines.iter().find_map(|it| quoted(case, pool.lines[*it].turn)) {
        let teller = shown_name(&first.turn.actor);
        return Some(withheld(format!(
            "{teller} writes this as {}, and nobody else does",
            shown_name(name)
        )));
    }
    let is_unreckoned = question.kind == AnswerKind::Duration && text::words(&question.lower).contains(&"ago");
    if is_unreckoned {
        return Some(withheld("how long ago that was is not told, only when".to_owned()));
    }
    let subject = question.subject.as_deref()?;
    if same(subject, &first.turn.actor) || found.conflict {
        return None;
    }
    let speaks = |it: &Line<'_>| same(subject, &it.turn.actor) && it.own > 0.0 && it.cover >= COMPARABLE * first.cover;
    if question.speech || pool.lines.iter().any(speaks) {
        let (teller, subject) = (shown_name(&first.turn.actor), shown_name(subject));
        return Some(withheld(format!(
            "{teller} tells this of {subject}, whose own words are others"
        )));
    }
    None
}

/// Returns the stem of a name or number of the question that occurs nowhere: nothing else stands for one.
fn unheard<'a>(case: &Case<'a>) -> Option<&'a str> {
    let mut words = case.question.words.iter();
    Some(words.find(|it| !it.known && it.specific)?.stem.as_str())
}

/// Returns the other speaker, or the one who is asked about, as whom a turn writes.
fn quoted<'a>(case: &Case<'a>, turn: &'a Turn) -> Option<&'a str> {
    let request = case.request;
    let names: Vec<&str> = request
        .speakers
        .iter()
        .chain(&request.anchors.names)
        .map(String::as_str)
        .collect();
    quoted_speaker(&turn.text, &turn.actor, &names)
}

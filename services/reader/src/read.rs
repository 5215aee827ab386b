//! From evidence to verdict and answer.

use domain::anchor::AnswerKind;
use domain::evidence::{Answer, NearMiss, Sufficiency, Verdict};
use domain::message::{AnswerV1, AnsweredV1};
use text::gloss;

use crate::amend::{self, amended};
use crate::answer::{self, Found};
use crate::check::Check;
use crate::features::{self, Features};
use crate::judge::{Detail, Judgement, judge};
use crate::pool::{Line, Pool};
use crate::question::{self, Question};
use crate::rank;
use crate::stated::Sought;
use crate::weights::Weights;
use crate::words::Lexicon;
use crate::{Config, Error};

/// A window that covers less of the question than this has nothing to do with it.
const NOTHING: f32 = 0.2;
/// ... or less than this, if no word of the question was ever said and it is about nobody who speaks.
const NOTHING_NEAR: f32 = 0.4;
/// A time whose turn and neighbours cover less than this of the question is the time of something else.
const BESIDE: f32 = 0.15;
/// A window that covers less than this answers a part at best.
const PART: f32 = 0.5;
/// Characters of a near miss that are shown.
const SHOWN: usize = 200;

/// Judges evidence and answers from it, with the weights it is given.
#[derive(Clone, Debug)]
pub struct Reader {
    answers: Weights,
    refusal: Check,
}

impl Reader {
    /// Makes a reader with the weights that the settings name.
    ///
    /// # Errors
    /// If weights cannot be read or do not fit the features of this build.
    pub fn new(config: &Config) -> Result<Reader, Error> {
        let unfit = |setting: &'static str| move |source| Error::Weights { setting, source };
        let answers = match config.answers.as_os_str().is_empty() {
            true => Weights::builtin().map_err(Clone::clone).cloned(),
            false => Weights::load(&config.answers),
        };
        let refusal = match config.refusal.as_os_str().is_empty() {
            true => Check::builtin().map_err(Clone::clone).cloned(),
            false => Check::load(&config.refusal),
        };
        Ok(Reader::with(
            answers.map_err(unfit("answers"))?,
            refusal.map_err(unfit("refusal"))?,
        ))
    }

    /// Makes a reader with these weights.
    pub fn with(answers: Weights, refusal: Check) -> Reader {
        Reader { answers, refusal }
    }

    /// Judges the evidence of a request and answers from it. Pure: equal requests get equal replies.
    pub fn read(&self, request: &AnswerV1) -> AnsweredV1 {
        read(request, self)
    }
}

fn read(request: &AnswerV1, Reader { answers, refusal }: &Reader) -> AnsweredV1 {
    let request = &*amended(request);
    let mut lexicon = Lexicon::default();
    let question = question::analyse(request, &mut lexicon);
    let pool = Pool::gather(request, &question, answers, &mut lexicon);
    if pool.lines.is_empty() {
        return refused("nothing is remembered that could answer this", Vec::new());
    }
    let judgement = judge(&pool, &question, &mut lexicon);
    let sought = Sought::of(request, &question, &pool);
    if let Some(found) = sought.as_ref().and_then(|it| it.find(&pool)) {
        return accepted(request, &question, &judgement, found, &pool);
    }
    if let Some(refusal) = refuse(request, &pool, (&question, &judgement), refusal) {
        return refusal;
    }
    if sought.as_ref().is_some_and(|it| it.is_unheard(&pool)) {
        let reason = "nobody is remembered who is that to whom it asks about";
        return refused(reason, misses(&pool, &pool.by_height, "weak"));
    }
    let beside = sought.as_ref().and_then(|it| it.beside(&pool));
    let found = beside.or_else(|| answer::find(&question, &pool, answers, &mut lexicon));
    let Some(found) = found else {
        return refused(
            "the evidence holds nothing of the kind that was asked for",
            misses(&pool, &pool.by_order, "weak"),
        );
    };
    if sought.as_ref().is_some_and(|it| it.is_no_value(&pool, &found)) {
        return refused(
            "the evidence holds nothing of the kind that was asked for",
            misses(&pool, &found.lines, "weak"),
        );
    }
    if is_beside(&question, &pool, &found) {
        return refused(
            "what is remembered nearest to this says nothing of it",
            misses(&pool, &found.lines, "weak"),
        );
    }
    if sought.as_ref().is_some_and(|it| it.denies(&pool, &found)) {
        let reason = format!("\"{}\" is somebody else, and no other name is told", found.text);
        return refused(&reason, misses(&pool, &found.lines, "weak"));
    }
    if sought.as_ref().is_some_and(|it| it.is_their_own(&pool, &found)) {
        let reason = format!(
            "\"{}\" is told of the one who is named, not of who that is to them",
            found.text
        );
        return refused(&reason, misses(&pool, &found.lines, "weak"));
    }
    let other = |line: &&usize| {
        sought
            .as_ref()
            .is_some_and(|it| it.is_of_others(pool.lines[**line].turn))
    };
    if let (Some(subject), Some(&line)) = (&question.subject, found.lines.first().filter(other)) {
        return of_others(subject, &pool, &[line]);
    }
    accepted(request, &question, &judgement, found, &pool)
}

/// Returns what the check of the evidence looks at, to fit it; none if there is no evidence. See [`crate::features::NAMES`].
pub fn features(request: &AnswerV1) -> Option<Features> {
    let mut lexicon = Lexicon::default();
    let question = question::analyse(request, &mut lexicon);
    // The check looks at no order of answering.
    let pool = Pool::gather(request, &question, &Weights::default(), &mut lexicon);
    if pool.lines.is_empty() {
        return None;
    }
    let judgement = judge(&pool, &question, &mut lexicon);
    Some(features::features(request, &question, &pool, &judgement.parts))
}

fn refuse(
    request: &AnswerV1,
    pool: &Pool<'_>,
    (question, judgement): (&Question, &Judgement),
    check: &Check,
) -> Option<AnsweredV1> {
    // "Hi" asks for nothing; a person or a time alone may.
    let asks = !question.words.is_empty() || question.subject.is_some() || question.window.is_some();
    if !asks && question.identity.is_none() && request.anchors.names.is_empty() {
        return Some(refused("the question names nothing to look for", Vec::new()));
    }
    let nothing_known = !question.words.is_empty() && question.words.iter().all(|it| !it.known);
    let least = if question.subject.is_some() {
        NOTHING
    } else {
        NOTHING_NEAR
    };
    if judgement.parts.cover < least && nothing_known {
        return Some(refused(
            "nothing on this is remembered",
            misses(pool, &pool.by_order, "weak"),
        ));
    }
    if let Some(detail) = &judgement.excluded {
        return Some(differs(pool, question, detail));
    }
    // Who asks where somebody was last week gives no word that another could own.
    if question.only_when() {
        let then = |it: &Line<'_>| question.may_say(&it.turn.actor) && rank::dated(it.turn, request) > 0.0;
        let nothing = || {
            refused(
                "nothing is remembered of that time",
                misses(pool, &pool.by_height, "weak"),
            )
        };
        return (!pool.lines.iter().any(then)).then(nothing);
    }
    // Who owns a sentence is told by pronouns; in a language without known ones nobody is refused for that.
    if !gloss::is_known(&request.question) {
        return None;
    }
    let opinion = check.weigh(&features::features(request, question, pool, &judgement.parts));
    if !opinion.refuse {
        return None;
    }
    if let (Some(subject), true) = (&question.subject, opinion.others > opinion.lacking.max(0.0)) {
        let others: Vec<usize> = pool
            .by_height
            .iter()
            .copied()
            .filter(|&it| pool.lines[it].own < 0.0)
            .collect();
        return Some(of_others(subject, pool, &others));
    }
    if let Some(detail) = &judgement.changed {
        return Some(differs(pool, question, detail));
    }
    Some(refused(
        "nothing that is remembered fits the question well enough",
        misses(pool, &pool.by_height, "weak"),
    ))
}

/// Says whether neither the turn of a time nor one beside it speaks of what is asked.
fn is_beside(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let covers = |line: &usize| {
        let around = pool.window(*line, 1, 1).into_iter();
        around.map(|it| pool.lines[it].cover).fold(0.0, f32::max)
    };
    let cover = found.lines.iter().map(covers).fold(0.0, f32::max);
    let untimed = question.kind == AnswerKind::When && !question.words.is_empty() && cover < BESIDE;
    untimed
        || is_unspoken(question, pool, found)
        || is_undone(question, pool, found)
        || is_unnamed(question, pool, found)
}

/// A verb less like that of the question is another.
const UNLIKE: f32 = 0.3;
/// Verbs that are told in many other words, by stem.
const OPEN: [&str; 12] = [
    "give", "come", "go", "get", "make", "take", "pass", "turn", "put", "have", "keep", "be",
];

/// Says whether the one thing whose time is asked for is spoken of nowhere near a time: a first day at work is no birthday.
fn is_unspoken(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let thing = match question.words.as_slice() {
        [only] => !only.verb && !only.specific,
        _ => false,
    };
    let said = |line: &usize| {
        pool.window(*line, 2, 1)
            .into_iter()
            .any(|it| pool.lines[it].matches[0] >= UNLIKE)
    };
    question.kind == AnswerKind::When && thing && !found.lines.iter().any(said)
}

/// Says whether who is asked for by what they did is taken from turns that speak of no such thing.
fn is_undone(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let verb = question
        .words
        .iter()
        .position(|it| it.verb && it.known && !OPEN.contains(&it.stem.as_str()));
    let Some(verb) = verb.filter(|_| question.kind == AnswerKind::Who && question.gap.agent) else {
        return false;
    };
    let said = |line: &usize| {
        pool.window(*line, 2, 2)
            .into_iter()
            .any(|it| pool.lines[it].matches[verb] >= UNLIKE)
    };
    !found.lines.iter().any(said)
}

/// Says whether what is told of somebody who never speaks is taken from turns that do not name them.
fn is_unnamed(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let tokens = text::words(&question.lower);
    let does = |stem: &str| {
        tokens
            .windows(2)
            .any(|it| text::is_auxiliary(it[0]) && text::stem(it[1]) == stem)
    };
    let name = question
        .words
        .iter()
        .position(|it| it.specific && it.known && does(&it.stem));
    // The user of an assistant may be the one, and is hardly ever named.
    let user = question.speakers.iter().any(|it| text::role::is_user(it));
    let open = !matches!(question.kind, AnswerKind::When | AnswerKind::YesNo);
    let Some(name) = name.filter(|_| open && question.subject.is_none() && !user) else {
        return false;
    };
    let said = |line: &usize| {
        pool.window(*line, 4, 2)
            .into_iter()
            .any(|it| pool.lines[it].matches[name] >= 1.0)
    };
    !found.lines.iter().any(said)
}

fn of_others(subject: &str, pool: &Pool<'_>, lines: &[usize]) -> AnsweredV1 {
    let reason = format!("what is remembered of this is about somebody else, not about {subject}");
    refused(&reason, misses(pool, lines, "said_by_other"))
}

fn differs(pool: &Pool<'_>, question: &Question, detail: &Detail) -> AnsweredV1 {
    let subject = question.subject.as_deref();
    let of = subject.map(|it| format!(" of {it}")).unwrap_or_default();
    let (found, asked) = (&detail.found, &detail.asked);
    let reason = format!("what is remembered{of} says \"{found}\" where \"{asked}\" was asked");
    refused(&reason, misses(pool, &[detail.line], "detail_differs"))
}

fn misses(pool: &Pool<'_>, lines: &[usize], reason: &str) -> Vec<NearMiss> {
    lines
        .iter()
        .take(2)
        .map(|&it| near_miss(&pool.lines[it], reason))
        .collect()
}

fn near_miss(line: &Line<'_>, reason: &str) -> NearMiss {
    let turn = line.turn;
    let shown = if turn.text.is_empty() {
        &turn.caption
    } else {
        &turn.text
    };
    NearMiss {
        unit: turn.unit,
        external_ids: turn.external_ids.clone(),
        text: shown.chars().take(SHOWN).collect(),
        reason: reason.to_owned(),
    }
}

fn refused(reason: &str, nearest: Vec<NearMiss>) -> AnsweredV1 {
    let verdict = Verdict {
        status: Sufficiency::Insufficient,
        reasons: vec![reason.to_owned()],
        nearest,
    };
    AnsweredV1::new(verdict, None)
}

fn accepted(
    request: &AnswerV1,
    question: &Question,
    judgement: &Judgement,
    found: Found,
    pool: &Pool<'_>,
) -> AnsweredV1 {
    let (mut status, mut reasons) = (Sufficiency::Supported, Vec::new());
    if found.stated.is_none() && judgement.parts.cover < PART {
        status = Sufficiency::Partial;
        reasons.push("only a part of what was asked is found in the evidence".to_owned());
    }
    reasons.extend(found.reason.clone());
    let first = found.lines.first().map(|it| pool.lines[*it].turn);
    reasons.extend(first.and_then(|it| amend::reason(it, &found.text)));
    if found.conflict {
        status = Sufficiency::Conflicting;
    }
    if reasons.is_empty() {
        let whom = question
            .subject
            .as_deref()
            .map(|it| format!(" of {it}"))
            .unwrap_or_default();
        reasons.push(format!("the evidence{whom} covers the question"));
    }
    let probability = request.scenes.first().map_or(0.0, |it| it.probability);
    let read = 0.5 * judgement.parts.cover.min(1.0) + 0.3 * found.share + 0.2 * probability;
    let sure = found.stated.unwrap_or(read);
    let turns = || found.lines.iter().map(|&it| pool.lines[it].turn);
    let answer = Answer {
        text: found.text,
        kind: question.kind,
        supports: turns().map(|it| it.unit).collect(),
        external_ids: turns().flat_map(|it| it.external_ids.clone()).collect(),
        confidence: if found.conflict { 0.5 * sure } else { sure }.clamp(0.0, 1.0),
    };
    let verdict = Verdict {
        status,
        reasons,
        nearest: Vec::new(),
    };
    AnsweredV1::new(verdict, Some(answer))
}

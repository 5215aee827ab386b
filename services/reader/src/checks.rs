//! Reasons not to answer: lists of checks in a fixed order. The first check that objects decides, and each has a stable
//! code.

use domain::anchor::AnswerKind;
use domain::evidence::{NearMiss, ReasonCode, Sufficiency, Verdict};
use domain::message::AnsweredV1;
use text::{gloss, quoted_speaker, shown_name};

use crate::answer::{self, Found};
use crate::judge::{Case, Detail};
use crate::pool::{Line, Pool, same};
use crate::rank;

/// A check of the evidence, before an answer is searched.
pub(crate) type EvidenceCheck = Check<fn(&Case<'_>) -> Option<Objection>>;
/// A check of an answer that was found.
pub(crate) type AnswerCheck = Check<fn(&Case<'_>, &Found) -> Option<Objection>>;

/// A check with its code.
pub(crate) struct Check<F> {
    code: ReasonCode,
    objects: F,
}

/// The objection of a check to an answer.
pub(crate) struct Objection {
    status: Sufficiency,
    reason: String,
    nearest: Vec<NearMiss>,
}

/// Checks of the evidence: whether it supports any answer.
pub(crate) const OF_EVIDENCE: [EvidenceCheck; 10] = [
    check(ReasonCode::NothingAsked, asks_nothing),
    check(ReasonCode::NothingKnown, nothing_is_known),
    check(ReasonCode::DetailDiffers, detail_is_excluded),
    check(ReasonCode::NothingThen, nothing_is_of_that_time),
    check(ReasonCode::SaidOfAnother, is_said_of_another),
    check(ReasonCode::DetailDiffers, detail_is_changed),
    check(ReasonCode::NotCovered, is_not_covered),
    check(ReasonCode::NobodyInRole, nobody_has_the_role),
    check(ReasonCode::NameUnknown, asks_about_an_unknown_name),
    check(ReasonCode::NoShortAnswer, asks_for_more),
];

/// Checks of an answer: whether its lines are about the thing in question.
pub(crate) const OF_LINES: [AnswerCheck; 3] = [
    check_answer(ReasonCode::Uncertain, thing_is_spoken_of_elsewhere),
    check_answer(ReasonCode::AnotherMatter, time_is_of_another_matter),
    check_answer(ReasonCode::AnotherMatter, person_is_not_named),
];

/// Checks that every answer must pass, however probable it is.
pub(crate) const OF_HONESTY: [AnswerCheck; 4] = [
    check_answer(ReasonCode::NameUnknown, name_is_unknown),
    check_answer(ReasonCode::WrittenAsAnother, is_written_as_another),
    check_answer(ReasonCode::NotReckoned, asks_how_long_ago),
    check_answer(ReasonCode::ToldByAnother, is_told_by_another),
];

const fn check(code: ReasonCode, objects: fn(&Case<'_>) -> Option<Objection>) -> EvidenceCheck {
    Check { code, objects }
}

const fn check_answer(code: ReasonCode, objects: fn(&Case<'_>, &Found) -> Option<Objection>) -> AnswerCheck {
    Check { code, objects }
}

/// Returns the reply of the first check of the evidence that objects.
pub(crate) fn of_evidence(case: &Case<'_>) -> Option<AnsweredV1> {
    OF_EVIDENCE
        .iter()
        .find_map(|it| Some((it.objects)(case)?.reply(it.code)))
}

/// Returns the reply of the first of the given checks that objects to an answer.
pub(crate) fn of_answer(checks: &[AnswerCheck], case: &Case<'_>, found: &Found) -> Option<AnsweredV1> {
    checks
        .iter()
        .find_map(|it| Some((it.objects)(case, found)?.reply(it.code)))
}

impl Objection {
    /// Returns an objection for evidence that does not support an answer.
    pub(crate) fn refused(reason: impl Into<String>, nearest: Vec<NearMiss>) -> Objection {
        Objection {
            status: Sufficiency::Insufficient,
            reason: reason.into(),
            nearest,
        }
    }

    /// Returns an objection for evidence that may contain the answer.
    pub(crate) fn withheld(reason: impl Into<String>) -> Objection {
        Objection {
            status: Sufficiency::Partial,
            reason: reason.into(),
            nearest: Vec::new(),
        }
    }

    /// Returns the reply without an answer.
    pub(crate) fn reply(self, code: ReasonCode) -> AnsweredV1 {
        let verdict = Verdict {
            status: self.status,
            code: Some(code),
            reasons: vec![self.reason],
            nearest: self.nearest,
        };
        AnsweredV1::new(verdict, None)
    }
}

/// Objects if the question contains nothing to look for, such as "Hi". A person or a time alone is enough.
fn asks_nothing(case: &Case<'_>) -> Option<Objection> {
    let Case { request, question, .. } = case;
    let asks = !question.words.is_empty()
        || question.subject.is_some()
        || question.window.is_some()
        || question.identity.is_some()
        || !request.anchors.names.is_empty();
    (!asks).then(|| Objection::refused("the question names nothing to look for", Vec::new()))
}

/// Least cover by a window if no word of the question was ever said. Evidence with less cover has nothing to do with
/// the question.
const NOTHING: f32 = 0.2;
/// ... if the question is also about no speaker.
const NOTHING_NEAR: f32 = 0.4;

fn nothing_is_known(case: &Case<'_>) -> Option<Objection> {
    let (question, pool) = (case.question, case.pool);
    let is_unknown = !question.words.is_empty() && question.words.iter().all(|it| !it.known);
    let least = match question.subject {
        Some(_) => NOTHING,
        None => NOTHING_NEAR,
    };
    let reason = "nothing about this is remembered";
    (is_unknown && case.judgement.parts.cover < least)
        .then(|| Objection::refused(reason, misses(pool, &pool.by_order, "weak")))
}

fn detail_is_excluded(case: &Case<'_>) -> Option<Objection> {
    let detail = case.judgement.excluded.as_ref()?;
    Some(differs(case, detail))
}

/// Objects if a question such as "where was Ann last week" has no evidence from that time. It has no other word whose
/// owner could be checked.
fn nothing_is_of_that_time(case: &Case<'_>) -> Option<Objection> {
    let Case {
        request,
        question,
        pool,
        ..
    } = case;
    let then = |it: &Line<'_>| question.may_say(&it.turn.actor) && rank::dated(it.turn, request) > 0.0;
    let reason = "nothing is remembered from that time";
    (question.only_when() && !pool.lines.iter().any(then))
        .then(|| Objection::refused(reason, misses(pool, &pool.by_height, "weak")))
}

/// Returns true if the fitted check speaks against an answer. The check relies on pronouns to find the owner of a
/// sentence, so it refuses no question in an unknown language.
fn is_doubted(case: &Case<'_>) -> bool {
    !case.question.only_when() && gloss::is_known(&case.request.question) && case.opinion.refuse
}

fn is_said_of_another(case: &Case<'_>) -> Option<Objection> {
    let (opinion, pool) = (&case.opinion, case.pool);
    let subject = case.question.subject.as_ref()?;
    if !is_doubted(case) || opinion.others <= opinion.lacking.max(0.0) {
        return None;
    }
    let others = pool.by_height.iter().copied().filter(|&it| pool.lines[it].own < 0.0);
    let others: Vec<usize> = others.collect();
    let reason = format!("the evidence is about somebody else, not about {}", shown_name(subject));
    Some(Objection::refused(reason, misses(pool, &others, "said_by_other")))
}

fn detail_is_changed(case: &Case<'_>) -> Option<Objection> {
    let detail = case.judgement.changed.as_ref().filter(|_| is_doubted(case))?;
    Some(differs(case, detail))
}

fn is_not_covered(case: &Case<'_>) -> Option<Objection> {
    let reason = "nothing that is remembered fits the question well enough";
    is_doubted(case).then(|| Objection::refused(reason, misses(case.pool, &case.pool.by_height, "weak")))
}

fn nobody_has_the_role(case: &Case<'_>) -> Option<Objection> {
    let role = case.sought?.unheard_role(case.pool)?;
    let reason = format!("the evidence mentions no {role}");
    Some(Objection::refused(
        reason,
        misses(case.pool, &case.pool.by_height, "weak"),
    ))
}

/// Objects if the question asks for a person, a place, a fact or yes or no and contains a name or number that was never
/// said.
fn asks_about_an_unknown_name(case: &Case<'_>) -> Option<Objection> {
    let is_closed = matches!(
        case.question.kind,
        AnswerKind::Who | AnswerKind::Where | AnswerKind::YesNo
    );
    if !is_closed && case.sought.is_none() {
        return None;
    }
    unknown_name(case, &case.pool.by_height)
}

/// Objects to a question that only a stated fact or a longer answer can answer. A stated fact was already looked for.
fn asks_for_more(case: &Case<'_>) -> Option<Objection> {
    let reason = "the question needs more than a short answer; read the evidence";
    (case.sought.is_some() || !answer::is_short(case.question)).then(|| Objection::withheld(reason))
}

/// Least cover of the question near a time that answers it. With less cover, the time belongs to something else.
const BESIDE: f32 = 0.15;
/// Least similarity of a word near a time to the only word of the question. With less, it is another thing.
const UNLIKE: f32 = 0.3;

fn another_matter(case: &Case<'_>, found: &Found) -> Objection {
    let reason = "the nearest evidence is about something else";
    Objection::refused(reason, misses(case.pool, &found.lines, "weak"))
}

/// Returns the largest value of a measure over the lines of an answer, up to `before` turns before them and `after`
/// turns after them; at least 0.
fn near(pool: &Pool<'_>, found: &Found, around: [usize; 2], measure: impl Fn(&Line<'_>) -> f32) -> f32 {
    let [before, after] = around;
    let lines = found.lines.iter().flat_map(|&it| pool.window(it, before, after));
    lines.map(|it| measure(&pool.lines[it])).fold(0.0, f32::max)
}

/// Least cover of a line that mentions the thing in question.
const SPOKEN: f32 = 0.5;

/// Objects if the evidence mentions the thing in question, but the time that was found belongs to something else: "exam
/// went ok", and a dentist on Friday.
fn thing_is_spoken_of_elsewhere(case: &Case<'_>, found: &Found) -> Option<Objection> {
    let speaks = |it: &Line<'_>| it.own >= 0.0 && it.cover >= SPOKEN;
    let reason = "the evidence speaks of this, but gives no time for it that is certain enough";
    (is_time_of_another_matter(case, found) && case.pool.lines.iter().any(speaks)).then(|| Objection::withheld(reason))
}

fn time_is_of_another_matter(case: &Case<'_>, found: &Found) -> Option<Objection> {
    is_time_of_another_matter(case, found).then(|| another_matter(case, found))
}

/// Returns true if the text near a time hardly covers the question, or does not mention the one thing whose time is
/// asked for: a first day at work is no birthday.
fn is_time_of_another_matter(case: &Case<'_>, found: &Found) -> bool {
    let question = case.question;
    let is_thing_far = match question.words.as_slice() {
        [only] => !only.verb && !only.specific && near(case.pool, found, [2, 1], |it| it.matches[0]) < UNLIKE,
        _ => false,
    };
    let is_timed = question.kind == AnswerKind::When && !question.words.is_empty();
    is_timed && (is_thing_far || near(case.pool, found, [1, 1], |it| it.cover) < BESIDE)
}

/// Objects if the question is about a person who never speaks, and the turns near the answer do not name that person.
fn person_is_not_named(case: &Case<'_>, found: &Found) -> Option<Objection> {
    let question = case.question;
    // The person may be the user of an assistant, who is hardly ever named.
    let is_user = question.speakers.iter().any(|it| text::role::is_user(it));
    if question.kind == AnswerKind::When || question.subject.is_some() || is_user {
        return None;
    }
    let tokens = text::words(&question.lower);
    let does = |stem: &str| {
        tokens
            .windows(2)
            .any(|it| text::is_auxiliary(it[0]) && text::stem(it[1]) == stem)
    };
    let mut words = question.words.iter();
    let name = words.position(|it| it.specific && it.known && does(&it.stem))?;
    (near(case.pool, found, [4, 2], |it| it.matches[name]) < 1.0).then(|| another_matter(case, found))
}

/// Objects if a name or number of the question was never said: no other word means the same.
fn name_is_unknown(case: &Case<'_>, found: &Found) -> Option<Objection> {
    unknown_name(case, &found.lines)
}

fn unknown_name(case: &Case<'_>, nearest: &[usize]) -> Option<Objection> {
    let name = case.question.words.iter().find(|it| !it.known && it.specific)?;
    let reason = format!("nothing is remembered about \"{}\"", name.stem);
    Some(Objection::refused(reason, misses(case.pool, nearest, "weak")))
}

/// Objects if a turn of the answer is written in the name of another speaker or of the person in question.
fn is_written_as_another(case: &Case<'_>, found: &Found) -> Option<Objection> {
    let (request, pool) = (case.request, case.pool);
    let names: Vec<&str> = request
        .speakers
        .iter()
        .chain(&request.anchors.names)
        .map(String::as_str)
        .collect();
    let name = found.lines.iter().find_map(|&it| {
        let turn = pool.lines[it].turn;
        quoted_speaker(&turn.text, &turn.actor, &names)
    });
    let name = shown_name(name?);
    let teller = shown_name(&pool.lines[*found.lines.first()?].turn.actor);
    Some(Objection::withheld(format!(
        "only {teller} says this, writing as {name}"
    )))
}

fn asks_how_long_ago(case: &Case<'_>, _: &Found) -> Option<Objection> {
    let reason = "how long ago this was cannot be worked out without a language model";
    case.question.traits.ago.then(|| Objection::withheld(reason))
}

/// Least cover by a line of the person in question, as a share of the cover by another speaker's line. With this cover,
/// the person speaks about the same thing.
const COMPARABLE: f32 = 0.75;

fn is_told_by_another(case: &Case<'_>, found: &Found) -> Option<Objection> {
    let (question, pool) = (case.question, case.pool);
    let subject = question.subject.as_deref()?;
    let first = &pool.lines[*found.lines.first()?];
    let is_by_subject = |it: &Line<'_>| same(subject, &it.turn.actor);
    if is_by_subject(first) || found.conflict {
        return None;
    }
    let speaks = |it: &Line<'_>| is_by_subject(it) && it.own > 0.0 && it.cover >= COMPARABLE * first.cover;
    let (teller, subject) = (shown_name(&first.turn.actor), shown_name(subject));
    let reason = if pool.lines.iter().any(speaks) {
        format!("the best evidence is what {teller} said, but {subject} speaks of this too")
    } else if question.traits.speech {
        format!("the question asks what {subject} said, but the best evidence is what {teller} said")
    } else {
        return None;
    };
    Some(Objection::withheld(reason))
}

fn differs(case: &Case<'_>, detail: &Detail) -> Objection {
    let subject = case.question.subject.as_deref();
    let about = subject
        .map(|it| format!(" about {}", shown_name(it)))
        .unwrap_or_default();
    let (found, asked) = (&detail.found, &detail.asked);
    let reason = format!("the question says \"{asked}\", but the evidence{about} says \"{found}\"");
    Objection::refused(reason, misses(case.pool, &[detail.line], "detail_differs"))
}

/// Most characters of a near miss that are shown.
const SHOWN: usize = 200;

/// Returns the first two of the given lines as near misses.
pub(crate) fn misses(pool: &Pool<'_>, lines: &[usize], reason: &str) -> Vec<NearMiss> {
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

//! Abstention: the reasons not to answer, as lists of checks in a fixed order. The first check that objects decides,
//! and each has a stable code.

use domain::anchor::AnswerKind;
use domain::evidence::ReasonCode;
use domain::message::AnsweredV1;
use text::{gloss, quoted_speaker, shown_name};

use crate::answer::{self, FoundAnswer};
use crate::check::judge::{Case, Detail};
use crate::check::near_misses::near_misses;
use crate::check::objection::Objection;
use crate::check::told_events;
use crate::evidence::evidence_lines::{Pool, is_same_speaker};
use crate::evidence::line::Line;
use crate::evidence::rank;

/// A check of the evidence, before an answer is searched.
pub(crate) type EvidenceCheck = Check<fn(&Case<'_>) -> Option<Objection>>;
/// A check of an answer that was found.
pub(crate) type AnswerCheck = Check<fn(&Case<'_>, &FoundAnswer) -> Option<Objection>>;

/// A check with its code.
pub(crate) struct Check<F> {
    code: ReasonCode,
    objects: F,
}

/// Checks of the evidence: whether it supports any answer.
pub(crate) const OF_EVIDENCE: [EvidenceCheck; 11] = [
    check_evidence(ReasonCode::NothingAsked, asks_nothing),
    check_evidence(ReasonCode::NothingOfKind, only_an_ended_state_is_known),
    check_evidence(ReasonCode::NothingKnown, nothing_is_known),
    check_evidence(ReasonCode::DetailDiffers, detail_is_excluded),
    check_evidence(ReasonCode::NothingThen, nothing_is_of_that_time),
    check_evidence(ReasonCode::SaidOfAnother, is_said_of_another),
    check_evidence(ReasonCode::DetailDiffers, detail_is_changed),
    check_evidence(ReasonCode::NotCovered, is_not_covered),
    check_evidence(ReasonCode::NobodyInRole, nobody_has_the_role),
    check_evidence(ReasonCode::NameUnknown, asks_about_an_unknown_name),
    check_evidence(ReasonCode::NoShortAnswer, asks_for_more),
];

/// Checks of an answer: whether its lines are about the thing in question.
pub(crate) const OF_LINES: [AnswerCheck; 3] = [
    check_answer(ReasonCode::Uncertain, thing_is_spoken_of_elsewhere),
    check_answer(ReasonCode::AnotherMatter, time_is_of_another_matter),
    check_answer(ReasonCode::AnotherMatter, person_is_not_named),
];

/// Checks that every answer must pass, however probable it is.
pub(crate) const OF_HONESTY: [AnswerCheck; 8] = [
    check_answer(ReasonCode::NameUnknown, |case, found| unknown_name(case, &found.lines)),
    check_answer(ReasonCode::WrittenAsAnother, is_written_as_another),
    check_answer(ReasonCode::NotReckoned, asks_how_long_ago),
    check_answer(ReasonCode::ToldByAnother, is_told_by_another),
    check_answer(ReasonCode::SaidOfAnother, told_events::another_person_acts),
    check_answer(ReasonCode::Uncertain, told_events::event_is_not_reported),
    check_answer(ReasonCode::Uncertain, told_events::event_is_not_meant),
    check_answer(ReasonCode::Uncertain, time_is_doubtful),
];

const fn check_evidence(code: ReasonCode, objects: fn(&Case<'_>) -> Option<Objection>) -> EvidenceCheck {
    Check { code, objects }
}

const fn check_answer(code: ReasonCode, objects: fn(&Case<'_>, &FoundAnswer) -> Option<Objection>) -> AnswerCheck {
    Check { code, objects }
}

/// Returns the reply of the first check of the evidence that objects.
pub(crate) fn of_evidence(case: &Case<'_>) -> Option<AnsweredV1> {
    OF_EVIDENCE
        .iter()
        .find_map(|it| Some((it.objects)(case)?.into_reply(it.code)))
}

/// Returns the reply of the first of the given checks that objects to an answer.
pub(crate) fn of_answer(checks: &[AnswerCheck], case: &Case<'_>, found: &FoundAnswer) -> Option<AnsweredV1> {
    checks
        .iter()
        .find_map(|it| Some((it.objects)(case, found)?.into_reply(it.code)))
}

/// Objects if the question contains nothing to look for, such as "Hi". A person or a time alone is enough.
fn asks_nothing(case: &Case<'_>) -> Option<Objection> {
    let Case { request, question, .. } = case;
    let asks = !question.words.is_empty()
        || question.subject.is_some()
        || question.window.is_some()
        || question.identity.is_some()
        || !request.anchors.names.is_empty();
    (!asks).then(|| Objection::insufficient_evidence("the question names nothing to look for", Vec::new()))
}

/// Minimum share of the question that a passage must cover if no record contains a word of the question. Below it, the
/// evidence is unrelated to the question.
const NOTHING: f32 = 0.2;
/// The same minimum if the question, in addition, is not about a speaker.
const NOTHING_NEAR: f32 = 0.4;

/// Objects if no record has a word of the question, but a record says that the state in question has ended: "They let me
/// go" for "Where does Ann work?".
fn only_an_ended_state_is_known(case: &Case<'_>) -> Option<Objection> {
    nothing_is_known(case)?;
    let line = case.sought?.find_end(case.pool)?;
    let reason = "the last record about this says that it has ended";
    Some(Objection::insufficient_evidence(
        reason,
        near_misses(case.pool, &[line], "weak"),
    ))
}

fn nothing_is_known(case: &Case<'_>) -> Option<Objection> {
    let (question, pool) = (case.question, case.pool);
    let is_unknown = !question.words.is_empty() && question.words.iter().all(|it| !it.known);
    let least = match question.subject {
        Some(_) => NOTHING,
        None => NOTHING_NEAR,
    };
    let reason = "nothing about this is remembered";
    (is_unknown && case.judgement.parts.cover < least)
        .then(|| Objection::insufficient_evidence(reason, near_misses(pool, &pool.by_order, "weak")))
}

fn detail_is_excluded(case: &Case<'_>) -> Option<Objection> {
    let detail = case.judgement.excluded.as_ref()?;
    Some(object_to_differing_detail(case, detail))
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
    let then = |it: &Line<'_>| question.may_say(&it.turn.actor) && rank::score_time_match(it.turn, request) > 0.0;
    let reason = "nothing is remembered from that time";
    (question.only_when() && !pool.lines.iter().any(then))
        .then(|| Objection::insufficient_evidence(reason, near_misses(pool, &pool.by_height, "weak")))
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
    let reason = format!(
        "the evidence is about another person, not about {}",
        shown_name(subject)
    );
    Some(Objection::insufficient_evidence(
        reason,
        near_misses(pool, &others, "said_by_other"),
    ))
}

fn detail_is_changed(case: &Case<'_>) -> Option<Objection> {
    let detail = case.judgement.changed.as_ref().filter(|_| is_doubted(case))?;
    Some(object_to_differing_detail(case, detail))
}

fn is_not_covered(case: &Case<'_>) -> Option<Objection> {
    let reason = "no record fits the question well enough";
    is_doubted(case)
        .then(|| Objection::insufficient_evidence(reason, near_misses(case.pool, &case.pool.by_height, "weak")))
}

fn nobody_has_the_role(case: &Case<'_>) -> Option<Objection> {
    let role = case.sought?.unheard_role(case.pool)?;
    let reason = format!("the evidence mentions no {role}");
    Some(Objection::insufficient_evidence(
        reason,
        near_misses(case.pool, &case.pool.by_height, "weak"),
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
    (case.sought.is_some() || !answer::is_short(case.question)).then(|| Objection::partial_evidence(reason))
}

/// Minimum cover of the question near a time that answers it. With less cover, the time belongs to something else.
const BESIDE: f32 = 0.15;
/// Minimum similarity of a word near a time to the only word of the question. With less similarity, the word means
/// another thing.
const UNLIKE: f32 = 0.3;

fn another_matter(case: &Case<'_>, found: &FoundAnswer) -> Objection {
    let reason = "the nearest evidence is about something else";
    Objection::insufficient_evidence(reason, near_misses(case.pool, &found.lines, "weak"))
}

/// Returns the largest value of a measure over the lines of an answer, up to `before` turns before them and `after`
/// turns after them; at least 0.
fn max_near_answer(
    pool: &Pool<'_>,
    found: &FoundAnswer,
    around: [usize; 2],
    measure: impl Fn(&Line<'_>) -> f32,
) -> f32 {
    let [before, after] = around;
    let lines = found.lines.iter().flat_map(|&it| pool.window_around(it, before, after));
    lines.map(|it| measure(&pool.lines[it])).fold(0.0, f32::max)
}

/// Minimum cover of a line that mentions the thing in question.
const SPOKEN: f32 = 0.5;

/// Objects if the evidence mentions the thing in question, but the time that was found belongs to something else: "exam
/// went ok", and a dentist on Friday.
fn thing_is_spoken_of_elsewhere(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    let speaks = |it: &Line<'_>| it.own >= 0.0 && it.cover >= SPOKEN;
    let reason = "the evidence mentions this, but gives no time for it that is certain enough";
    (is_time_of_another_matter(case, found) && case.pool.lines.iter().any(speaks))
        .then(|| Objection::partial_evidence(reason))
}

fn time_is_of_another_matter(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    is_time_of_another_matter(case, found).then(|| another_matter(case, found))
}

/// Returns true if the text near a time hardly covers the question, or does not mention the one thing whose time is
/// asked for: a first day at work is no birthday.
fn is_time_of_another_matter(case: &Case<'_>, found: &FoundAnswer) -> bool {
    let question = case.question;
    let is_thing_far = match question.words.as_slice() {
        [only] => {
            !only.verb && !only.specific && max_near_answer(case.pool, found, [2, 1], |it| it.matches[0]) < UNLIKE
        }
        _ => false,
    };
    let is_timed = question.kind == AnswerKind::When && !question.words.is_empty();
    is_timed && (is_thing_far || max_near_answer(case.pool, found, [1, 1], |it| it.cover) < BESIDE)
}

/// Objects if the question is about a person who never speaks, and the turns near the answer do not name that person.
fn person_is_not_named(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    let question = case.question;
    // The person may be the user of an assistant, who is hardly ever named.
    let is_user = question.speakers.iter().any(|it| text::people::role::is_user(it));
    if question.kind == AnswerKind::When || question.subject.is_some() || is_user {
        return None;
    }
    let tokens = text::split_words(&question.lower);
    let does = |stem: &str| {
        tokens
            .windows(2)
            .any(|it| text::is_auxiliary(it[0]) && text::stem_word(it[1]) == stem)
    };
    let mut words = question.words.iter();
    let name = words.position(|it| it.specific && it.known && does(&it.stem))?;
    (max_near_answer(case.pool, found, [4, 2], |it| it.matches[name]) < 1.0).then(|| another_matter(case, found))
}

/// Objects if a name or number of the question was never said: no other word means the same.
fn unknown_name(case: &Case<'_>, nearest: &[usize]) -> Option<Objection> {
    let name = case.question.words.iter().find(|it| !it.known && it.specific)?;
    let reason = format!("nothing is remembered about \"{}\"", name.stem);
    Some(Objection::insufficient_evidence(
        reason,
        near_misses(case.pool, nearest, "weak"),
    ))
}

/// Objects if a turn of the answer is written in the name of another speaker or of the person in question.
fn is_written_as_another(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
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
    Some(Objection::partial_evidence(format!(
        "only {teller} says this, writing as {name}"
    )))
}

fn asks_how_long_ago(case: &Case<'_>, _: &FoundAnswer) -> Option<Objection> {
    let reason = "how long ago this was cannot be worked out without a language model";
    case.question.traits.ago.then(|| Objection::partial_evidence(reason))
}

/// Minimum cover by a line of the person in question, as a share of the cover by another speaker's line. With this
/// cover, the person speaks about the same thing.
const COMPARABLE: f32 = 0.75;

/// Number of turns before and after the line of an answer that may state it instead.
const STATED_NEARBY: [usize; 2] = [3, 2];

/// Returns the line that states an answer: the first line of the answer, or the nearest one around it if that line only
/// asks for the value or repeats it as a question.
fn find_stating_line(pool: &Pool<'_>, found: &FoundAnswer) -> Option<usize> {
    let first = *found.lines.first()?;
    let states = |line: &usize| {
        let mut sentences = pool.lines[*line].sentences.iter();
        sentences.any(|it| it.text.contains(&found.text) && !text::is_question(&it.text))
    };
    let [before, after] = STATED_NEARBY;
    let window = pool.window_around(first, before, after);
    let own = window.iter().position(|it| *it == first)?;
    let mut nearest: Vec<usize> = (0..window.len()).collect();
    nearest.sort_by_key(|it| it.abs_diff(own));
    nearest.into_iter().map(|it| window[it]).find(states).or(Some(first))
}

fn is_told_by_another(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    let (question, pool) = (case.question, case.pool);
    let subject = question.subject.as_deref()?;
    let first = &pool.lines[find_stating_line(pool, found)?];
    let is_by_subject = |it: &Line<'_>| is_same_speaker(subject, &it.turn.actor);
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
    Some(Objection::partial_evidence(reason))
}

fn time_is_doubtful(_: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    let reason = "the evidence gives no time for this that is certain enough";
    found.is_doubtful.then(|| Objection::partial_evidence(reason))
}

fn object_to_differing_detail(case: &Case<'_>, detail: &Detail) -> Objection {
    let subject = case.question.subject.as_deref();
    let about = subject
        .map(|it| format!(" about {}", shown_name(it)))
        .unwrap_or_default();
    let (found, question_word) = (&detail.found, &detail.question_word);
    let reason = format!("the question says \"{question_word}\", but the evidence{about} says \"{found}\"");
    Objection::insufficient_evidence(reason, near_misses(case.pool, &[detail.line], "detail_differs"))
}

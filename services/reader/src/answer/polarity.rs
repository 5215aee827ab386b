//! Yes or no.

use super::lexis::denies;
use super::{Found, change, object, outcome};
use crate::pool::{Line, Pool, Sentence};
use crate::question::Question;

/// A sentence that covers less than this share of the best says nothing about it.
pub(super) const NEAR: f32 = 0.75;
/// A turn this much behind the best one does not vote.
const BEHIND: f32 = 1.0;
/// If the rest of the question is covered this well, a missing name or number means that it was another.
const REST: f32 = 0.6;

/// Answers yes or no by what the best sentences of the best turns affirm or deny.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<Found> {
    let &first = lines.first()?;
    let top = pool.lines[first].order;
    let near: Vec<usize> = lines
        .iter()
        .copied()
        .filter(|&it| pool.lines[it].order >= top - BEHIND)
        .collect();
    let over = change::over(question, pool, lines);
    let outcome = outcome::told(question, pool, lines).filter(|_| over.is_none());
    // Who decides is cited before whoever tells of the matter.
    let (denied, cited) = if let Some((denied, line)) = outcome {
        (denied, vec![line])
    } else if let Some(line) = over {
        (true, vec![line])
    } else if differs(question, pool, first) {
        (true, vec![first])
    } else if let Some(denied) = spoken(pool, &pool.lines[first]) {
        (denied, vec![first])
    } else if let Some((denied, reply)) = replied(question, pool, first).or_else(|| answered(question, pool, &near)) {
        (denied, vec![reply, first])
    } else if object::is_another(question, pool, &near) {
        return None;
    } else {
        (denied(question, pool, &near), vec![first])
    };
    let text = question.replies[usize::from(denied != question.negated)];
    let share = pool.lines[first]
        .sentences
        .iter()
        .map(|it| it.cover)
        .fold(0.0, f32::max);
    Some(Found {
        text: text.to_owned(),
        lines: cited,
        share,
        reason: None,
        conflict: false,
        stated: None,
    })
}

/// Says whether a name or number of the question is missing around a turn that covers all else.
fn differs(question: &Question, pool: &Pool<'_>, at: usize) -> bool {
    let window = pool.window(at, 2, 2);
    let most = |word: usize| {
        window
            .iter()
            .map(|&it| pool.lines[it].matches[word])
            .fold(0.0, f32::max)
    };
    question
        .words
        .iter()
        .enumerate()
        .filter(|(_, it)| it.specific)
        .any(|(at, word)| {
            let others = || question.words.iter().enumerate().filter(|(other, _)| *other != at);
            let weight: f32 = others().map(|it| it.1.weight).sum();
            let rest: f32 = others().map(|(other, it)| it.weight * most(other)).sum();
            most(at) < 1.0 && word.idf > 0.0 && weight > 0.0 && rest >= REST * weight
        })
}

/// A reply that opens with yes or no to a question that covers the matter decides.
fn spoken(pool: &Pool<'_>, line: &Line<'_>) -> Option<bool> {
    let asked = pool.lines[line.previous?]
        .sentences
        .iter()
        .rev()
        .find(|it| it.question)?;
    let own = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let share = |denied: &bool| if *denied { 0.6 * own } else { own };
    opens_denying(line).filter(|it| asked.cover > share(it))
}

/// The matter is told and somebody asks back what is asked now, "did it survive?", or it is asked at once: who replies decides.
fn replied(question: &Question, pool: &Pool<'_>, first: usize) -> Option<(bool, usize)> {
    let told = &pool.lines[first];
    let same = |it: &&Sentence| {
        let mut pairs = question.words.iter().zip(&it.matches);
        it.question && pairs.any(|(word, like)| word.verb && *like >= 1.0)
    };
    let mut replies = [Some(first), told.next].into_iter().flatten().filter_map(|at| {
        let asks = &pool.lines[at];
        asks.sentences.last().filter(same)?;
        let reply = asks.next?;
        let denied = opens_denying(&pool.lines[reply])?;
        (pool.lines[reply].turn.actor != asks.turn.actor).then_some((denied, reply))
    });
    replies.next()
}

/// Says whether a turn opens with no; none if it opens with neither yes nor no.
pub(super) fn opens_denying(line: &Line<'_>) -> Option<bool> {
    let english = text::gloss::english(text::sentences(&line.turn.text).first()?);
    match text::words(&english).first()?.to_lowercase().as_str() {
        "no" | "nope" | "nah" | "never" => Some(true),
        "yes" | "yeah" | "yep" | "yup" | "absolutely" | "definitely" => Some(false),
        _ => None,
    }
}

/// Longest denial that says nothing else, in words: "I did not go", "we couldn't make it".
const ELLIPSIS: usize = 5;

/// Somebody else told of the matter, and the one asked about answers in a few words that it was not so for them.
fn answered(question: &Question, pool: &Pool<'_>, near: &[usize]) -> Option<(bool, usize)> {
    let subject = question.subject.as_ref()?.to_lowercase();
    let own = |it: usize| pool.lines[it].turn.actor.to_lowercase() == subject;
    let mut replies = near
        .iter()
        .filter(|&&it| !own(it))
        .filter_map(|&it| pool.lines[it].next);
    let denies_all = |it: usize| {
        let first = pool.lines[it].sentences.first().map_or("", |it| it.text.as_str());
        let clause = first.split([',', ';', '.', '!']).next().unwrap_or_default();
        let lower = clause.to_lowercase().replace('’', "'");
        let words = text::words(&lower);
        let me = matches!(words.first(), Some(&("i" | "we")));
        me && words.len() <= ELLIPSIS && words.iter().any(|it| denies(it))
    };
    replies.find(|&it| own(it) && denies_all(it)).map(|it| (true, it))
}

/// The telling sentences vote, those of better turns more.
fn denied(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> bool {
    let all = || {
        lines
            .iter()
            .flat_map(|&line| pool.lines[line].sentences.iter().map(move |it| (line, it)))
    };
    let best = all().map(|it| it.1.cover).fold(0.0, f32::max);
    let telling = all().filter(|(_, it)| it.cover >= NEAR * best && !it.question);
    let top = lines.first().map_or(0.0, |&it| pool.lines[it].order);
    let votes: f32 = telling
        .map(|(line, it)| {
            let sign = if denies_match(it, question) { -1.0 } else { 1.0 };
            sign * it.cover * (2.0 * (pool.lines[line].order - top)).exp()
        })
        .sum();
    votes < 0.0
}

/// Parts a clause in lower case at "and" up to what is denied: "I live in Graz and don't ski" says nothing against Graz, "I don't ski and swim" denies
/// both.
pub(super) fn apart(clause: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for part in clause.split(" and ") {
        let denied = |it: &String| text::words(it).iter().any(|it| denies(it));
        match out.last_mut().filter(|it| denied(it)) {
            Some(last) => *last = format!("{last} and {part}"),
            None => out.push(part.to_owned()),
        }
    }
    out
}

/// The clauses of a sentence in lower case, in English as far as it is known.
pub(super) fn clauses(sentence: &Sentence) -> Vec<String> {
    let lower = text::gloss::english(&sentence.text).to_lowercase().replace('’', "'");
    let clauses = lower.split([',', ';', ':', '—', '。', '，']);
    clauses.flat_map(|it| it.split(" but ")).map(str::to_owned).collect()
}

/// Says whether a denial stands in the same clause as a word of the question, or an opposite in its place, unless that is denied
/// or over itself.
pub(super) fn denies_match(sentence: &Sentence, question: &Question) -> bool {
    let missing = question.words.iter().zip(&sentence.matches).filter(|it| *it.1 < 1.0);
    let opposites: Vec<&str> = missing
        .flat_map(|(word, _)| opposites(&word.stem))
        .filter(|it| sentence.terms.iter().any(|term| term.stem == *it))
        .collect();
    let parts = clauses(sentence).into_iter().flat_map(|it| apart(&it));
    let denied = parts.into_iter().any(|lower| {
        let words = text::words(&lower);
        let stems: Vec<String> = words.iter().map(|it| text::stem(it)).collect();
        let against = stems.iter().position(|it| opposites.contains(&it.as_str()));
        let holds = against.is_some()
            || stems
                .iter()
                .any(|it| question.words.iter().any(|word| word.stem == *it));
        let double = lower.contains("can't wait") || lower.contains("not only") || lower.contains("no doubt");
        let phrase = usize::from(DENIALS.iter().any(|it| lower.contains(it)));
        let denials = phrase + words.iter().filter(|it| denies(it)).count();
        let over = || denials == 0 && against.is_some_and(|at| change::over_at(&words, at));
        holds && !double && (denials % 2 == 1 || over())
    });
    denied == opposites.is_empty()
}

fn opposites(stem: &str) -> impl Iterator<Item = &'static str> {
    let of = move |it: &(&'static str, &'static str)| match *it {
        (one, other) if one == stem => Some(other),
        (one, other) if other == stem => Some(one),
        _ => None,
    };
    OPPOSITES.iter().filter_map(of)
}

/// Phrases that deny what stands in their clause.
const DENIALS: &[&str] = &[
    "decided against",
    "voted against",
    "turned down",
    "turned it down",
    "gave up",
    "given up",
    "backed out",
    "pulled out of",
    "passed on the",
    "called off",
    "fell through",
    "too busy to",
    "too scared to",
    "too tired to",
];

/// Stems that say the opposite of each other.
const OPPOSITES: &[(&str, &str)] = &[
    ("like", "hate"),
    ("love", "hate"),
    ("enjoy", "hate"),
    ("fond", "hate"),
    ("accept", "reject"),
    ("accept", "refus"),
    ("accept", "declin"),
    ("agre", "refus"),
    ("win", "lose"),
    ("pass", "fail"),
    ("work", "fail"),
    ("open", "close"),
    ("complet", "miss"),
    ("free", "book"),
    ("free", "taken"),
    ("start", "stop"),
    ("keep", "sell"),
    ("forget", "rememb"),
    ("alon", "togeth"),
    ("safe", "danger"),
    ("easi", "hard"),
    ("easi", "difficult"),
    ("cheap", "expens"),
    ("earli", "late"),
    ("warm", "cold"),
    ("hot", "cold"),
    ("happi", "sad"),
    ("singl", "marri"),
    ("arriv", "cancel"),
    ("happen", "cancel"),
    ("meat", "vegan"),
    ("meat", "vegetarian"),
];

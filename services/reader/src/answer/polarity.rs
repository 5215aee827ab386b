//! Yes or no.

use super::lexis::denies;
use super::{Found, change, outcome, statement};
use crate::pool::{Line, Pool, Sentence};
use crate::question::{Question, Word};

/// A sentence that covers less than this share of the best says nothing about it.
pub(super) const NEAR: f32 = 0.75;

/// Answers yes or no if somebody stated exactly that, or the contrary; none if nobody did.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<Found> {
    let over = change::over(question, pool, lines);
    let outcome = outcome::told(question, pool, lines).filter(|_| over.is_none());
    // Who decides is cited before whoever tells of the matter.
    let (denied, cited) = match (outcome, over) {
        (Some((denied, line)), _) => (denied, vec![line]),
        (None, Some(line)) => (true, vec![line]),
        (None, None) => statement::last(question, pool).map(|it| (it.is_denied, it.lines))?,
    };
    let text = question.replies[usize::from(denied != question.negated)];
    let covers = cited
        .iter()
        .flat_map(|it| &pool.lines[*it].sentences)
        .map(|it| it.cover);
    Some(Found {
        text: text.to_owned(),
        share: covers.fold(0.0, f32::max),
        lines: cited,
        reason: None,
        conflict: false,
        stated: None,
    })
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

/// Says whether a sentence holds an opposite of a word of the question.
pub(super) fn is_opposed(sentence: &Sentence, word: &Word) -> bool {
    opposites(&word.stem).any(|it| sentence.terms.iter().any(|term| term.stem == it))
}

/// Returns the stems that say the opposite of one.
pub(super) fn opposites(stem: &str) -> impl Iterator<Item = &'static str> {
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

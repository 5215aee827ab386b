//! What the reader takes from a question: whom it asks about, which words count, and how it wants to be answered.

mod asked;
mod gap;
mod measure;
mod timed;

use domain::anchor::AnswerKind;
use domain::message::AnswerV1;
use domain::time::TimeSpan;
use text::role::role;
use text::{Kind, Nouns, gloss, is_auxiliary, is_stop, stem, words};

use crate::words::Lexicon;
use measure::Measure;

pub(crate) use asked::PLAINLY_PAYING;
pub(crate) use gap::Gap;

/// A content word of the question.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// As `text` stems it.
    pub(crate) stem: String,
    /// Share of the question's rarity; all shares sum to 1.
    pub(crate) weight: f32,
    /// Rarity in the space, `ln` of one over its share of the parts.
    pub(crate) idf: f32,
    /// Whether it is the verb asked about.
    pub(crate) verb: bool,
    /// Whether it stands directly after the content word before it.
    pub(crate) adjoins: bool,
    /// Whether it is a name or a number: nothing else stands for it.
    pub(crate) specific: bool,
    /// Whether a part of the space holds it.
    pub(crate) known: bool,
}

/// A class that a question names for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// "What colour".
    Colour,
    /// "What is the name of", "what is it called".
    Name,
    /// "What is the number of", "which version".
    Figure,
    /// "What did it cost", "how much did she pay".
    Money,
    /// "How often".
    Rate,
    /// "What is her email address".
    Mail,
    /// "How far", "how heavy".
    Measure(Measure),
}

/// A question as the reader sees it.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// "Yes" and "No" in its language.
    pub(crate) replies: [&'static str; 2],
    /// As it is asked in lower case, its frame in English.
    pub(crate) lower: String,
    /// Kind of answer wanted.
    pub(crate) kind: AnswerKind,
    /// The only speaker it asks about, if there is one.
    pub(crate) subject: Option<String>,
    /// Whether it is the other side of what is asked: "who bought it from Ann".
    pub(crate) converse: bool,
    /// Content words in order, without speakers and dates.
    pub(crate) words: Vec<Word>,
    /// Whether it asks what somebody said, thinks or advises, so that the words of the sayer count.
    pub(crate) speech: bool,
    /// Whether it asks for several things.
    pub(crate) plural: bool,
    /// Whether it is a choice between options, or about what would be.
    pub(crate) options: Vec<String>,
    /// The class it names for its answer.
    pub(crate) class: Option<Asked>,
    /// Points of the newest turn over the oldest: what holds now is told last.
    pub(crate) recency: f32,
    /// Whether it asks how many there are of something, and not of money.
    pub(crate) many: bool,
    /// Whether it asks for the time of day.
    pub(crate) clock: bool,
    /// Who that is, if it asks who somebody is: "who is Ann?".
    pub(crate) identity: Option<String>,
    /// Whether it asks when something is, and not when it was or will be.
    pub(crate) habitual: bool,
    /// Whether it asks when something was spoken of, and not when that was.
    pub(crate) telling: bool,
    /// Whether it asks when something began.
    pub(crate) begins: bool,
    /// The time that it names, if it can be placed.
    pub(crate) window: Option<TimeSpan>,
    /// 1 if it asks what will be, -1 if it asks what was, else 0.
    pub(crate) tense: f32,
    /// Whether a time or a length of time can be what it asks for.
    pub(crate) timely: bool,
    /// Words of the names of all speakers, in lower case.
    pub(crate) speakers: Vec<String>,
    /// Whether it says "not".
    pub(crate) negated: bool,
    /// Stem of the word after "which", "what kind of" or "how many"; empty if there is none.
    pub(crate) head: String,
    /// What that word names; none if it is not known, or a figure is asked for.
    pub(crate) things: Option<Kind>,
    /// Where in a sentence what is asked for stands.
    pub(crate) gap: Gap,
    /// Vector of the bare question.
    pub(crate) vector: Vec<f32>,
}

impl Question {
    /// Says whether it names nothing but a person and a time: "where was Ann last week".
    pub(crate) fn only_when(&self) -> bool {
        self.words.is_empty() && self.window.is_some()
    }

    /// Says whether somebody is the one it asks about; anybody if it asks about nobody by name.
    pub(crate) fn may_say(&self, actor: &str) -> bool {
        self.subject.as_ref().is_none_or(|it| it == actor)
    }
}

/// Words that shape a question without being its matter.
pub(crate) const FRAME: &[&str] = &[
    "kind",
    "kinds",
    "type",
    "types",
    "sort",
    "sorts",
    "many",
    "much",
    "long",
    "often",
    "mention",
    "mentioned",
    "according",
    "happen",
    "happened",
    "based",
    "conversation",
    "likely",
];
const SPEECH: &[&str] = &[
    "say",
    "tell",
    "think",
    "suggest",
    "recommend",
    "advis",
    "offer",
    "describ",
    "mention",
    "ask",
    "repli",
    "explain",
    "encourag",
    "believ",
    "opinion",
    "advic",
];
/// Reads the question of a request.
pub(crate) fn analyse(request: &AnswerV1, lexicon: &mut Lexicon) -> Question {
    let asked = gloss::english(&request.question);
    let lower = asked.to_lowercase().replace('’', "'");
    let bare = if request.anchors.bare.is_empty() {
        &request.question
    } else {
        &request.anchors.bare
    };
    let action = asked::action(&request.anchors, &lower);
    let words = content(request, bare, &action);
    let speech = lower.contains("according to") || words.iter().any(|it| SPEECH.contains(&it.stem.as_str()));
    let noun = if asked::does(&lower) {
        ""
    } else {
        request.anchors.head.as_str()
    };
    let class = asked::class(&lower);
    let kind = if class == Some(Asked::Money) {
        AnswerKind::Number
    } else {
        asked::kind(request.anchors.answer, &lower)
    };
    Question {
        kind,
        converse: converse(request, &lower),
        subject: subject(request, &lower),
        speech,
        plural: asked::plural(&request.anchors, &lower),
        options: asked::options(&asked),
        class,
        recency: asked::recency(&lower),
        telling: timed::telling(&lower),
        begins: timed::begins(&lower),
        window: request.anchors.window.clone(),
        tense: timed::tense(&lower),
        timely: timed::timely(&lower),
        speakers: request
            .speakers
            .iter()
            .flat_map(|it| text::words(it))
            .map(str::to_lowercase)
            .collect(),
        many: lower.contains("how many") && !lower.contains("how many money"),
        identity: asked::identity(&asked),
        clock: lower.contains("what time") || lower.contains("which hour"),
        habitual: asked::habitual(&lower),
        negated: lower.contains("n't ") || lower.contains(" not ") || lower.contains(" never "),
        head: if noun.is_empty() { String::new() } else { stem(noun) },
        things: things(kind, &lower, noun),
        gap: gap::gap(&lower, &action),
        vector: lexicon.sentence(bare),
        words,
        replies: gloss::replies(&request.question),
        lower,
    }
}

/// What the answer is one of; who asks for a job hears what somebody is, "a nurse".
fn things(kind: AnswerKind, lower: &str, head: &str) -> Option<Kind> {
    if matches!(kind, AnswerKind::Number | AnswerKind::Duration) {
        return None;
    }
    let names_job = |it: &str| matches!(it, "profession" | "occupation" | "job");
    let job = names_job(head) || words(lower).last().is_some_and(|it| names_job(it)) || lower.contains("for a living");
    // WordNet calls only the animals pets that are so for good.
    let pets = matches!(head, "pet" | "pets");
    Nouns::builtin().kind(match (job, pets) {
        (true, _) => "person",
        (_, true) => "animal",
        (false, false) => head,
    })
}

/// The one speaker asked about. Of two names the one right after the auxiliary verb is the subject; questions about both,
/// and about nobody by name, have none.
fn subject(request: &AnswerV1, lower: &str) -> Option<String> {
    let subjects = &request.anchors.subjects;
    match subjects.as_slice() {
        [] => None,
        // What one side of a talk with an assistant asks for the other gives, so nobody owns what is said.
        [only] if role(only).is_some() => None,
        [only] => Some(only.clone()),
        several => {
            let tokens: Vec<&str> = words(lower);
            if tokens
                .iter()
                .any(|it| matches!(*it, "both" | "together" | "each" | "common" | "share"))
            {
                return None;
            }
            let first = |name: &str| words(name).first().map(|it| it.to_lowercase()).unwrap_or_default();
            let is = |token: &str, name: &str| token.strip_suffix("'s").unwrap_or(token) == first(name);
            let at = |name: &str| tokens.iter().position(|it| is(it, name));
            let after_auxiliary = |at: usize| at > 0 && is_auxiliary(tokens[at - 1]);
            let joined = |at: usize| matches!(tokens.get(at + 1), Some(&("and" | "or")));
            let mut candidates = several.iter().filter_map(|it| Some((it, at(it)?)));
            let (name, at) = candidates.find(|&(_, at)| after_auxiliary(at))?;
            (!joined(at)).then(|| name.clone())
        }
    }
}

fn converse(request: &AnswerV1, lower: &str) -> bool {
    let names = request.anchors.subjects.iter().map(|it| it.to_lowercase());
    let mut side = names.flat_map(|name| ["from", "to", "by", "for"].map(|it| format!(" {it} {name}")));
    side.any(|it| lower.contains(&it))
}

fn content(request: &AnswerV1, bare: &str, action: &str) -> Vec<Word> {
    let dated = request
        .anchors
        .window
        .as_ref()
        .map(|it| it.words.to_lowercase())
        .unwrap_or_default();
    let dated: Vec<&str> = words(&dated);
    let most = request.words.iter().map(|it| it.idf).fold(0.0_f32, f32::max);
    let names: Vec<String> = request
        .anchors
        .names
        .iter()
        .flat_map(|it| words(it))
        .map(str::to_lowercase)
        .collect();
    let mut found: Vec<Word> = Vec::new();
    let mut adjoins = false;
    let pieces = gloss::pieces(&request.question).unwrap_or_default();
    let glossed = gloss::content(&request.question, &pieces);
    for word in words(bare) {
        let lower = word.to_lowercase();
        if is_stop(word) || FRAME.contains(&lower.as_str()) || dated.contains(&lower.as_str()) {
            adjoins = false;
            continue;
        }
        let written = stem(word);
        let weighed = request.words.iter().find(|it| it.stem == written);
        let english = glossed.iter().find(|it| it.written == word);
        let stem = english.and_then(|it| it.english.as_deref()).map_or(written, stem);
        let known = weighed.is_none_or(|it| it.df > 0);
        let idf = match weighed {
            Some(it) if it.df > 0 => it.idf,
            Some(_) => 0.6 * most,
            None => 1.0,
        };
        if !found.iter().any(|it| it.stem == stem) {
            let specific = names.contains(&lower) || word.starts_with(|it: char| it.is_ascii_digit());
            found.push(Word {
                specific,
                verb: stem == action,
                stem,
                weight: 0.0,
                idf: idf.max(0.1),
                adjoins,
                known,
            });
        }
        adjoins = true;
    }
    let total: f32 = found.iter().map(|it| it.idf).sum();
    found.iter_mut().for_each(|it| it.weight = it.idf / total);
    found
}

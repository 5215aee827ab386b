//! What the reader takes from a question: whom it asks about, which words count, and how it wants to be answered.

use domain::anchor::AnswerKind;
use domain::message::AnswerV1;
use text::{is_stop, stem, words};

use crate::words::Lexicon;

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
    /// "What is the number of", "what does it cost".
    Figure,
}

/// A question as the reader sees it.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Kind of answer wanted.
    pub(crate) kind: AnswerKind,
    /// The only speaker it asks about, if there is one.
    pub(crate) subject: Option<String>,
    /// Content words in order, without speakers and dates.
    pub(crate) words: Vec<Word>,
    /// Whether it asks what somebody said, thinks or advises, so that the words of the sayer count.
    pub(crate) speech: bool,
    /// Whether it asks for several things.
    pub(crate) plural: bool,
    /// Whether it asks for a feeling.
    pub(crate) feeling: bool,
    /// Whether it is a choice between options, or about what would be.
    pub(crate) options: Vec<String>,
    /// The class it names for its answer.
    pub(crate) class: Option<Asked>,
    /// Points of the newest turn over the oldest: what holds now is told last.
    pub(crate) recency: f32,
    /// Whether it asks for the time of day.
    pub(crate) clock: bool,
    /// Whether it says "not".
    pub(crate) negated: bool,
    /// Stem of the word after "which", "what kind of" or "how many"; empty if there is none.
    pub(crate) head: String,
    /// Vector of the bare question.
    pub(crate) vector: Vec<f32>,
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
const AUXILIARIES: &[&str] = &[
    "did", "does", "do", "is", "are", "was", "were", "has", "have", "had", "will", "would", "can", "could", "should",
    "might", "may",
];
/// Roles of a talk with an assistant: what one asks for the other gives, so nobody owns what is said.
const ROLES: &[&str] = &["user", "assistant", "system", "tool", "agent", "human", "bot", "ai"];
const TIMES: &[&str] = &[
    "date", "dates", "day", "days", "week", "weekend", "month", "months", "year", "years", "time", "season", "hour",
    "weekday", "birthday", "soon", "recently", "century", "decade", "morning", "evening",
];
const LISTERS: &[&str] = &["has", "have", "both", "all", "list", "various", "different", "several"];

/// Reads the question of a request.
pub(crate) fn analyse(request: &AnswerV1, lexicon: &mut Lexicon) -> Question {
    let lower = request.question.to_lowercase().replace('’', "'");
    let bare = if request.anchors.bare.is_empty() {
        &request.question
    } else {
        &request.anchors.bare
    };
    let words = content(request, bare);
    let speech = lower.contains("according to") || words.iter().any(|it| SPEECH.contains(&it.stem.as_str()));
    let head = stem(&request.anchors.head);
    Question {
        kind: kind(request.anchors.answer, &lower),
        subject: subject(request, &lower),
        speech,
        plural: plural(request, &lower),
        feeling: lower.contains("feel") || lower.contains("react") || lower.contains("emotion"),
        options: options(&request.question),
        class: class(&lower),
        recency: recency(&lower),
        clock: lower.contains("what time") || lower.contains("which hour"),
        negated: lower.contains("n't ") || lower.contains(" not ") || lower.contains(" never "),
        head: if request.anchors.head.is_empty() {
            String::new()
        } else {
            head
        },
        vector: lexicon.sentence(bare),

        words,
    }
}

/// "What did she say when ..." asks for no time, "how old" asks for years: a question for a time opens with "when" or
/// names a unit of time after "what" or "which".
fn kind(read: AnswerKind, lower: &str) -> AnswerKind {
    let opening: Vec<&str> = words(lower).into_iter().take(6).collect();
    let Some(first) = opening.first() else { return read };
    if lower.starts_with("how old") {
        return AnswerKind::Number;
    }
    if AUXILIARIES.contains(first) && read != AnswerKind::Message && !requests(&opening) {
        return AnswerKind::YesNo;
    }
    let inside = match read {
        AnswerKind::When => !timed(&opening),
        AnswerKind::Who | AnswerKind::How => matches!(*first, "what" | "which"),
        AnswerKind::Message
        | AnswerKind::Duration
        | AnswerKind::Number
        | AnswerKind::Where
        | AnswerKind::Why
        | AnswerKind::Kind
        | AnswerKind::YesNo
        | AnswerKind::WhatDoes
        | AnswerKind::WhatIs
        | AnswerKind::Other => false,
    };
    if !inside {
        return read;
    }
    match *first {
        "how" if matches!(opening.get(1), Some(&("many" | "much"))) => AnswerKind::Number,
        "how" if matches!(opening.get(1), Some(&("long" | "soon" | "recently" | "often"))) => read,
        "how" => AnswerKind::How,
        "who" | "whose" | "whom" => AnswerKind::Who,
        "where" => AnswerKind::Where,
        "why" => AnswerKind::Why,
        "what" if opening.get(1).is_some_and(|it| AUXILIARIES.contains(it)) => AnswerKind::WhatDoes,
        "what" => AnswerKind::WhatIs,
        "which" => AnswerKind::Kind,
        it if AUXILIARIES.contains(&it) => AnswerKind::YesNo,
        _ => read,
    }
}

/// "Can you tell me when", "do you remember who": what is asked comes later.
fn requests(opening: &[&str]) -> bool {
    let told = [
        "tell", "remind", "say", "know", "remember", "recall", "list", "name", "give",
    ];
    opening.get(1) == Some(&"you") && opening.iter().any(|it| told.contains(it))
}

/// Says whether the opening words ask for a time: "since when", "in what year", "what was the date".
fn timed(opening: &[&str]) -> bool {
    let early = opening.iter().take(2).any(|it| *it == "when");
    let asked = |pair: &[&str]| matches!(pair[0], "what" | "which") && TIMES.contains(&pair[1]);
    let dated =
        opening.first() == Some(&"what") && opening.iter().any(|it| matches!(*it, "date" | "dates" | "birthday"));
    let inside = matches!(
        opening.first(),
        Some(&("what" | "who" | "where" | "how" | "why" | "which"))
    );
    (early && !inside) || opening.windows(2).any(asked) || dated
}

fn recency(lower: &str) -> f32 {
    let tokens = words(lower);
    let has = |list: &[&str]| tokens.iter().any(|it| list.contains(it));
    if has(&["originally", "initially", "first", "before", "formerly", "previously"]) {
        return -0.5;
    }
    if has(&[
        "still",
        "now",
        "currently",
        "finally",
        "final",
        "latest",
        "eventually",
        "anymore",
    ]) || lower.contains("in the end")
    {
        return 1.5;
    }
    if has(&["is", "are", "does", "do", "has", "have", "will"]) {
        0.3
    } else {
        0.0
    }
}

fn class(lower: &str) -> Option<Asked> {
    let tokens = words(lower);
    let has = |list: &[&str]| tokens.iter().any(|it| list.contains(it));
    if has(&["colour", "color", "colours", "colors"]) {
        return Some(Asked::Colour);
    }
    if has(&["name", "named", "called", "names", "title", "brand"]) {
        return Some(Asked::Name);
    }
    let figure = has(&[
        "number",
        "code",
        "price",
        "cost",
        "costs",
        "percentage",
        "height",
        "size",
        "weight",
        "version",
        "score",
    ]);
    figure.then_some(Asked::Figure)
}

/// The one speaker asked about. Of two names the one right after the auxiliary verb is the subject; questions about both,
/// and about nobody by name, have none.
fn subject(request: &AnswerV1, lower: &str) -> Option<String> {
    let subjects = &request.anchors.subjects;
    match subjects.as_slice() {
        [] => None,
        [only] if ROLES.contains(&only.to_lowercase().as_str()) => None,
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
            let after_auxiliary = |at: usize| at > 0 && AUXILIARIES.contains(&tokens[at - 1]);
            let joined = |at: usize| matches!(tokens.get(at + 1), Some(&("and" | "or")));
            let mut candidates = several.iter().filter_map(|it| Some((it, at(it)?)));
            let (name, at) = candidates.find(|&(_, at)| after_auxiliary(at))?;
            (!joined(at)).then(|| name.clone())
        }
    }
}

fn content(request: &AnswerV1, bare: &str) -> Vec<Word> {
    let dated = request
        .anchors
        .window
        .as_ref()
        .map(|it| it.words.to_lowercase())
        .unwrap_or_default();
    let dated: Vec<&str> = words(&dated);
    let action = stem(&request.anchors.action);
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
    for word in words(bare) {
        let lower = word.to_lowercase();
        if is_stop(word) || FRAME.contains(&lower.as_str()) || dated.contains(&lower.as_str()) {
            adjoins = false;
            continue;
        }
        let stem = stem(word);
        let weighed = request.words.iter().find(|it| it.stem == stem);
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

fn plural(request: &AnswerV1, lower: &str) -> bool {
    let head = request.anchors.head.to_lowercase();
    let many = head.len() > 3 && head.ends_with('s') && !head.ends_with("ss") && !head.ends_with("us");
    let listing = words(lower).iter().take(4).any(|it| LISTERS.contains(it));
    let what = !matches!(
        request.anchors.answer,
        AnswerKind::When | AnswerKind::Number | AnswerKind::Duration
    );
    what && (many || head == "people" || head == "children" || (listing && !lower.contains("how ")))
}

/// The options of a choice: "tea or coffee" at the end of the question.
fn options(question: &str) -> Vec<String> {
    let Some((left, right)) = question.trim_end_matches(['?', ' ']).rsplit_once(" or ") else {
        return Vec::new();
    };
    let tail: Vec<&str> = left.rsplit([',', ' ']).take_while(|it| !is_stop(it)).take(3).collect();
    let right: Vec<&str> = right
        .split_whitespace()
        .filter(|it| !matches!(*it, "a" | "an" | "the"))
        .take(4)
        .collect();
    if tail.is_empty() || right.is_empty() {
        return Vec::new();
    }
    let left: Vec<&str> = tail
        .into_iter()
        .take(right.len())
        .rev()
        .filter(|it| !it.is_empty())
        .collect();
    vec![left.join(" "), right.join(" ")]
}

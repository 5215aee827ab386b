//! Discourse markers: words at the start of a turn that state its relation to the preceding text. English only.

use domain::relation::RelationKind;

/// A relation that a marker states.
pub(crate) struct Marker {
    /// Kind of the relation.
    pub(crate) kind: RelationKind,
    /// True if the relation leads from the preceding text to this turn, false if it leads back.
    pub(crate) from_before: bool,
    /// True if the marker itself refers to the preceding text ("that is why"), so that no other connection is needed.
    pub(crate) points_back: bool,
}

/// Beginnings of sentences, longer ones before shorter ones, each with `kind`, `from_before` and `points_back`.
const MARKERS: [(&str, RelationKind, bool, bool); 54] = [
    ("because i want", RelationKind::Motivates, false, false),
    ("because i love", RelationKind::Motivates, false, false),
    ("because i like", RelationKind::Motivates, false, false),
    ("because i hope", RelationKind::Motivates, false, false),
    ("because", RelationKind::Causes, false, false),
    ("it's because", RelationKind::Causes, false, true),
    ("that's because", RelationKind::Causes, false, true),
    ("since then", RelationKind::FollowsUp, true, true),
    ("that's why", RelationKind::Causes, true, true),
    ("that is why", RelationKind::Causes, true, true),
    ("this is why", RelationKind::Causes, true, true),
    ("as a result", RelationKind::Causes, true, true),
    ("therefore", RelationKind::Causes, true, false),
    ("consequently", RelationKind::Causes, true, false),
    ("so i had to", RelationKind::Causes, true, false),
    ("so i decided", RelationKind::Motivates, true, false),
    ("so we decided", RelationKind::Motivates, true, false),
    ("so now i can", RelationKind::Enables, true, false),
    ("so i can", RelationKind::Enables, true, false),
    ("now i can", RelationKind::Enables, true, false),
    ("that let me", RelationKind::Enables, true, true),
    ("that lets me", RelationKind::Enables, true, true),
    ("that means i can", RelationKind::Enables, true, true),
    ("thanks to that", RelationKind::Enables, true, true),
    ("that made me want", RelationKind::Motivates, true, true),
    ("that inspired", RelationKind::Motivates, true, true),
    ("that motivated", RelationKind::Motivates, true, true),
    ("that encouraged", RelationKind::Motivates, true, true),
    ("this inspired", RelationKind::Motivates, true, true),
    ("you inspired", RelationKind::Motivates, true, true),
    ("it inspired", RelationKind::Motivates, true, true),
    ("that made", RelationKind::Causes, true, true),
    ("that caused", RelationKind::Causes, true, true),
    ("that led", RelationKind::Causes, true, true),
    ("but", RelationKind::Contrasts, true, false),
    ("however", RelationKind::Contrasts, true, false),
    ("on the other hand", RelationKind::Contrasts, true, false),
    ("instead", RelationKind::Contrasts, true, false),
    ("unlike", RelationKind::Contrasts, true, false),
    ("even so", RelationKind::Contrasts, true, false),
    ("meanwhile", RelationKind::Parallel, true, false),
    ("at the same time", RelationKind::Parallel, true, false),
    ("me too", RelationKind::Parallel, true, true),
    ("me neither", RelationKind::Parallel, true, true),
    ("same here", RelationKind::Parallel, true, true),
    ("so did i", RelationKind::Parallel, true, true),
    ("so do i", RelationKind::Parallel, true, true),
    ("so am i", RelationKind::Parallel, true, true),
    ("neither do i", RelationKind::Parallel, true, true),
    ("for example", RelationKind::Elaborates, false, false),
    ("for instance", RelationKind::Elaborates, false, false),
    ("in fact", RelationKind::Elaborates, false, false),
    ("specifically", RelationKind::Elaborates, false, false),
    ("to be exact", RelationKind::Elaborates, false, false),
];
/// Words after "but" that only call for attention.
const CALLS: [&str; 12] = [
    "look", "wait", "listen", "first", "what", "who", "how", "when", "where", "why", "hey", "about",
];
/// Small words that may precede a marker.
const FILLERS: [&str; 14] = [
    "oh", "yeah", "yes", "well", "and", "ok", "okay", "right", "true", "no", "sure", "wow", "hmm", "exactly",
];

/// Returns the marker at the beginning of the text, after at most one sentence of one or two words ("Yes. But ...").
pub(crate) fn find_marker(text: &str) -> Option<Marker> {
    let head = &text[..text.floor_char_boundary(400)];
    let sentences = text::split_sentences(head);
    let short = sentences.first().is_some_and(|it| text::split_words(it).len() <= 2);
    let open = sentences.into_iter().take(if short { 2 } else { 1 });
    open.filter(|it| !text::is_question(it)).find_map(in_sentence)
}

/// Phrases that ask for a cause or motive, longer ones before shorter ones.
const WANTED: [(&str, RelationKind); 12] = [
    ("why do you want", RelationKind::Motivates),
    ("why did you", RelationKind::Motivates),
    ("why do you", RelationKind::Motivates),
    ("why are you", RelationKind::Motivates),
    ("what made you", RelationKind::Motivates),
    ("what inspired", RelationKind::Motivates),
    ("what motivated", RelationKind::Motivates),
    ("what got you", RelationKind::Motivates),
    ("why not", RelationKind::Causes),
    ("why", RelationKind::Causes),
    ("how come", RelationKind::Causes),
    ("what caused", RelationKind::Causes),
];

/// Returns the relation of the answer to the subject of the question, if the question asks for a cause or motive.
pub(crate) fn asked_relation_kind(question: &str) -> Option<RelationKind> {
    let lower = question.to_lowercase().replace('\u{2019}', "'");
    let bare = strip_introduction(&lower);
    WANTED
        .iter()
        .find(|(start, _)| starts_with_phrase(bare, start))
        .map(|(_, kind)| *kind)
}

/// Phrases that ask for a detail.
const DETAILS: [&str; 15] = [
    "who",
    "what",
    "where",
    "when",
    "which",
    "whose",
    "how many",
    "how much",
    "how old",
    "how big",
    "how long",
    "how far",
    "what kind",
    "since when",
    "what's",
];
/// Words that refer to preceding text.
const ANAPHORS: [&str; 11] = [
    "it", "its", "he", "him", "his", "she", "her", "they", "them", "their", "it's",
];
/// Words that continue the subject of preceding text, each with words of which that text should contain one.
const TAKING_UP: [(&str, &[&str]); 4] = [
    (
        "he",
        &[
            "he", "him", "his", "he's", "man", "boy", "son", "brother", "father", "dad", "husband", "uncle",
        ],
    ),
    (
        "she",
        &[
            "she", "her", "she's", "woman", "girl", "daughter", "sister", "mother", "mum", "mom", "wife", "aunt",
        ],
    ),
    ("it", &[]),
    ("which", &[]),
];

/// Returns true if the question asks for a detail: who, what, when, how many.
pub(crate) fn asks_detail(question: &str) -> bool {
    let lower = question.to_lowercase().replace('\u{2019}', "'");
    let bare = strip_introduction(&lower);
    DETAILS.iter().any(|it| starts_with_phrase(bare, it))
}

/// Returns true if the question refers to text before it.
pub(crate) fn is_anaphoric(question: &str) -> bool {
    let pointed = question
        .trim_end_matches(|it: char| !it.is_alphanumeric())
        .to_lowercase();
    pointed.ends_with(" that") || has_word(question, &ANAPHORS)
}

/// Returns true if a sentence is a question without a question mark: "is it flat".
pub(crate) fn asks_plainly(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let verbs = [
        "is", "are", "do", "does", "did", "can", "will", "was", "were", "should", "am", "have", "has",
    ];
    verbs.iter().any(|it| starts_with_phrase(&lower, it))
}

/// Returns true if the text begins with a pronoun that can refer to something in `before`.
pub(crate) fn takes_up(text: &str, before: &str) -> bool {
    let lower = |it: &str| {
        it[..it.floor_char_boundary(600)]
            .to_lowercase()
            .replace('\u{2019}', "'")
    };
    let (text, before) = (lower(text), lower(before));
    let words_before: Vec<&str> = before
        .split(|it: char| !it.is_alphanumeric() && it != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    let bare = strip_fillers(&text);
    let found = TAKING_UP.iter().find(|(it, _)| {
        let own = bare.strip_prefix(it).map(|it| it.strip_prefix("'s").unwrap_or(it));
        own.is_some_and(|it| it.starts_with(' '))
    });
    found.is_some_and(|(pronoun, required_words)| {
        let other = TAKING_UP
            .iter()
            .find(|it| it.0 != *pronoun && !it.1.is_empty() && !required_words.is_empty());
        let has = |words: &[&str]| words_before.iter().any(|it| words.contains(it));
        let fits = required_words.is_empty() || has(required_words) || !other.is_some_and(|it| has(it.1));
        fits && words_before.len() >= 5 && !bare.starts_with("it's my")
    })
}

/// Words of denial.
const DENIALS: [&str; 16] = [
    "no", "not", "never", "nothing", "nobody", "none", "without", "don't", "doesn't", "didn't", "can't", "won't",
    "isn't", "wasn't", "cannot", "nor",
];
/// Verbs of liking; `DISLIKES` are their opposites.
const LIKES: [&str; 6] = ["love", "loves", "loved", "enjoy", "prefer", "adore"];
const DISLIKES: [&str; 8] = [
    "hate", "hates", "hated", "dislike", "detest", "loathe", "allergic", "despise",
];

/// Returns the refusal at the beginning of a text, which is its first sentence if that begins with "no" or "not".
pub(crate) fn find_refusal(text: &str) -> Option<&str> {
    let first = text::split_sentences(&text[..text.floor_char_boundary(400)])
        .into_iter()
        .next()?;
    let lower = first.to_lowercase();
    let polite = ["offence", "offense", "problem", "worries", "doubt", "wonder", "bother"];
    let refuses = (starts_with_phrase(&lower, "no") || starts_with_phrase(&lower, "not")) && !has_word(first, &polite);
    refuses.then_some(first)
}

/// Returns true if the text contains a denial.
pub(crate) fn has_denial(text: &str) -> bool {
    has_word(text, &DENIALS)
}

/// Returns whether a sentence expresses liking (true) or disliking (false), or none if it is neither or both.
pub(crate) fn read_liking(sentence: &str) -> Option<bool> {
    let (likes, dislikes, denies) = (
        has_word(sentence, &LIKES),
        has_word(sentence, &DISLIKES),
        has_denial(sentence),
    );
    match (likes, dislikes) {
        (true, false) => Some(!denies),
        (false, true) if !denies => Some(false),
        (false, true) | (true, true) | (false, false) => None,
    }
}

fn has_word(text: &str, words: &[&str]) -> bool {
    let lower = text[..text.floor_char_boundary(600)]
        .to_lowercase()
        .replace('\u{2019}', "'");
    lower
        .split(|it: char| !it.is_alphanumeric() && it != '\'')
        .any(|it| words.contains(&it))
}

/// Returns the lower-case question without introductory words.
fn strip_introduction(lower: &str) -> &str {
    let bare = strip_fillers(lower);
    let lead = ["so ", "but ", "then "].iter().find_map(|it| bare.strip_prefix(it));
    lead.unwrap_or(bare)
}

/// Returns the lower-case sentence without small words at its beginning.
fn strip_fillers(lower: &str) -> &str {
    let mut rest = lower.trim_start();
    for _ in 0..2 {
        let word = rest.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
        if FILLERS.contains(&word) {
            rest = rest[word.len()..].trim_start_matches(|it: char| !it.is_alphanumeric());
        }
    }
    rest
}

fn starts_with_phrase(rest: &str, marker: &str) -> bool {
    rest.strip_prefix(marker)
        .is_some_and(|it| !it.chars().next().is_some_and(|it| it.is_alphanumeric() || it == '\''))
}

fn in_sentence(sentence: &str) -> Option<Marker> {
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    let rest = strip_fillers(&lower);
    let &(marker, kind, from_before, points_back) = MARKERS.iter().find(|it| starts_with_phrase(rest, it.0))?;
    let next = rest[marker.len()..]
        .split(|it: char| !it.is_alphanumeric())
        .find(|it| !it.is_empty());
    let calls = marker == "but" && next.is_some_and(|it| CALLS.contains(&it));
    if calls || next.is_none() && !points_back {
        return None;
    }
    Some(Marker {
        kind,
        from_before,
        points_back,
    })
}

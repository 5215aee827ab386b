//! Names in a unit, and what their surroundings say of them.

use domain::id::SessionId;
use domain::unit::Unit;

/// Longest text that is searched for surroundings, in bytes.
const BYTES_MAX: usize = 16_000;
/// Words before a name that make it a person's.
const BEFORE: [&str; 50] = [
    "friend",
    "friends",
    "sister",
    "brother",
    "mom",
    "mum",
    "mother",
    "dad",
    "father",
    "wife",
    "husband",
    "partner",
    "girlfriend",
    "boyfriend",
    "boss",
    "manager",
    "colleague",
    "coworker",
    "teacher",
    "coach",
    "cousin",
    "daughter",
    "son",
    "aunt",
    "uncle",
    "grandma",
    "grandmother",
    "grandpa",
    "grandfather",
    "niece",
    "nephew",
    "neighbor",
    "neighbour",
    "roommate",
    "fiancé",
    "fiancée",
    "fiance",
    "fiancee",
    "kid",
    "baby",
    "doctor",
    "dr",
    "mr",
    "mrs",
    "ms",
    "prof",
    "named",
    "called",
    "client",
    "buddy",
];
/// Words after a name that make it a person's.
const AFTER: [&str; 26] = [
    "said",
    "says",
    "told",
    "tells",
    "asked",
    "asks",
    "thinks",
    "thought",
    "called",
    "texted",
    "loves",
    "loved",
    "wants",
    "wanted",
    "feels",
    "felt",
    "hates",
    "likes",
    "liked",
    "enjoys",
    "laughed",
    "smiled",
    "invited",
    "suggested",
    "recommended",
    "promised",
];

/// What one turn unit tells of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) session: SessionId,
    pub(crate) actor: String,
    /// Names mentioned, without duplicates.
    pub(crate) names: Vec<Name>,
    /// Names with which somebody is spoken to.
    pub(crate) called: Vec<String>,
}

/// One name that a unit mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) form: String,
    pub(crate) person: bool,
    pub(crate) place: bool,
}

/// Returns what a unit tells of names.
pub(crate) fn told(unit: &Unit) -> Told {
    let text = &unit.text[..unit.text.floor_char_boundary(BYTES_MAX)];
    // A word that opens a sentence ("Nope, not yet") is too often no name to make it an alias.
    let inside = |name: &&str| {
        let at = name.as_ptr() as usize - text.as_ptr() as usize;
        let before = text[..at].trim_end();
        !before.is_empty() && !before.ends_with(['.', '!', '?', ':', '\n', '\u{2026}', '\u{3002}'])
    };
    let called: Vec<String> = text::vocatives(text)
        .into_iter()
        .filter(inside)
        .map(str::to_owned)
        .collect();
    let mut names: Vec<Name> = Vec::new();
    let place = Some(&unit.location).filter(|it| it.chars().next().is_some_and(char::is_uppercase));
    for form in unit.participants.iter().chain(place) {
        if names.iter().all(|it| it.form != *form) {
            names.push(Name {
                form: form.clone(),
                person: called.contains(form) || is_person(text, form),
                place: unit.location == *form,
            });
        }
    }
    Told {
        session: unit.session,
        actor: unit.actor.clone(),
        names,
        called,
    }
}

/// Returns the form under which names are the same: lower case, single spaces, without an article.
pub(crate) fn normalised(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let words = if words.len() > 1 && words[0] == "the" {
        &words[1..]
    } else {
        &words[..]
    };
    words.join(" ")
}

/// Says whether kin, a role or a title stands before the name, or a verb of persons behind it.
fn is_person(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at]
            .trim_end_matches([' ', ',', '.'])
            .rsplit(|it: char| !it.is_alphanumeric())
            .next();
        let after = text[at + name.len()..]
            .trim_start()
            .split(|it: char| !it.is_alphanumeric())
            .next();
        let holds =
            |word: Option<&str>, list: &[&str]| word.is_some_and(|it| list.contains(&it.to_lowercase().as_str()));
        holds(before, &BEFORE) || holds(after, &AFTER)
    })
}

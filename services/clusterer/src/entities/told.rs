//! Finds the names that a unit mentions, and evidence about them in the surrounding text.

use chrono::{DateTime, Utc};
use domain::id::SessionId;
use domain::unit::Unit;

use super::everyday::{closes_person, opens_person};
use super::roles::{self, Role, Scene};
use super::surely_named;

/// Maximum length of the text that is searched, in bytes.
const BYTES_MAX: usize = 16_000;
/// Maximum number of names taken from one unit.
const NAMES_MAX: usize = 24;
/// Kinds of nouns that denote places.
const PLACES: [&str; 4] = ["location", "structure", "land", "body of water"];

/// The names that one turn unit mentions, with evidence about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) session: SessionId,
    pub(super) at: DateTime<Utc>,
    pub(super) actor: String,
    /// Names mentioned, without duplicates.
    pub(super) names: Vec<Name>,
    /// Names by which someone is addressed.
    pub(super) called: Vec<String>,
    /// Roles that people have in relation to others.
    pub(super) roles: Vec<Role>,
}

/// One name that a unit mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) form: String,
    pub(super) person: bool,
    pub(super) place: bool,
    /// True if it is surely a name in this unit.
    pub(super) sure: bool,
}

/// Returns the names that a unit mentions.
pub(super) fn told(unit: &Unit) -> Told {
    let text = &unit.text[..unit.text.floor_char_boundary(BYTES_MAX)];
    // A word that opens a sentence ("Nope, not yet") is too often not a name to become an alias.
    let inside = |name: &&str| {
        let at = name.as_ptr() as usize - text.as_ptr() as usize;
        let before = text[..at].trim_end();
        !before.is_empty() && !before.ends_with(['.', '!', '?', ':', '\n', '\u{2026}', '\u{3002}'])
    };
    let calls = text::vocatives(text).into_iter().filter(inside);
    let called: Vec<String> = calls.map(str::to_owned).collect();
    let mut roles = roles::find(&Scene {
        text,
        actor: &unit.actor,
        addressee: &unit.addressee,
        names: &unit.participants,
        called: &called,
    });
    roles.extend(roles::answered(&unit.question, text, &unit.actor));
    let place = Some(&unit.location).filter(|it| it.chars().next().is_some_and(char::is_uppercase));
    let prose = text::prose(text);
    let mut names: Vec<Name> = Vec::new();
    let said = roles.iter().map(|it| &it.name);
    for form in unit.participants.iter().chain(place).chain(&called).chain(said) {
        if names.len() < NAMES_MAX && names.iter().all(|it| it.form != *form) {
            let role = roles.iter().find(|it| it.name == *form);
            let spoken_to = called.contains(form);
            let acts = is_person(text, form);
            let stands = || surely_named::stands_as_name(text, &prose, form);
            // The first word of "Gerry says" is a name, unless it is a known noun.
            let unknown = || text::Nouns::builtin().kind(form).is_none();
            names.push(Name {
                form: form.clone(),
                person: role.map_or(spoken_to || acts, |it| it.person),
                place: unit.location == *form && is_place(text, form),
                sure: surely_named::is_name(form) && (role.is_some() || spoken_to || stands() || acts && unknown()),
            });
        }
    }
    Told {
        session: unit.session,
        at: unit.observed_at.to_utc(),
        actor: unit.actor.clone(),
        names,
        called,
        roles,
    }
}

/// Returns true if a name may denote a place: its nouns do not exclude places (vehicles, materials), and it does not
/// follow "the", which could introduce a car, a play or a pub.
fn is_place(text: &str, name: &str) -> bool {
    let lower: Vec<String> = text::words(name).iter().map(|it| it.to_lowercase()).collect();
    let article = |(at, _): (usize, &str)| text[..at].to_lowercase().ends_with("the ");
    let no_place = text::Nouns::builtin().is_none_of(&PLACES, &lower);
    !no_place && !text.match_indices(name).any(article)
}

/// Returns true if a word for kin, a role or a title precedes the name, or a verb typical of persons follows it.
fn is_person(text: &str, name: &str) -> bool {
    let lower = |word: Option<&str>| word.unwrap_or_default().to_lowercase();
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.chars().next_back().is_some_and(char::is_alphanumeric) {
            return false;
        }
        let before = before
            .trim_end_matches([' ', ',', '.'])
            .rsplit(|it: char| !it.is_alphanumeric());
        let after = after.trim_start().split(|it: char| !it.is_alphanumeric());
        opens_person(&lower(before.into_iter().next())) || closes_person(&lower(after.into_iter().next()))
    })
}

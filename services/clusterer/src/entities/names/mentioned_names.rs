//! Finds the names that a unit mentions, and evidence about them in the surrounding text.

use chrono::{DateTime, Utc};
use domain::id::SessionId;
use domain::unit::Unit;

use crate::entities::names::common_words::{closes_person, opens_person};
use crate::entities::names::name_spelling;
use crate::entities::roles::{self, Role, RoleContext};

/// Maximum length of the text that is searched, in bytes.
const BYTES_MAX: usize = 16_000;
/// Maximum number of names taken from one unit.
const NAMES_MAX: usize = 24;
/// Kinds of nouns that denote places.
const PLACES: [&str; 4] = ["location", "structure", "land", "body of water"];

/// The names that one turn unit mentions, with evidence about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitMentions {
    pub(crate) session: SessionId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) actor: String,
    /// Names mentioned, without duplicates.
    pub(crate) names: MentionedNames,
    /// Names by which someone is addressed.
    pub(crate) called: Box<[String]>,
    /// Roles that people have in relation to others.
    pub(crate) roles: Box<[Role]>,
}

/// One name that a unit mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    pub(crate) form: &'a str,
    pub(crate) person: bool,
    pub(crate) place: bool,
    /// True if the word is surely a name in this unit.
    pub(crate) sure: bool,
}

/// Names in one string, because most names are shorter than the overhead of a separate string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MentionedNames {
    forms: Box<str>,
    /// The end of each name in `forms`, in bytes, with the evidence about it.
    ends: Box<[(u32, [bool; 3])]>,
}

impl MentionedNames {
    fn from_names(names: &[Name<'_>]) -> MentionedNames {
        let mut forms = String::new();
        let end = |it: &Name<'_>| {
            forms.push_str(it.form);
            // A unit has few names, and each is shorter than its text.
            let end = u32::try_from(forms.len()).unwrap_or(u32::MAX);
            (end, [it.person, it.place, it.sure])
        };
        let ends = names.iter().map(end).collect();
        MentionedNames {
            forms: forms.into(),
            ends,
        }
    }

    /// Returns the names in the order in which they were given.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Name<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |(end, [person, place, sure])| {
            let form = &self.forms[start..*end as usize];
            start = *end as usize;
            Name {
                form,
                person: *person,
                place: *place,
                sure: *sure,
            }
        })
    }
}

/// Returns the names that a unit mentions.
pub(crate) fn find_mentioned_names(unit: &Unit) -> UnitMentions {
    let text = &unit.text[..unit.text.floor_char_boundary(BYTES_MAX)];
    // A word that opens a sentence ("Nope, not yet") is too often not a name to become an alias.
    let inside = |name: &&str| {
        let at = name.as_ptr() as usize - text.as_ptr() as usize;
        let before = text[..at].trim_end();
        !before.is_empty() && !before.ends_with(['.', '!', '?', ':', '\n', '\u{2026}', '\u{3002}'])
    };
    let calls = text::find_vocatives(text).into_iter().filter(inside);
    let called: Vec<String> = calls.map(str::to_owned).collect();
    let mut roles = roles::find_roles(&RoleContext {
        text,
        actor: &unit.actor,
        addressee: &unit.addressee,
        names: &unit.participants,
        called: &called,
    });
    roles.extend(roles::find_role_in_answer(&unit.question, text, &unit.actor));
    let place = Some(&unit.location).filter(|it| it.chars().next().is_some_and(char::is_uppercase));
    let prose = text::mask_non_prose(text);
    let mut names: Vec<Name<'_>> = Vec::new();
    let names_with_roles = roles.iter().map(|it| &it.name);
    for form in unit
        .participants
        .iter()
        .chain(place)
        .chain(&called)
        .chain(names_with_roles)
    {
        if names.len() < NAMES_MAX && names.iter().all(|it| it.form != form) {
            let role = roles.iter().find(|it| it.name == *form);
            let spoken_to = called.contains(form);
            let acts = is_person(text, form);
            let stands = || name_spelling::stands_as_name(text, &prose, form);
            // The first word of "Gerry says" is a name, unless it is a known noun.
            let unknown = || text::Nouns::builtin().find_kind(form).is_none();
            names.push(Name {
                form,
                person: role.map_or(spoken_to || acts, |it| it.person),
                place: unit.location == *form && is_place(text, form),
                sure: name_spelling::is_name(form) && (role.is_some() || spoken_to || stands() || acts && unknown()),
            });
        }
    }
    UnitMentions {
        session: unit.session,
        at: unit.observed_at.to_utc(),
        actor: unit.actor.clone(),
        names: MentionedNames::from_names(&names),
        called: called.into(),
        roles: roles.into(),
    }
}

/// Returns true if a name may denote a place: its nouns do not exclude places (vehicles, materials), and it does not
/// follow "the", which could introduce a car, a play or a pub.
fn is_place(text: &str, name: &str) -> bool {
    let lower: Vec<String> = text::split_words(name).iter().map(|it| it.to_lowercase()).collect();
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

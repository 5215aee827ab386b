//! Finds the names that a unit mentions, and evidence about them in the surrounding text.

use chrono::{DateTime, Utc};
use domain::id::SessionId;
use domain::unit::Unit;
use serde::{Deserialize, Serialize};

use crate::entities::names::common_words::{closes_person, opens_person};
use crate::entities::names::name_spelling;
use crate::entities::roles::{self, Role, RoleContext};
use crate::space::symbols::{Symbol, Symbols};
use crate::word_lists::PLACE_KINDS;

/// Maximum length of the text that is searched, in bytes.
const BYTES_MAX: usize = 16_000;
/// Maximum number of names taken from one unit.
const NAMES_MAX: usize = 24;

/// The names that one turn unit mentions, with evidence about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitMentions {
    pub(crate) session: SessionId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) actor: String,
    /// Names mentioned, without duplicates.
    pub(crate) names: Vec<MentionedName>,
    /// Names by which someone is addressed.
    pub(crate) called: Vec<String>,
    /// Roles that people have in relation to others.
    pub(crate) roles: Vec<Role>,
}

/// One name that a unit mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MentionedName {
    pub(crate) form: String,
    pub(crate) person: bool,
    pub(crate) place: bool,
    /// True if the word is surely a name in this unit.
    pub(crate) sure: bool,
}

/// [`UnitMentions`] in a form that takes little memory: they are kept as long as the unit, but read only when it changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PackedMentions {
    session: SessionId,
    at: DateTime<Utc>,
    actor: Symbol,
    names: Box<[PackedName]>,
    /// Few units address someone by name or state a role.
    rare: Option<Box<AddressedAndRoles>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PackedName {
    form: Symbol,
    person: bool,
    place: bool,
    sure: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct AddressedAndRoles {
    called: Box<[String]>,
    roles: Box<[Role]>,
}

impl PackedMentions {
    /// Packs the names of a unit; `symbols` takes their texts.
    pub(crate) fn from_mentions(mentions: UnitMentions, symbols: &mut Symbols) -> PackedMentions {
        let (called, roles) = (mentions.called, mentions.roles);
        let is_rare = !called.is_empty() || !roles.is_empty();
        let rare = is_rare.then(|| AddressedAndRoles {
            called: called.into(),
            roles: roles.into(),
        });
        let pack = |it: &MentionedName| PackedName {
            form: symbols.intern(&it.form),
            person: it.person,
            place: it.place,
            sure: it.sure,
        };
        PackedMentions {
            session: mentions.session,
            at: mentions.at,
            names: mentions.names.iter().map(pack).collect(),
            actor: symbols.intern(&mentions.actor),
            rare: rare.map(Box::new),
        }
    }

    /// Returns the names as they were packed, with the same symbols.
    pub(crate) fn to_mentions(&self, symbols: &Symbols) -> UnitMentions {
        let unpack = |it: &PackedName| MentionedName {
            form: symbols.text(it.form).to_string(),
            person: it.person,
            place: it.place,
            sure: it.sure,
        };
        let rare = self.rare.as_ref();
        UnitMentions {
            session: self.session,
            at: self.at,
            actor: symbols.text(self.actor).to_string(),
            names: self.names.iter().map(unpack).collect(),
            called: rare.map(|it| it.called.to_vec()).unwrap_or_default(),
            roles: rare.map(|it| it.roles.to_vec()).unwrap_or_default(),
        }
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
    let mut names: Vec<MentionedName> = Vec::new();
    let names_with_roles = roles.iter().map(|it| &it.name);
    for form in unit
        .participants
        .iter()
        .chain(place)
        .chain(&called)
        .chain(names_with_roles)
    {
        if names.len() < NAMES_MAX && names.iter().all(|it| it.form != *form) {
            let role = roles.iter().find(|it| it.name == *form);
            let spoken_to = called.contains(form);
            let acts = is_person(text, form);
            let stands = || name_spelling::stands_as_name(text, &prose, form);
            // The first word of "Gerry says" is a name, unless it is a known noun.
            let unknown = || text::Nouns::builtin().find_kind(form).is_none();
            names.push(MentionedName {
                form: form.clone(),
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
        names,
        called,
        roles,
    }
}

/// Returns true if a name may denote a place: its nouns do not exclude places (vehicles, materials), and it does not
/// follow "the", which could introduce a car, a play or a pub.
fn is_place(text: &str, name: &str) -> bool {
    let lower: Vec<String> = text::split_words(name).iter().map(|it| it.to_lowercase()).collect();
    let article = |(at, _): (usize, &str)| text[..at].to_lowercase().ends_with("the ");
    let no_place = text::Nouns::builtin().is_none_of(&PLACE_KINDS, &lower);
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

#[cfg(test)]
mod tests {
    use domain::unit::Unit;

    use super::*;
    use crate::judgements::example::sample_event;

    #[test]
    fn packed_mentions_are_unpacked_as_they_were() {
        let unit = Unit {
            text: "Thanks, Ann! My sister Zoë moved to Graz, and Tom's boss Ira is in Linz.".to_owned(),
            actor: "Bea".to_owned(),
            location: "Graz".to_owned(),
            participants: ["Ann", "Zoë", "Graz", "Tom", "Ira", "Linz"].map(str::to_owned).into(),
            ..sample_event(1, "")
        };
        let mentions = find_mentioned_names(&unit);
        assert!(
            !mentions.called.is_empty() && !mentions.roles.is_empty(),
            "{mentions:?}"
        );
        assert!(mentions.names.iter().any(|it| it.place), "{mentions:?}");
        let mut symbols = Symbols::default();
        let packed = PackedMentions::from_mentions(mentions.clone(), &mut symbols);
        assert_eq!(packed.to_mentions(&symbols), mentions);
    }
}

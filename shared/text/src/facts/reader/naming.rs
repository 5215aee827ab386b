//! Names that appear next to a role or a possession: of the speaker's people, and of their animals and things.

use super::super::lexicon::{
    BEFORE_CALLED, BEFORE_OTHER_HOME, FAMILY, HOMES, KIN, KIN_ADJECTIVES, NO_NAMES, PETS, POSSESSIVES_OF_OTHERS,
};
use super::super::{Statement, Subject};
use super::Reader;
use super::people::{Person, find_people};
use crate::facts::clauses::clause::Draft;
use crate::facts::clauses::subject::{ClauseSubject, is_name, read_subject};
use crate::facts::clauses::token::{Gap, Word};
use crate::facts::statements::{appositions, properties};
use crate::time;

impl Reader<'_> {
    /// "I went with my sister Ana": the speaker has a sister called Ana.
    pub(super) fn read_named_kin(&mut self, words: &[Word]) {
        for at in 0..words.len() {
            if !words[at].is_any_of(&["my", "our"]) || words[at].quoted {
                continue;
            }
            let Some((role, name)) =
                read_named_owner(self.telling.text, words, at).or_else(|| self.beside_role(words, at))
            else {
                continue;
            };
            // "I told my sister, Sam" addresses Sam.
            if name == self.telling.addressee {
                continue;
            }
            if let Some(draft) = properties::has_kin(&role, &name) {
                self.push_statement(Subject::Speaker, draft, None, None);
            }
        }
    }

    /// Returns the role and the name after "my": "my sister Ana".
    fn beside_role(&self, words: &[Word], at: usize) -> Option<(String, String)> {
        match read_subject(self.telling.text, words, at, None)? {
            ClauseSubject {
                subject: Subject::Name(name),
                role: Some(role),
                ..
            } => Some((role, name)),
            _ => None,
        }
    }

    /// "Kwame? He teaches maths.": a name that is asked back is the referent of the next "he".
    pub(in super::super) fn asked_back(&mut self, range: std::ops::Range<usize>) {
        let rest = self.telling.text.get(range.end..).unwrap_or_default();
        let question_after = range.is_empty().then(|| rest.split_once('?')).flatten();
        let name = question_after
            .map(|it| it.0.trim())
            .filter(|it| it.starts_with(char::is_uppercase));
        if let Some(name) = name.filter(|it| it.chars().all(char::is_alphabetic) && !crate::is_stop(it)) {
            self.last = (vec![Person::from_name(name)], self.number);
        }
    }

    /// Reads a name next to a role: "I've got a twin sister Merritt", "Ashenafi, my boss,".
    pub(super) fn kin_by_name(&mut self, words: &[Word]) {
        let mut found = Vec::new();
        let of_speaker = self.here.iter().all(|it| it.subject == Subject::Speaker);
        for at in 0..words.len() {
            let word = &words[at];
            let head = (at + 1..words.len().min(at + 4)).find(|it| !words[*it].is_in_list(&KIN_ADJECTIVES));
            let Some(head) = head.filter(|it| words[*it].is_in_list(&FAMILY) && !word.quoted) else {
                continue;
            };
            let kin = format!("my {}", words[head].lower);
            let after = words
                .get(head + 1)
                .filter(|it| is_name(it) && words[head].gap == Gap::None);
            let before = at.checked_sub(1).map(|it| &words[it]);
            if let (true, Some(name)) = (of_speaker && word.lower == "a" && !word.quoted, after) {
                found.push((kin, name));
            } else if let Some(name) =
                before.filter(|it| word.is_any_of(&["my", "our"]) && is_name(it) && it.gap == Gap::Comma)
            {
                let closed = words[head].gap != Gap::None || head + 1 == words.len();
                let listed = words.get(head + 1).is_some_and(|it| it.is_any_of(&["and", "or"]));
                if closed && !listed {
                    found.push((kin, name));
                }
            }
        }
        for (kin, name) in found {
            let name = self.telling.text.get(name.range.clone()).unwrap_or_default();
            let known = [self.telling.addressee, self.telling.speaker].contains(&name);
            if let Some(draft) = properties::has_kin(&kin, name).filter(|_| !known) {
                self.push_statement(Subject::Speaker, draft.with_confidence(0.7), None, None);
            }
        }
    }

    /// "My flat in Torry looks at the cranes": the speaker has a flat in Torry.
    pub(super) fn read_placed_homes(&mut self, words: &[Word]) {
        for at in 0..words.len().saturating_sub(3) {
            let [my, home, within, place] = [0, 1, 2, 3].map(|it| &words[at + it]);
            let near = [my, home, within].iter().all(|it| it.gap == Gap::None && !it.quoted);
            let before = at.checked_sub(1).map(|it| &words[it]);
            if !(near
                && my.is_any_of(&["my", "our"])
                && home.is_in_list(&HOMES)
                && within.lower == "in"
                && before.is_none_or(|it| !it.is_in_list(&BEFORE_OTHER_HOME))
                && is_name(place))
            {
                continue;
            }
            if let Some(object) = self.telling.text.get(home.range.start..place.range.end) {
                let draft = Draft::new(domain::fact::Aspect::Possession, "has", object).with_confidence(0.75);
                self.push_statement(Subject::Speaker, draft, None, None);
            }
        }
    }

    /// Reads descriptions of a person between commas: age, work, origin.
    pub(super) fn read_descriptions(&mut self, words: &[Word]) {
        let text = self.telling.text;
        let mut found: Vec<(Subject, Draft)> = Vec::new();
        for person in find_people(text, words, words.len()) {
            let drafts = match words.get(person.next.saturating_sub(1)).map(|it| it.gap) {
                Some(Gap::Comma | Gap::Strong) => appositions::read_descriptions(text, words, person.next, false),
                Some(Gap::None) | None => Vec::new(),
            };
            found.extend(drafts.into_iter().map(|it| (person.subject.clone(), it)));
        }
        let written = |it: &Word| text.get(it.range.clone()).unwrap_or_default().to_owned();
        let mut listed = false;
        for (at, word) in words.iter().enumerate() {
            if let Some((role, name, from)) = appositions::bare_kin(words, at) {
                listed = true;
                let name = written(name);
                let kin = properties::has_kin(&format!("my {role}"), &name);
                found.extend(kin.map(|it| (Subject::Speaker, it.with_confidence(0.75))));
                let drafts = appositions::read_descriptions(text, words, from, false);
                found.extend(drafts.into_iter().map(|it| (Subject::Name(name.clone()), it)));
            }
            // "Isla, six, and Callum, three": further persons of a list have no role before their names.
            let next = listed && at > 0 && words[at - 1].lower == "and"
                || words.get(at + 2).is_some_and(|it| it.lower == "years");
            if next && is_name(word) && word.gap != Gap::None {
                let aged = appositions::read_descriptions(text, words, at + 1, false)
                    .into_iter()
                    .take(1);
                found.extend(
                    aged.filter(|it| it.predicate == "is aged")
                        .map(|it| (Subject::Name(written(word)), it)),
                );
            }
        }
        let own =
            appositions::find_self_description(words).map(|it| appositions::read_descriptions(text, words, it, true));
        found.extend(own.into_iter().flatten().map(|it| (Subject::Speaker, it)));
        for (subject, draft) in found {
            self.push_statement(subject, draft, None, None);
        }
    }

    /// Reads the names of possessions and animals, and of a person who was introduced by a role.
    pub(super) fn read_possession_names(&mut self, words: &[Word], first: usize) {
        let owned =
            |it: &Statement| it.subject == Subject::Speaker && it.predicate == "owns" && it.positive && !it.ended;
        let mut drafts: Vec<Draft> = self.statements[first..]
            .iter()
            .filter(|it| owned(it))
            .filter_map(|it| properties::read_named_possession(&it.object))
            .collect();
        let her = words.windows(4).find(|it| {
            it[1].lower == "name" && it[2].lower == "is" && it[0].is_in_list(&POSSESSIVES_OF_OTHERS) && is_name(&it[3])
        });
        // "I have a friend. His name's Chidi."
        let kin = self.kin_without_name.filter(|it| it.1 + 1 >= self.number);
        if let (Some(words), Some((role, _))) = (her, kin) {
            let name = &self.telling.text[words[3].range.clone()];
            drafts.extend(properties::has_kin(&format!("my {role}"), name));
        }
        let have = words.windows(4).find_map(|it| {
            let mine = it[0].is_any_of(&["i", "we"]) && it[1].lower == "have" && it[2].is_any_of(&["a", "an"]);
            KIN.get(it[3].lower.as_str()).filter(|_| mine && !it[3].quoted)
        });
        self.kin_without_name = have.map(|it| (*it, self.number)).or(self.kin_without_name);
        if let (Some(words), Some(what)) = (her, self.statements.iter().rev().find(|it| owned(it))) {
            drafts.extend(properties::read_named_possession(&format!(
                "{} called {}",
                what.object,
                &self.telling.text[words[3].range.clone()]
            )));
        }
        // The sentence may name a pet: "A dog, a greyhound called Suse", "un chat qui s'appelle Pacha", "einen Hund, er
        // heißt Pelle".
        let animal = self.statements[first..]
            .iter()
            .any(|it| owned(it) || it.predicate == "has" && it.subject == Subject::Speaker);
        let pet = words
            .iter()
            .rposition(|it| it.is_in_list(&PETS) && !it.quoted)
            .filter(|_| animal);
        let called = pet.and_then(|pet| {
            let at = (pet + 1..words.len().min(pet + 4)).find(|it| words[*it].is_any_of(&["called", "named"]))?;
            let between = words[pet + 1..at].iter().all(|it| it.is_in_list(&BEFORE_CALLED));
            let name = words.get(at + 1).filter(|it| between && is_name(it))?;
            properties::has_kin(
                &format!("my {}", words[pet].lower),
                self.telling.text.get(name.range.clone())?,
            )
        });
        drafts.extend(called);
        for draft in drafts {
            self.push_statement(Subject::Speaker, draft, None, None);
        }
    }
}

/// Returns the role and the name of an owner: "my aunt Ana's farm".
fn read_named_owner(text: &str, words: &[Word], at: usize) -> Option<(String, String)> {
    let [kin, whose] = [words.get(at + 1)?, words.get(at + 2)?];
    let bare = whose.lower.strip_suffix("'s")?;
    let is_name = whose.capital && !NO_NAMES.contains(bare) && !time::words::is_named(bare);
    let near = words[at].gap == Gap::None && kin.gap == Gap::None && kin.is_in_list(&KIN) && !whose.quoted;
    let written = text.get(whose.range.clone()).filter(|_| is_name && near)?;
    let name = written.trim_end_matches('s').trim_end_matches(['\'', '\u{2019}']);
    Some((format!("my {}", kin.lower), name.to_owned()))
}

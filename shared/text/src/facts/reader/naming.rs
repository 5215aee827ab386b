//! Names that appear next to a role or a possession: of the speaker's people, and of their animals and things.

use super::super::lexicon::{FAMILY, HOMES, KIN, KIN_ADJECTIVES, NO_NAMES, PETS};
use super::super::said::Draft;
use super::super::subject::{Who, is_name, subject};
use super::super::token::{Gap, Word};
use super::super::{Statement, Subject, apposed, thing};
use super::Reader;
use super::people::{Person, people};
use crate::time;

impl Reader<'_> {
    /// "I went with my sister Ana": the speaker has a sister called Ana.
    pub(super) fn kin(&mut self, words: &[Word]) {
        for at in 0..words.len() {
            if !words[at].is(&["my", "our"]) || words[at].quoted {
                continue;
            }
            let Some((role, name)) = owner(self.told.text, words, at).or_else(|| self.beside_role(words, at)) else {
                continue;
            };
            // "I told my sister, Sam" addresses Sam.
            if name == self.told.addressee {
                continue;
            }
            if let Some(draft) = thing::has_kin(&role, &name) {
                self.push(Subject::Speaker, draft, None, None);
            }
        }
    }

    /// Returns the role and the name after "my": "my sister Ana".
    fn beside_role(&self, words: &[Word], at: usize) -> Option<(String, String)> {
        match subject(self.told.text, words, at, None)? {
            Who {
                subject: Subject::Name(name),
                role: Some(role),
                ..
            } => Some((role, name)),
            _ => None,
        }
    }

    /// "Kwame? He teaches maths.": a name that is asked back is the referent of the next "he".
    pub(in super::super) fn asked_back(&mut self, range: std::ops::Range<usize>) {
        let rest = self.told.text.get(range.end..).unwrap_or_default();
        let asked = range.is_empty().then(|| rest.split_once('?')).flatten();
        let name = asked
            .map(|it| it.0.trim())
            .filter(|it| it.starts_with(char::is_uppercase));
        if let Some(name) = name.filter(|it| it.chars().all(char::is_alphabetic) && !crate::is_stop(it)) {
            self.last = (vec![Person::named(name)], self.number);
        }
    }

    /// Reads a name next to a role: "I've got a twin sister Merritt", "Ashenafi, my boss,".
    pub(super) fn kin_by_name(&mut self, words: &[Word]) {
        let mut found = Vec::new();
        let of_speaker = self.here.iter().all(|it| it.subject == Subject::Speaker);
        for at in 0..words.len() {
            let word = &words[at];
            let head = (at + 1..words.len().min(at + 4)).find(|it| !words[*it].on(&KIN_ADJECTIVES));
            let Some(head) = head.filter(|it| words[*it].on(&FAMILY) && !word.quoted) else {
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
                before.filter(|it| word.is(&["my", "our"]) && is_name(it) && it.gap == Gap::Comma)
            {
                let closed = words[head].gap != Gap::None || head + 1 == words.len();
                let listed = words.get(head + 1).is_some_and(|it| it.is(&["and", "or"]));
                if closed && !listed {
                    found.push((kin, name));
                }
            }
        }
        for (kin, name) in found {
            let name = self.told.text.get(name.range.clone()).unwrap_or_default();
            let known = [self.told.addressee, self.told.speaker].contains(&name);
            if let Some(draft) = thing::has_kin(&kin, name).filter(|_| !known) {
                self.push(Subject::Speaker, draft.sure(0.7), None, None);
            }
        }
    }

    /// "My flat in Torry looks at the cranes": the speaker has a flat in Torry.
    pub(super) fn placed(&mut self, words: &[Word]) {
        for at in 0..words.len().saturating_sub(3) {
            let [my, home, within, place] = [0, 1, 2, 3].map(|it| &words[at + it]);
            let near = [my, home, within].iter().all(|it| it.gap == Gap::None && !it.quoted);
            let before = at
                .checked_sub(1)
                .is_none_or(|it| !words[it].is(&["to", "into", "of", "from", "old", "first"]));
            if !(near && before && my.is(&["my", "our"]) && home.on(&HOMES) && within.lower == "in" && is_name(place)) {
                continue;
            }
            if let Some(object) = self.told.text.get(home.range.start..place.range.end) {
                let draft = Draft::new(domain::fact::Aspect::Possession, "has", object).sure(0.75);
                self.push(Subject::Speaker, draft, None, None);
            }
        }
    }

    /// Reads descriptions of a person between commas: age, work, origin.
    pub(super) fn beside(&mut self, words: &[Word]) {
        let text = self.told.text;
        let mut found: Vec<(Subject, Draft)> = Vec::new();
        for person in people(text, words, words.len()) {
            let drafts = match words.get(person.next.saturating_sub(1)).map(|it| it.gap) {
                Some(Gap::Comma | Gap::Strong) => apposed::beside(text, words, person.next, false),
                Some(Gap::None) | None => Vec::new(),
            };
            found.extend(drafts.into_iter().map(|it| (person.subject.clone(), it)));
        }
        let written = |it: &Word| text.get(it.range.clone()).unwrap_or_default().to_owned();
        let mut listed = false;
        for (at, word) in words.iter().enumerate() {
            if let Some((role, name, from)) = apposed::bare_kin(words, at) {
                listed = true;
                let name = written(name);
                let kin = thing::has_kin(&format!("my {role}"), &name);
                found.extend(kin.map(|it| (Subject::Speaker, it.sure(0.75))));
                let drafts = apposed::beside(text, words, from, false);
                found.extend(drafts.into_iter().map(|it| (Subject::Name(name.clone()), it)));
            }
            // "Isla, six, and Callum, three": further persons of a list have no role before their names.
            let next = listed && at > 0 && words[at - 1].lower == "and"
                || words.get(at + 2).is_some_and(|it| it.lower == "years");
            if next && is_name(word) && word.gap != Gap::None {
                let aged = apposed::beside(text, words, at + 1, false).into_iter().take(1);
                found.extend(
                    aged.filter(|it| it.predicate == "is aged")
                        .map(|it| (Subject::Name(written(word)), it)),
                );
            }
        }
        let own = apposed::own(words).map(|it| apposed::beside(text, words, it, true));
        found.extend(own.into_iter().flatten().map(|it| (Subject::Speaker, it)));
        for (subject, draft) in found {
            self.push(subject, draft, None, None);
        }
    }

    /// Reads the names of possessions and animals, and of a person who was introduced by a role.
    pub(super) fn named(&mut self, words: &[Word], first: usize) {
        let owned =
            |it: &Statement| it.subject == Subject::Speaker && it.predicate == "owns" && it.positive && !it.ended;
        let mut drafts: Vec<Draft> = self.statements[first..]
            .iter()
            .filter(|it| owned(it))
            .filter_map(|it| thing::named(&it.object))
            .collect();
        let her = words.windows(4).find(|it| {
            it[0].is(&["her", "his", "its"]) && it[1].lower == "name" && it[2].lower == "is" && is_name(&it[3])
        });
        // "I have a friend. His name's Chidi."
        let kin = self.kin_without_name.filter(|it| it.1 + 1 >= self.number);
        if let (Some(words), Some((role, _))) = (her, kin) {
            let name = &self.told.text[words[3].range.clone()];
            drafts.extend(thing::has_kin(&format!("my {role}"), name));
        }
        let have = words.windows(4).find_map(|it| {
            let mine = it[0].is(&["i", "we"]) && it[1].lower == "have" && it[2].is(&["a", "an"]);
            KIN.get(it[3].lower.as_str()).filter(|_| mine && !it[3].quoted)
        });
        self.kin_without_name = have.map(|it| (*it, self.number)).or(self.kin_without_name);
        if let (Some(words), Some(what)) = (her, self.statements.iter().rev().find(|it| owned(it))) {
            drafts.extend(thing::named(&format!(
                "{} called {}",
                what.object,
                &self.told.text[words[3].range.clone()]
            )));
        }
        // The sentence may name a pet: "A dog, a greyhound called Suse", "un chat qui s'appelle Pacha", "einen Hund, er
        // heißt Pelle".
        let animal = self.statements[first..]
            .iter()
            .any(|it| owned(it) || it.predicate == "has" && it.subject == Subject::Speaker);
        let pet = words
            .iter()
            .rposition(|it| it.on(&PETS) && !it.quoted)
            .filter(|_| animal);
        let called = pet.and_then(|pet| {
            let at = (pet + 1..words.len().min(pet + 4)).find(|it| words[*it].is(&["called", "named"]))?;
            let between = words[pet + 1..at]
                .iter()
                .all(|it| it.is(&["who", "that", "he", "she", "it", "is"]));
            let name = words.get(at + 1).filter(|it| between && is_name(it))?;
            thing::has_kin(
                &format!("my {}", words[pet].lower),
                self.told.text.get(name.range.clone())?,
            )
        });
        drafts.extend(called);
        for draft in drafts {
            self.push(Subject::Speaker, draft, None, None);
        }
    }
}

/// Returns the role and the name of an owner: "my aunt Ana's farm".
fn owner(text: &str, words: &[Word], at: usize) -> Option<(String, String)> {
    let [kin, whose] = [words.get(at + 1)?, words.get(at + 2)?];
    let bare = whose.lower.strip_suffix("'s")?;
    let named = whose.capital && !NO_NAMES.contains(bare) && !time::words::is_named(bare);
    let near = words[at].gap == Gap::None && kin.gap == Gap::None && kin.on(&KIN) && !whose.quoted;
    let written = text.get(whose.range.clone()).filter(|_| named && near)?;
    let name = written.trim_end_matches('s').trim_end_matches(['\'', '\u{2019}']);
    Some((format!("my {}", kin.lower), name.to_owned()))
}

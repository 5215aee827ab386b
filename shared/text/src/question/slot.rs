//! The slots of the facts that people ask for most: name, home, job, age, relatives and the like.

use domain::predicate::Predicate;
use domain::question::Slot;

use crate::lexicon::kin;
use crate::lexicon::{Class, is_in_class, words_of_class};
use crate::{Nouns, is_auxiliary, is_stop, split_words, stem_word, stem_words};

/// Maximum number of words of a role.
const ROLE_WORDS: usize = 2;

/// Returns the slot that a question in lower case asks for, even if it also asks for something else.
pub fn requested_slot(question: &str) -> Option<Slot> {
    let tokens = split_words(question);
    let has = |class: Class| tokens.iter().any(|it| is_in_class(it, class));
    let asks = |is_noun_of: fn(&str) -> bool| {
        let mut pairs = tokens.windows(2);
        pairs.any(|it| matches!(it[0], "what" | "which") && is_noun_of(it[1]))
    };
    let place = tokens.contains(&"where") || asks(|it| is_in_class(it, Class::HomePlace));
    let firm = || asks(|it| is_in_class(it, Class::EmployerNoun));
    let is_whole = |it: &&str| it.split(' ').eq(tokens.iter().copied());
    if words_of_class(Class::OwnName).iter().any(is_whole) {
        Some(Slot::Name)
    } else if let Some(role) = requested_relative(&tokens) {
        Some(Slot::Relative(role))
    } else if asks_allergy(&tokens) {
        Some(Slot::Allergy)
    } else if question.starts_with("how old") {
        Some(Slot::Age)
    } else if place && has(Class::Dwelling) {
        Some(Slot::Home)
    } else if place && tokens.last().is_some_and(|it| *it == "from") {
        Some(Slot::Origin)
    } else if has(Class::JobNoun) || ["for a living", " work as"].iter().any(|it| question.contains(it)) {
        Some(Slot::Job)
    } else if (place || firm()) && has(Class::WorkForm) {
        Some(Slot::Employer)
    } else {
        None
    }
}

/// Returns true if a predicate of a fact gives the value of the slot.
pub fn is_told_by(slot: &Slot, predicate: &str) -> bool {
    let kind_of_predicate = Predicate::from_verb_phrase(predicate);
    match slot {
        Slot::Name => kind_of_predicate == Predicate::IsCalled,
        // A person with whom somebody lives is no place.
        Slot::Home => matches!(kind_of_predicate, Predicate::Lives(_)),
        Slot::Origin => kind_of_predicate == Predicate::ComesFrom,
        Slot::Employer => matches!(
            kind_of_predicate,
            Predicate::WorksAt | Predicate::WorksIn | Predicate::WorksFor
        ),
        Slot::Job => kind_of_predicate == Predicate::WorksAs,
        Slot::Age => kind_of_predicate == Predicate::IsAged,
        Slot::Allergy => kind_of_predicate == Predicate::IsAllergicTo,
        Slot::Relative(role) => matches!(kind_of_predicate, Predicate::HasRole(stated) if is_one(role, stated)),
    }
}

/// Returns true if a stem is one of the words that ask for the slot.
pub fn is_asked_by(slot: &Slot, word: &str) -> bool {
    let class = match slot {
        Slot::Name => Class::SlotName,
        Slot::Home => Class::SlotHome,
        Slot::Origin => Class::SlotOrigin,
        Slot::Employer => Class::SlotEmployer,
        Slot::Job => Class::SlotJob,
        Slot::Age => Class::SlotAge,
        Slot::Allergy => Class::SlotAllergy,
        Slot::Relative(role) => {
            return is_in_class(word, Class::SlotName) || stem_words(role).iter().any(|it| it == word);
        }
    };
    is_in_class(word, class)
}

/// Returns true for "what is Ann allergic to", "to what is Ann allergic" and "what allergies does Ann have". Returns
/// false for "what food is Ann allergic to", which asks only for some of the allergies.
fn asks_allergy(tokens: &[&str]) -> bool {
    let is_allergy = |it: &str| is_in_class(it, Class::AllergyWord);
    let to_what = tokens.windows(2).any(|it| it == ["to", "what"]);
    match tokens {
        ["what", verb, .., "allergic", "to"] => is_auxiliary(verb),
        ["what's", .., "allergic", "to"] => true,
        ["what" | "which", thing, "do" | "does", .., "have"] => is_allergy(thing),
        ["what", "is" | "are", .., "allergy" | "allergies"] => true,
        all => to_what && all.iter().any(|it| is_allergy(it)),
    }
}

/// Returns the role in a question for a relative, friend, pet or the like, relative to its owner: "what is Ann's dog
/// called", "who is my boss", "the name of my sister".
fn requested_relative(tokens: &[&str]) -> Option<String> {
    let who = matches!(tokens, ["who", "is" | "was", ..] | ["who's", ..]);
    let asks_for_name = tokens.iter().any(|it| is_in_class(it, Class::NameWord));
    if !(who || asks_for_name && matches!(tokens.first(), Some(&("what" | "what's")))) {
        return None;
    }
    let has = |it: &&str| matches!(*it, "my" | "our") || it.len() > 2 && it.ends_with("'s");
    let owner = 1 + tokens.iter().skip(1).position(has)?;
    if who
        && owner
            != tokens
                .iter()
                .take(2)
                .filter(|it| it.starts_with("who") || matches!(**it, "is" | "was"))
                .count()
    {
        return None;
    }
    let rest = &tokens[owner + 1..];
    let end = rest.iter().position(|it| is_in_class(it, Class::NameWord));
    let (last, before) = rest[..end.unwrap_or(rest.len())].split_last()?;
    // "My sister's name" asks for the sister, "my sister's husband" for another person.
    let last = match (end, last.strip_suffix("'s")) {
        (Some(_), Some(bare)) => bare,
        (None, Some(_)) => return None,
        (_, None) => last,
    };
    let plain = |it: &&str| kin::find_relation(last).is_none() || kin::word_added_by_modifier(it) != Some("");
    let is_role_phrase = before.len() < ROLE_WORDS && before.iter().all(|it| !is_stop(it) && !it.ends_with("'s"));
    let known = kin::find_relation(last).is_some() || who || Nouns::builtin().find_kind(last).is_some();
    (is_role_phrase && known && !is_stop(last)).then(|| {
        [before, &[last]]
            .concat()
            .into_iter()
            .filter(plain)
            .collect::<Vec<_>>()
            .join(" ")
    })
}

/// Returns true if a stated role is the requested role or a kind of it: "mum" is a mother, a greyhound is a dog.
fn is_one(requested: &str, stated: &str) -> bool {
    let last = |it: &str| it.rsplit(' ').next().unwrap_or_default().to_owned();
    let same = |a: &str, b: &str| {
        stem_word(a) == stem_word(b) || kin::find_relation(a).is_some_and(|it| kin::find_relation(b) == Some(it))
    };
    let (asked_last, stated_last) = (last(requested), last(stated));
    let of_kind = || {
        let nouns = Nouns::builtin();
        nouns
            .find_kind(&asked_last)
            .is_some_and(|it| nouns.is_of_kind(&it, std::slice::from_ref(&stated_last)))
    };
    let narrower = requested.contains(' ') && requested != stated;
    !narrower && (same(&asked_last, &stated_last) || of_kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_determines_the_kind_of_fact_it_asks_for() {
        let relative = |role: &str| Some(Slot::Relative(role.to_owned()));
        for (question, slot) in [
            ("where does mira live?", Some(Slot::Home)),
            ("which city does mira live in?", Some(Slot::Home)),
            ("where is mira from?", Some(Slot::Origin)),
            ("where does mira work now?", Some(Slot::Employer)),
            ("which company does mira work for?", Some(Slot::Employer)),
            ("what does mira do for a living?", Some(Slot::Job)),
            ("how old is mira?", Some(Slot::Age)),
            ("what is in the living room?", None),
            ("where did mira leave the keys?", None),
            ("what's my name?", Some(Slot::Name)),
            ("what is mira's dog called?", relative("dog")),
            ("who is my best friend?", relative("best friend")),
            ("what is the name of my sister?", relative("sister")),
            ("what is mira's new kitten called?", relative("kitten")),
            ("what's my sister's name?", relative("sister")),
            ("who is my sister's husband?", None),
            ("who is mira?", None),
            ("who is at mira's door?", None),
            ("what is my favourite colour called?", relative("favourite colour")),
            ("who is coming to mira's party on sunday?", None),
            ("what is mira allergic to?", Some(Slot::Allergy)),
            ("what's my son allergic to?", Some(Slot::Allergy)),
            ("what allergies does mira have?", Some(Slot::Allergy)),
            ("what are mira's allergies?", Some(Slot::Allergy)),
            ("does mira have an allergy, and to what?", Some(Slot::Allergy)),
            ("to what is mira allergic?", Some(Slot::Allergy)),
            ("what food is mira allergic to?", None),
            ("is mira allergic to cats?", None),
            ("what did mira say about her allergies?", None),
        ] {
            assert_eq!(requested_slot(question), slot, "{question}");
        }
    }

    #[test]
    fn a_role_matches_synonyms_and_narrower_words() {
        for (role, predicate, statement) in [
            ("mother", "has mum", true),
            ("dog", "has greyhound", true),
            ("dog", "has cat", false),
            ("friend", "has best friend", true),
            ("best friend", "has friend", false),
            ("sister", "has brother", false),
        ] {
            assert_eq!(
                is_told_by(&Slot::Relative(role.to_owned()), predicate),
                statement,
                "{role}, {predicate}"
            );
        }
    }
}

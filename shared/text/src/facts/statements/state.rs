//! Lasting properties of a person: age, diet, origin, and roles such as brother. The file `state.rule` has further
//! rules.

use domain::fact::Aspect;

use crate::facts::Subject;
use crate::facts::clauses::clause::{Clause, Draft};
use crate::facts::clauses::token::Gap;
use crate::facts::clauses::verb_group::Shape;
use crate::facts::lexicon::{
    AFTER_AGE, KIN, KIN_ADJECTIVES, KIND_ADJECTIVES, KINDS, NATIONS, PETS, PLURAL_SUBJECTS, TRAIT_CLOSERS,
    TRAIT_PHRASES, TRAITS, is_number,
};

/// Returns an age or a lasting trait.
pub(crate) fn read_state(clause: &Clause<'_>) -> Option<Draft> {
    let group = &clause.group;
    if group.base == "turn" && matches!(group.shape, Shape::Past | Shape::Perfect) && group.positive {
        return Some(Draft::new(Aspect::Attribute, "is aged", read_age(clause, group.next)?).into_event());
    }
    let past = group.shape == Shape::Was && group.ended;
    if group.base != "be" || !(matches!(group.shape, Shape::Be | Shape::Been) || past) {
        return None;
    }
    // "We're three" is a number of people.
    let one = !clause.words[clause.at..group.next]
        .iter()
        .any(|it| it.is_in_list(&PLURAL_SUBJECTS));
    let age = read_age(clause, group.next).filter(|_| group.positive && one);
    age.map(|it| Draft::new(Aspect::Attribute, "is aged", it))
        .or_else(|| trait_of(clause, &clause.words_after_verb()))
}

/// Reads "vegetarian", "Portuguese", "an only child".
fn trait_of(clause: &Clause<'_>, rest: &[&str]) -> Option<Draft> {
    let group = &clause.group;
    let ends = |at: usize| {
        let next = clause.word_at(group.next + at);
        let closed = at > 0
            && clause
                .words
                .get(group.next + at - 1)
                .is_some_and(|it| it.gap != Gap::None);
        next.is_empty()
            || closed
            || TRAIT_CLOSERS.contains(next)
            || clause
                .times_in_clause()
                .any(|it| it.range.start == clause.words[group.next + at].range.start)
    };
    let (length, known) = match rest {
        [word, ..] if TRAITS.contains(word) || NATIONS.contains(word) => (1, ends(1)),
        ["half", word, ..] if NATIONS.contains(word) => (2, ends(2)),
        ["an", "only", "child", ..] => (3, true),
        ["a" | "an", kind, ..] if KINDS.contains(kind) => (2, ends(2)),
        ["a" | "an", which, kind, ..] if KIND_ADJECTIVES.contains(which) && KINDS.contains(kind) => (3, ends(3)),
        _ => {
            let length = TRAIT_PHRASES.iter().find(|it| rest.starts_with(it))?.len();
            (length, ends(length))
        }
    };
    if !known || (clause.who.pronoun && rest[0] == "kosher") {
        return None;
    }
    let (first, last) = (&clause.words[group.next], &clause.words[group.next + length - 1]);
    let object = clause.text.get(first.range.start..last.range.end)?;
    // "a vegetarian" and "vegetarian" are the same value.
    let bare = object
        .strip_prefix("a ")
        .filter(|it| TRAITS.contains(it))
        .unwrap_or(object);
    let over = group.ended || (!group.positive && clause.any_more());
    let positive = group.positive || over;
    let predicate = if positive { "is" } else { "is not" };
    Some(Draft {
        positive,
        ..Draft::new(Aspect::Attribute, predicate, bare).with_ended(over)
    })
}

/// "Ben is my brother" states that the speaker has a brother called Ben.
pub(crate) fn kin_of(clause: &Clause<'_>) -> Option<Draft> {
    let group = &clause.group;
    if !group.positive || !matches!(clause.word_at(group.next), "my" | "our") {
        return None;
    }
    let head =
        (group.next + 1..clause.end.min(group.next + 4)).find(|it| !KIN_ADJECTIVES.contains(&clause.word_at(*it)))?;
    let kin = KIN.contains(&clause.word_at(head)) || PETS.contains(&clause.word_at(head));
    let Subject::Name(name) = &clause.who.subject else {
        return None;
    };
    if !kin || clause.who.of.len() + usize::from(clause.who.role.is_some()) > 0 {
        return None;
    }
    let best = clause.word_at(head - 1) == "best";
    let noun = if best {
        format!("best {}", clause.word_at(head))
    } else {
        clause.word_at(head).to_owned()
    };
    Some(
        Draft::new(Aspect::Relation, format!("has {noun}"), name.clone())
            .with_confidence(0.85)
            .with_ended(group.ended),
    )
}

/// Returns an age: a number of years that ends there.
fn read_age(clause: &Clause<'_>, from: usize) -> Option<String> {
    let word = clause.words.get(from).filter(|_| from < clause.end)?;
    // "Whenever I smell smoke I am seven." is no age.
    if clause.words.iter().any(|it| it.is_any_of(&["whenever", "again"])) {
        return None;
    }
    let next = clause.word_at(from + 1);
    let is_age = word.lower.parse::<u8>().map_or_else(
        |_| is_number(&word.lower) && word.lower.parse::<u32>().is_err(),
        |it| it < 115,
    );
    // "21 and a half" is an age too; "five minutes late" and "one of them" are not.
    let ends = word.gap != Gap::None || next.is_empty() || AFTER_AGE.contains(next);
    let of_years = matches!(next, "years" | "year") && clause.word_at(from + 2) == "old";
    let fine = if matches!(next, "years" | "year") {
        of_years
    } else {
        ends
    };
    let place = next == "in" && !clause.times_in_clause().any(|it| it.range.start >= word.range.end);
    (is_age && fine && !place && word.lower != "one" && word.lower != "0").then(|| word.lower.clone())
}

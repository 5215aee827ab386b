//! Distinguishes what a group has ("we have 40 servers") from what each of its members has ("we have two dogs").

use super::lexicon::{CHILDREN, HOUSEHOLD, KIN, PETS};
use super::sentence::lower_words;
use crate::lexicon::{Class, is_in_class};

/// Returns true if an English text says what a group of the speaker has or is: it speaks of "we", "us" or "our", not
/// of "I", and of nothing that a household has. Returns false for texts in other languages.
pub fn is_claim_of_group(text: &str) -> bool {
    let words = lower_words(text);
    let has_class = |class: Class| words.iter().any(|it| is_in_class(it, class));
    let is_of_household = |it: &String| {
        let it = it.trim_end_matches("'s");
        [&HOUSEHOLD, &KIN, &PETS, &CHILDREN]
            .iter()
            .any(|list| list.contains(it))
    };
    has_class(Class::FirstPersonPlural) && !has_class(Class::FirstPerson) && !words.iter().any(is_of_household)
}

/// Returns true if an English text speaks of the speaker or of a group of the speaker.
pub fn names_first_person(text: &str) -> bool {
    lower_words(text)
        .iter()
        .any(|it| is_in_class(it, Class::FirstPersonPlural) || is_in_class(it, Class::FirstPerson))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_team_or_a_firm_has_is_the_claim_of_a_group() {
        for text in [
            "We have 40 servers",
            "our app has two million users",
            "We\u{2019}re a charity",
            "we've got nine trucks on the road",
            "three patents belong to us",
            "Our budget is 20,000 euros",
            "The deadline is ours to set",
        ] {
            assert!(is_claim_of_group(text), "{text}");
        }
    }

    #[test]
    fn what_one_person_or_a_household_has_is_no_claim_of_a_group() {
        for text in [
            "We have two dogs",
            "we've three kids",
            "We bought a house in May",
            "our car is a Skoda",
            "our son's name is Milo",
            "I have 40 servers",
            "My husband and I have a piano",
            "I run the team, we have 40 servers",
            "The firm has 40 servers",
            "Nuestra empresa tiene 40 servidores",
            "",
        ] {
            assert!(!is_claim_of_group(text), "{text}");
        }
        assert!(names_first_person("we have 40 servers") && names_first_person("I have one"));
        assert!(!names_first_person("40 servers in all"));
    }
}

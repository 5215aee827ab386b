//! What people ask of each other first and facts hold one value of at a time.

use crate::words;

/// A value that a fact states and a question may ask for, whatever its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Where somebody lives.
    Home,
    /// Where somebody comes from.
    Origin,
    /// Where or for whom somebody works.
    Employer,
    /// What somebody works as.
    Job,
    /// How old somebody is.
    Age,
}

const PLACES: &[&str] = &["city", "cities", "town", "village", "country", "countries", "place"];
const FIRMS: &[&str] = &["company", "firm", "employer"];

impl Slot {
    /// Reads which slot a question in lower case asks for; what else it asks is for the caller to see.
    pub fn asked(question: &str) -> Option<Slot> {
        let tokens = words(question);
        let has = |list: &[&str]| tokens.iter().any(|it| list.contains(it));
        let asks = |list: &[&str]| {
            let mut pairs = tokens.windows(2);
            pairs.any(|it| matches!(it[0], "what" | "which") && list.contains(&it[1]))
        };
        let place = has(&["where"]) || asks(PLACES);
        if question.starts_with("how old") {
            Some(Slot::Age)
        } else if place && has(&["live", "lives", "living", "based", "home"]) {
            Some(Slot::Home)
        } else if place && tokens.last().is_some_and(|it| *it == "from") {
            Some(Slot::Origin)
        } else if has(&["job", "profession", "occupation"])
            || ["for a living", " work as"].iter().any(|it| question.contains(it))
        {
            Some(Slot::Job)
        } else if (place || asks(FIRMS)) && has(&["work", "works", "working"]) {
            Some(Slot::Employer)
        } else {
            None
        }
    }

    /// Says whether a predicate, as statements have it, tells the value.
    pub fn is_told_by(self, predicate: &str) -> bool {
        match self {
            Slot::Home => predicate.starts_with("lives "),
            Slot::Origin => predicate == "comes from",
            Slot::Employer => matches!(predicate, "works at" | "works in" | "works for"),
            Slot::Job => predicate == "works as",
            Slot::Age => predicate == "is aged",
        }
    }

    /// Stems of the words that ask for it.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Slot::Home => &["live", "base", "home"],
            Slot::Origin => &["come", "origin"],
            Slot::Employer => &["work"],
            Slot::Job => &["job", "profess", "occup", "live", "work"],
            Slot::Age => &["old"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_ask_for_slots() {
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
        ] {
            assert_eq!(Slot::asked(question), slot, "{question}");
        }
    }
}

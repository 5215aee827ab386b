//! The predicates of facts that the product itself interprets. A fact stores its predicate as text; this module gives
//! its meaning.

/// The meaning of a fact's predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate<'a> {
    /// "is called".
    IsCalled,
    /// "is aged".
    IsAged,
    /// "lives in", "lives near"; holds the preposition.
    Lives(&'a str),
    /// "lives with".
    LivesWith,
    /// "comes from".
    ComesFrom,
    /// "was born in".
    WasBornIn,
    /// "works as".
    WorksAs,
    /// "works at".
    WorksAt,
    /// "works in".
    WorksIn,
    /// "works for".
    WorksFor,
    /// "works from".
    WorksFrom,
    /// "works with".
    WorksWith,
    /// "is married to".
    IsMarriedTo,
    /// "is engaged to".
    IsEngagedTo,
    /// "is together with".
    IsTogetherWith,
    /// "is allergic to".
    IsAllergicTo,
    /// "is not allergic to".
    IsNotAllergicTo,
    /// "has sister"; holds the role of the object for the subject.
    HasRole(&'a str),
    /// "has".
    Has,
    /// "owns".
    Owns,
    /// "favourite colour is"; holds the kind of thing.
    Favourite(&'a str),
    /// "household has".
    HouseholdHas,
    /// Any other verb or state.
    Other(&'a str),
}

/// How many values of a predicate can hold for a subject at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One: another value contradicts it or replaces it.
    One,
    /// Several.
    Many,
}

/// Roles that only one person can have for another person at a time.
const ONLY: &[&str] = &[
    "husband",
    "wife",
    "spouse",
    "partner",
    "boyfriend",
    "girlfriend",
    "fiance",
    "fiancé",
    "fiancee",
    "fiancée",
    "boss",
    "manager",
    "supervisor",
    "landlord",
    "landlady",
    "mother",
    "mum",
    "mom",
    "father",
    "dad",
    "best friend",
];

/// Returns true if only one person can have this role for another person at a time.
pub fn is_single_role(role: &str) -> bool {
    ONLY.contains(&role)
}

impl<'a> Predicate<'a> {
    /// Returns the meaning of a predicate, given in the form that facts use.
    pub fn from_verb_phrase(written: &'a str) -> Predicate<'a> {
        match written {
            "is called" => Predicate::IsCalled,
            "is aged" => Predicate::IsAged,
            "lives with" => Predicate::LivesWith,
            "comes from" => Predicate::ComesFrom,
            "was born in" => Predicate::WasBornIn,
            "works as" => Predicate::WorksAs,
            "works at" => Predicate::WorksAt,
            "works in" => Predicate::WorksIn,
            "works for" => Predicate::WorksFor,
            "works from" => Predicate::WorksFrom,
            "works with" => Predicate::WorksWith,
            "is married to" => Predicate::IsMarriedTo,
            "is engaged to" => Predicate::IsEngagedTo,
            "is together with" => Predicate::IsTogetherWith,
            "is allergic to" => Predicate::IsAllergicTo,
            "is not allergic to" => Predicate::IsNotAllergicTo,
            "has" => Predicate::Has,
            "owns" => Predicate::Owns,
            "household has" => Predicate::HouseholdHas,
            _ => Predicate::of_family(written),
        }
    }

    fn of_family(written: &'a str) -> Predicate<'a> {
        // "has been to" and "has never been to" contain no role.
        let role = written.strip_prefix("has ").filter(|it| !it.contains("been"));
        let favourite = ["favourite ", "favorite "]
            .into_iter()
            .find_map(|it| written.strip_prefix(it));
        let preposition = written.strip_prefix("lives ");
        match (role, favourite, preposition) {
            (Some(role), ..) => Predicate::HasRole(role),
            (_, Some(of), _) => Predicate::Favourite(of.strip_suffix(" is").unwrap_or(of)),
            (.., Some(preposition)) => Predicate::Lives(preposition),
            (None, None, None) => Predicate::Other(written),
        }
    }

    /// Returns the number of values that can hold for a subject at the same time.
    pub fn cardinality(self) -> Cardinality {
        match self {
            Predicate::HasRole(role) if is_single_role(role) => Cardinality::One,
            Predicate::IsAged
            | Predicate::Lives(_)
            | Predicate::LivesWith
            | Predicate::ComesFrom
            | Predicate::WasBornIn
            | Predicate::WorksAs
            | Predicate::WorksAt
            | Predicate::WorksIn
            | Predicate::WorksFrom
            | Predicate::WorksWith
            | Predicate::IsMarriedTo
            | Predicate::IsEngagedTo
            | Predicate::IsTogetherWith
            | Predicate::Favourite(_)
            | Predicate::HouseholdHas => Cardinality::One,
            Predicate::IsCalled
            | Predicate::WorksFor
            | Predicate::IsAllergicTo
            | Predicate::IsNotAllergicTo
            | Predicate::HasRole(_)
            | Predicate::Has
            | Predicate::Owns
            | Predicate::Other(_) => Cardinality::Many,
        }
    }

    /// Returns true if a subject can have only one value at a time.
    pub fn is_single(self) -> bool {
        self.cardinality() == Cardinality::One
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_have_a_meaning_and_a_cardinality() {
        for (written, predicate, cardinality) in [
            ("lives in", Predicate::Lives("in"), Cardinality::One),
            ("lives with", Predicate::LivesWith, Cardinality::One),
            ("works as", Predicate::WorksAs, Cardinality::One),
            ("has boss", Predicate::HasRole("boss"), Cardinality::One),
            ("has sister", Predicate::HasRole("sister"), Cardinality::Many),
            ("has been to", Predicate::Other("has been to"), Cardinality::Many),
            ("favorite colour is", Predicate::Favourite("colour"), Cardinality::One),
            ("is allergic to", Predicate::IsAllergicTo, Cardinality::Many),
            ("owns", Predicate::Owns, Cardinality::Many),
            ("likes", Predicate::Other("likes"), Cardinality::Many),
            ("works", Predicate::Other("works"), Cardinality::Many),
        ] {
            assert_eq!(Predicate::from_verb_phrase(written), predicate, "{written}");
            assert_eq!(predicate.cardinality(), cardinality, "{written}");
        }
    }
}

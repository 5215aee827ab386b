//! Names the parts of a memory that can be removed, and counts them.

use std::str::FromStr;

use anyhow::bail;
use domain::derived::DerivedKind;
use domain::unit::Grain;

use super::contents::Contents;

/// A part of the memory that the papers ablate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Topics, the membership of events in them, and their pages.
    Topics,
    /// Event units with their standings and merges, and the topics and pages that are made of them.
    Events,
    /// Relations between units.
    Relations,
    /// Gists that a language model wrote, and the facts that come from them.
    Gists,
    /// Facts, and the lines of pages that state them.
    Facts,
    /// Synonymy edges between entities.
    Synonymy,
    /// Links between pages.
    Links,
}

/// Parts that papers ablate but that this build cannot switch off, with the reason.
const WITHOUT_SWITCH: [(&str, &str); 3] = [
    (
        "refinement",
        "a strategy goes on with what it lacks in the same loop in which it looks around",
    ),
    (
        "subgoals",
        "the parts of a question are planned inside of a strategy, and no request turns that off",
    ),
    (
        "protocol",
        "recall decides by it whenever a language model is allowed, and questions never do",
    ),
];

impl Part {
    /// All parts.
    pub const ALL: [Part; 7] = [
        Part::Topics,
        Part::Events,
        Part::Relations,
        Part::Gists,
        Part::Facts,
        Part::Synonymy,
        Part::Links,
    ];

    /// Returns the name of the part on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Topics => "topics",
            Part::Events => "events",
            Part::Relations => "relations",
            Part::Gists => "gists",
            Part::Facts => "facts",
            Part::Synonymy => "synonymy",
            Part::Links => "links",
        }
    }

    /// Returns the number of objects of the part.
    pub fn count(self, contents: &Contents) -> usize {
        match self {
            Part::Topics => contents.derived_of(DerivedKind::Topic).count(),
            Part::Events => contents.units_of(Grain::Event).count(),
            Part::Gists => contents.units_of(Grain::Gist).count(),
            Part::Facts => contents.facts().count(),
            Part::Relations => contents.relations.len(),
            Part::Synonymy => contents.entities().map(|it| it.synonyms.len()).sum(),
            Part::Links => contents.pages().map(|it| it.links.len()).sum(),
        }
    }
}

impl FromStr for Part {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Part> {
        if let Some((_, why)) = WITHOUT_SWITCH.iter().find(|it| it.0 == name) {
            bail!("this build has no switch for {name}: {why}");
        }
        let known = Part::ALL.map(Part::name);
        match Part::ALL.into_iter().find(|it| it.name() == name) {
            Some(part) => Ok(part),
            None => bail!("{name} is no part of a memory: use one of {}", known.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_a_switch_is_rejected_with_the_reason() {
        for part in Part::ALL {
            assert_eq!(part.name().parse::<Part>().unwrap(), part);
        }
        for name in ["refinement", "subgoals", "protocol"] {
            let error = name.parse::<Part>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("this build has no switch for {name}: ")),
                "{error}"
            );
        }
        let error = "colours".parse::<Part>().unwrap_err().to_string();
        assert!(error.contains("use one of topics, events, relations"), "{error}");
    }
}

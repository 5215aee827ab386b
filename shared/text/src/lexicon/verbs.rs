//! English verbs and their forms. `data/en/verbs.tsv` has one row for each verb. A verb whose forms follow from its
//! spelling (past "lived", third person "lives") has a row only if a rule needs it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, Row, data_file};

static VERBS: LazyLock<Vec<Verb>> = LazyLock::new(|| {
    data_files::expect_valid_table(parse_verbs(&data_files::expect_valid_table(data_files::read_rows(
        FILE, 6,
    ))))
});
static PASTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let unambiguous = VERBS.iter().filter(|it| !it.tags.homograph);
    unambiguous
        .flat_map(|it| it.pasts.iter().copied().filter(|past| !is_regular(it.base, past)))
        .collect()
});
static GLOSSED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let glossed = VERBS.iter().filter(|it| it.tags.gloss);
    glossed.map(|it| (it.third, it.base)).collect()
});

const FILE: data_files::File = data_file!("en/verbs.tsv");

/// A verb and its forms.
#[derive(Clone, Debug)]
pub(crate) struct Verb {
    pub(crate) base: &'static str,
    /// Third person singular of the present.
    pub(crate) third: &'static str,
    /// One or more past forms; the usual one first.
    pub(crate) pasts: Vec<&'static str>,
    /// One or more participles; the usual one first.
    pub(crate) participles: Vec<&'static str>,
    pub(crate) ing: &'static str,
    pub(crate) tags: Tags,
}

/// Properties of a verb that rules use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tags {
    /// The rules for facts use it.
    pub(crate) fact: bool,
    /// The phrases of other languages use its third person.
    pub(crate) gloss: bool,
    /// True if the past is often a different word: "rose", "wound".
    pub(crate) homograph: bool,
    /// True if the irregular forms keep their own stems instead of that of the base.
    pub(crate) apart: bool,
}

/// Returns true if a word in lower case is the irregular past of a verb, differs from all other forms of the verb, and
/// is hardly ever another word.
pub fn is_past(word: &str) -> bool {
    PASTS.contains(word)
}

/// Returns the base form of a verb from its third person singular in lower case, if phrases of other languages use the
/// verb; `None` for any other word.
pub(crate) fn glossed_base(third: &str) -> Option<&'static str> {
    GLOSSED.get(third).copied()
}

/// Returns all verbs, in the order of their bases.
pub(crate) fn all_verbs() -> &'static [Verb] {
    &VERBS
}

impl Verb {
    /// Returns the irregular past forms and participles that share the stem of the base.
    pub(crate) fn irregular_forms(&self) -> impl Iterator<Item = &'static str> {
        let forms = self.pasts.iter().chain(&self.participles).copied();
        forms.filter(|it| !self.tags.apart && !is_regular(self.base, it))
    }
}

/// Returns true if the past follows from the spelling of the base: "lived", "studied", "planned". Forms such as "fled"
/// and "fed" are too short for that.
fn is_regular(base: &str, past: &str) -> bool {
    past.ends_with("ed") && past.len() > base.len()
}

fn parse_verbs(rows: &[Row]) -> Result<Vec<Verb>, String> {
    let mut met = HashMap::new();
    let mut verbs = Vec::with_capacity(rows.len());
    for row in rows {
        let mut tags = Tags::default();
        for tag in row.split_alternatives(5) {
            match tag {
                "fact" => tags.fact = true,
                "gloss" => tags.gloss = true,
                "homograph" => tags.homograph = true,
                "apart" => tags.apart = true,
                _ => return Err(row.locate_error(&format!("\"{tag}\" is not a tag"))),
            }
        }
        let verb = Verb {
            base: row.cells[0],
            third: row.cells[1],
            pasts: row.split_alternatives(2).collect(),
            participles: row.split_alternatives(3).collect(),
            ing: row.cells[4],
            tags,
        };
        if !verb.ing.ends_with("ing") || !verb.third.ends_with('s') {
            return Err(row.locate_error("the third person ends with \"s\", the fifth form with \"ing\""));
        }
        data_files::insert_unique(&mut met, verb.base, (), row)?;
        verbs.push(verb);
    }
    match verbs.is_sorted_by_key(|it| it.base) {
        true => Ok(verbs),
        false => Err(format!("{}: the bases are not in order", FILE.path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_pasts_are_recognised_unless_they_are_another_word() {
        for past in ["went", "fled", "fed", "learnt", "sprung"] {
            assert!(is_past(past), "{past}");
        }
        for other in ["lived", "learned", "rose", "quit", "read", "gone", "go"] {
            assert!(!is_past(other), "{other}");
        }
    }

    #[test]
    fn rows_with_errors_are_refused() {
        let verbs = |text| parse_verbs(&data_files::read_rows(data_files::File { path: "x.tsv", text }, 6)?);
        assert_eq!(verbs("go\tgoes\twent\tgone\tgoing\tfact\n").unwrap()[0].pasts, ["went"]);
        for (text, fault) in [
            ("go\tgoes\twent\tgone\tgoing\n", "x.tsv:1: 5 cells, not 6"),
            (
                "go\tgoes\twent\tgone\tgoing\tfacts\n",
                "x.tsv:1: \"facts\" is not a tag",
            ),
            (
                "go\tgoes\tgone\tgoing\twent\t-\n",
                "x.tsv:1: the third person ends with \"s\", the fifth form with \"ing\"",
            ),
            (
                "go\tgoes\twent\tgone\tgoing\t-\ngo\tgoes\twent\tgone\tgoing\t-\n",
                "x.tsv:2: \"go\" is there already",
            ),
        ] {
            assert_eq!(verbs(text).err().as_deref(), Some(fault), "{text:?}");
        }
    }
}

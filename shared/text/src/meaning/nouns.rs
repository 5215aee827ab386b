use std::sync::LazyLock;

static BYTES: &[u8] = include_bytes!("../../data/nouns.bin");
static BUILTIN: LazyLock<Nouns> = LazyLock::new(|| Nouns::from_bytes(BYTES).unwrap_or_default());

/// Number of senses of a noun in a text that are considered, the most frequent first: rarer ones are seldom meant.
const SENSES_MAX: usize = 2;
/// Number of words of the longest noun.
const WORDS: usize = 3;

/// Which English noun is a kind or an instance of which other: a cello is an instrument, Lisbon is a city.
#[derive(Default)]
pub struct Nouns {
    /// For each sense, the index in `above` where its entries begin; one more element at the end.
    starts: Vec<u32>,
    /// The senses that each sense is a kind or an instance of; their numbers are always lower.
    above: Vec<u32>,
    /// All nouns joined, sorted by their bytes.
    text: String,
    /// For each noun, where it begins in `text` and in `senses`; one more element at the end.
    nouns: Vec<(u32, u32)>,
    senses: Vec<u32>,
}

/// The meaning of a noun, to ask which phrases name something of this kind.
#[derive(Clone, Debug)]
pub struct Kind {
    noun: String,
    senses: Vec<u32>,
}

impl Nouns {
    /// Returns the built-in nouns: 110,933 with 82,192 senses. `data/NOTICE.md` describes the file format.
    pub fn builtin() -> &'static Nouns {
        &BUILTIN
    }

    /// Returns the meaning of a noun, singular or plural, in any case; `None` for an unknown noun.
    pub fn find_kind(&self, noun: &str) -> Option<Kind> {
        let (noun, senses) = self.find_noun(&noun.to_lowercase())?;
        Some(Kind {
            noun: noun.to_owned(),
            senses: senses.to_vec(),
        })
    }

    /// Returns true if a phrase in lower case names something of `kind`; the last words of the phrase decide. The noun
    /// of the kind itself does not count.
    pub fn is_of_kind(&self, kind: &Kind, phrase: &[String]) -> bool {
        let Some((noun, senses)) = self.find_ending_noun(phrase) else {
            return false;
        };
        noun != kind.noun
            && senses
                .iter()
                .take(SENSES_MAX)
                .any(|it| self.is_hyponym_of(*it, &kind.senses))
    }

    /// Returns true if a noun in lower case names a person. The singular is tried as well, because "twins" alone are a
    /// sign of the zodiac.
    pub fn is_person(&self, lower: &str) -> bool {
        let kind = self.find_kind("person");
        let names = |it: &str| {
            kind.as_ref()
                .is_some_and(|kind| self.is_of_kind(kind, &[it.to_owned()]))
        };
        names(lower) || names(lower.trim_end_matches('s'))
    }

    /// Returns true if a phrase in lower case ends with a known noun, and none of its considered senses belongs to one
    /// of `kinds`.
    pub fn is_none_of(&self, kinds: &[&str], phrase: &[String]) -> bool {
        let Some((_, senses)) = self.find_ending_noun(phrase) else {
            return false;
        };
        let kinds: Vec<Kind> = kinds.iter().filter_map(|it| self.find_kind(it)).collect();
        let of = |sense: &u32| kinds.iter().any(|it| self.is_hyponym_of(*sense, &it.senses));
        !senses.iter().take(SENSES_MAX).any(of)
    }

    /// Returns the longest noun at the end of a phrase, with its senses.
    fn find_ending_noun(&self, phrase: &[String]) -> Option<(&str, &[u32])> {
        let longest = phrase.len().min(WORDS);
        let mut endings = (1..=longest).rev().map(|it| phrase[phrase.len() - it..].join(" "));
        endings.find_map(|it| self.find_noun(&it))
    }

    /// Finds a noun as it is written, or the singular of which it may be the plural.
    fn find_noun(&self, lower: &str) -> Option<(&str, &[u32])> {
        let singular = |ending: &str, instead: &str| {
            let base = lower.strip_suffix(ending).filter(|it| it.len() > 1)?;
            self.find_exact(&format!("{base}{instead}"))
        };
        self.find_exact(lower)
            .or_else(|| singular("ies", "y"))
            .or_else(|| singular("s", ""))
            .or_else(|| singular("es", ""))
            .or_else(|| singular("men", "man"))
    }

    fn find_exact(&self, noun: &str) -> Option<(&str, &[u32])> {
        let count = self.nouns.len().saturating_sub(1);
        let at = |it: usize| &self.text[self.nouns[it].0 as usize..self.nouns[it + 1].0 as usize];
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = usize::midpoint(low, high);
            if at(middle) < noun {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let senses = || &self.senses[self.nouns[low].1 as usize..self.nouns[low + 1].1 as usize];
        (low < count && at(low) == noun).then(|| (at(low), senses()))
    }

    /// Returns true if `sense` is one of `those`, or a kind or an instance of one.
    fn is_hyponym_of(&self, sense: u32, those: &[u32]) -> bool {
        let at = sense as usize;
        let above = || &self.above[self.starts[at] as usize..self.starts[at + 1] as usize];
        those.contains(&sense) || above().iter().any(|it| self.is_hyponym_of(*it, those))
    }

    fn from_bytes(bytes: &'static [u8]) -> Option<Nouns> {
        let mut rest = bytes.strip_prefix(b"NOUN0001")?;
        let mut read = Nouns::default();
        for sense in 0..read_varint(&mut rest)? {
            read.starts.push(u32::try_from(read.above.len()).ok()?);
            for _ in 0..read_varint(&mut rest)? {
                let above = sense.checked_sub(read_varint(&mut rest)?.max(1))?;
                read.above.push(above);
            }
        }
        read.starts.push(u32::try_from(read.above.len()).ok()?);
        let all = read.starts.len() - 1;
        let mut last = 0;
        for _ in 0..read_varint(&mut rest)? {
            let start = read.text.len();
            read.nouns
                .push((u32::try_from(start).ok()?, u32::try_from(read.senses.len()).ok()?));
            let same = last + read_varint(&mut rest)? as usize;
            let more = read_varint(&mut rest)? as usize;
            let shared = read.text.get(last..same)?.to_owned();
            read.text.push_str(&shared);
            let (noun, after) = rest.split_at_checked(more)?;
            read.text.push_str(std::str::from_utf8(noun).ok()?);
            rest = after;
            last = start;
            for _ in 0..read_varint(&mut rest)? {
                read.senses
                    .push(read_varint(&mut rest).filter(|it| (*it as usize) < all)?);
            }
        }
        read.nouns.push((
            u32::try_from(read.text.len()).ok()?,
            u32::try_from(read.senses.len()).ok()?,
        ));
        rest.is_empty().then_some(read)
    }
}

/// Reads a number of seven bits per byte, the lowest bits first; the high bit is set while more bytes follow.
fn read_varint(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for shift in (0..32).step_by(7) {
        let (first, after) = rest.split_first()?;
        *rest = after;
        value |= u32::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of_named_kind(kind: &str, phrase: &str) -> bool {
        let words: Vec<String> = phrase.to_lowercase().split(' ').map(str::to_owned).collect();
        let nouns = Nouns::builtin();
        nouns.is_of_kind(&nouns.find_kind(kind).unwrap(), &words)
    }

    #[test]
    fn all_rows_of_the_noun_file_are_loaded() {
        let nouns = Nouns::builtin();
        assert_eq!((nouns.starts.len() - 1, nouns.nouns.len() - 1), (82_192, 110_933));
    }

    #[test]
    fn kinds_and_instances_are_known() {
        for (kind, phrase) in [
            ("instruments", "cello"),
            ("instrument", "an old violin"),
            ("cities", "Lisbon"),
            ("city", "New York City"),
            ("animals", "cats"),
            ("herb", "sage"),
            ("country", "Norway"),
            ("countries", "united kingdom"),
            ("sport", "surfing"),
            ("relatives", "grandmother"),
        ] {
            assert!(is_of_named_kind(kind, phrase), "{phrase} is of the kind {kind}");
        }
        for (kind, phrase) in [
            ("instruments", "Jurre"),
            ("cities", "new city"),
            ("animals", "table"),
            ("country", "cello"),
            ("sport", "cello player"),
        ] {
            assert!(!is_of_named_kind(kind, phrase), "{phrase} is not of the kind {kind}");
        }
        assert!(Nouns::builtin().find_kind("blorptix").is_none());
    }
}

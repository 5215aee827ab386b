//! Tells whether an earlier gist may have to do with a passage, by the telling words that they share.

use std::collections::HashSet;

use domain::record::Record;

use crate::reading::lines::record_content;

/// Minimum rarity of a telling word in general English, as a negative natural logarithm of its share. Of 48 earlier
/// turns that a search by words found for passages of six talks, 15 had to do with the passage; 14 of these share such
/// a word with it, and 18 of the other 33.
const RARITY_MIN: f32 = 9.0;

/// The words of a passage.
pub(crate) struct PassageWords {
    /// Stems of all telling words.
    stems: HashSet<String>,
}

impl PassageWords {
    /// Reads the words of a passage. The names of those who speak do not count, because every gist of them has these.
    pub(crate) fn from_records(records: &[Record]) -> PassageWords {
        let names: HashSet<String> = records.iter().flat_map(|it| telling_stems(&it.actor)).collect();
        let said = records.iter().flat_map(|it| telling_stems(&record_content(it)));
        let stems = said.filter(|it| !names.contains(it)).collect();
        PassageWords { stems }
    }

    /// Returns true if a text shares a telling word with the passage, in any form.
    pub(crate) fn shares_word_with(&self, text: &str) -> bool {
        !telling_stems(text).is_disjoint(&self.stems)
    }
}

/// Returns the stems of the words that are neither function words nor numbers nor frequent in English.
fn telling_stems(text: &str) -> HashSet<String> {
    let words = text::split_words(text).into_iter().map(str::to_lowercase);
    let words = words.filter(|it| it.chars().all(char::is_alphabetic) && !text::is_stop(it) && is_rare(it));
    words.map(|it| text::stem_word(&it)).collect()
}

/// Returns true if a word is rare in general English, or unknown.
fn is_rare(word: &str) -> bool {
    let table = text::EmbeddingTable::builtin();
    let rarities = table.piece_rows(word).into_iter().map(|it| table.rarity_of_row(it));
    rarities.reduce(f32::max).is_none_or(|it| it >= RARITY_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::example::sample_record;

    #[test]
    fn a_gist_has_to_share_a_telling_word_with_the_passage() {
        let records = [
            sample_record(1, "Ann", "The licence came today, so I can drive the van to Whitby."),
            sample_record(
                2,
                "Tom",
                "Good! The fridge is broken again, and Gerald hates the noise.",
            ),
        ];
        let passage = PassageWords::from_records(&records);
        for gist in [
            "Ann posted her licence in May.",
            "Tom bought a second-hand van.",
            "Ann spent a week in Whitby.",
            "Tom repaired the fridges of his neighbours.",
            "Gerald is the parrot of Tom's aunt.",
            "Ann complained about noises at night.",
        ] {
            assert!(passage.shares_word_with(gist), "{gist}");
        }
        for gist in [
            "Ann plays the cello.",
            "Tom was back again for the last day.",
            "Ann and Tom had a good day.",
            "It was the way home in 2019.",
            "Ann can do it today.",
            "",
        ] {
            assert!(!passage.shares_word_with(gist), "{gist}");
        }
    }
}

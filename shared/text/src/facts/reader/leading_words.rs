//! The words before the subject of a clause.

use super::super::lexicon::{BEFORE_TIME, FILLERS, LEAD_PHRASES, SUBJECT_OPENERS};
use super::Reader;
use crate::facts::clauses::subject::is_name;
use crate::facts::clauses::token::{Gap, Word};

impl Reader<'_> {
    /// Returns the index of the subject, after fillers, times and the name of the addressee.
    pub(super) fn skip_to_subject(&self, words: &[Word], from: usize) -> usize {
        let mut at = from;
        while let Some(word) = words.get(at) {
            let mention = |at: usize| {
                let word = words.get(at)?;
                self.mentions
                    .iter()
                    .find(|it| it.range.start <= word.range.start && word.range.start < it.range.end)
            };
            let lower = word.lower.as_str();
            let next = words.get(at + 1).map_or("", |it| it.lower.as_str());
            if let Some(mention) =
                mention(at).or_else(|| word.is_in_list(&BEFORE_TIME).then(|| mention(at + 1)).flatten())
            {
                at += words[at..]
                    .iter()
                    .take_while(|it| it.range.start < mention.range.end)
                    .count();
            } else if at == from && lower.strip_suffix('s').is_some_and(crate::time::words::is_named) && next == "i" {
                at += 1;
            } else if word.is_any_of(&["every", "each"]) || (lower == "on" && next.ends_with('s')) {
                let comma = words[at..].iter().take(5).position(|it| it.gap == Gap::Comma);
                let person = words[at..]
                    .iter()
                    .take(6)
                    .position(|it| it.is_in_list(&SUBJECT_OPENERS));
                // "Every evening Ana and I" is about Ana too.
                let person = person.map(|it| {
                    if it > 2 && words[at + it - 1].lower == "and" {
                        it - 2
                    } else {
                        it
                    }
                });
                match comma.map(|it| it + 1).or(person) {
                    Some(step) if step > 0 => at += step,
                    _ => break,
                }
            } else if let Some(phrase) = LEAD_PHRASES.iter().find(|it| {
                it.iter()
                    .enumerate()
                    .all(|(n, part)| words.get(at + n).is_some_and(|it| it.lower == *part))
            }) {
                at += phrase.len();
            } else if word.is_in_list(&FILLERS) || (is_name(word) && word.gap == Gap::Comma && at == from) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }
}

//! How far a place goes: what hangs above the fireplace in Trieste hangs neither "in Trieste" nor "above the fireplace" alone.

use text::words;

use super::lexis::{Class, class};
use crate::pool::Sentence;

/// Prepositions that say nothing without what stands behind them: none of them is dropped, and what leads on belongs to them.
const RELATIVE: [&str; 15] = [
    "above",
    "below",
    "under",
    "underneath",
    "beneath",
    "behind",
    "beside",
    "between",
    "opposite",
    "near",
    "outside",
    "inside",
    "against",
    "beyond",
    "next",
];
/// Words of a chain of places.
const LENGTH: usize = 14;

/// Returns the bytes of the chain of places around a candidate, if it begins with a relation.
pub(super) fn chain(sentence: &Sentence, start: usize, end: usize) -> Option<(usize, usize)> {
    let text = &sentence.text;
    let base = text.as_ptr() as usize;
    let all: Vec<(usize, usize, String, Class)> = words(text)
        .into_iter()
        .enumerate()
        .map(|(at, word)| {
            let from = word.as_ptr() as usize - base;
            let lower = word.to_lowercase().replace('’', "'");
            let class = class(word, &lower, at == 0);
            (from, from + word.len(), lower, class)
        })
        .collect();
    let first = all.iter().position(|it| it.0 >= start)?;
    let last = all.iter().rposition(|it| it.1 <= end)?;
    let joined = |at: usize| text[all[at - 1].1..all[at].0].trim().is_empty();
    let part = |at: usize| {
        let word = &all[at];
        match word.3 {
            Class::Preposition => places(&word.2),
            Class::Determiner | Class::Content | Class::Name | Class::Number => true,
            Class::Gerund | Class::Pronoun | Class::Auxiliary | Class::Conjunction | Class::Filler | Class::Verb => {
                false
            }
        }
    };
    if last < first || last - first > LENGTH || (first..=last).any(|it| !part(it)) {
        return None;
    }
    let opens = |at: &usize| RELATIVE.contains(&all[*at].2.as_str());
    let back = (0..=first)
        .rev()
        .take_while(|it| part(*it) && (*it == first || joined(*it + 1)));
    let from = back.filter(opens).last()?;
    let mut to = last;
    while to + 1 < all.len() && to + 1 - from < LENGTH && joined(to + 1) && part(to + 1) {
        to += 1;
    }
    // A preposition at the end leads nowhere.
    while to > last && all[to].3 == Class::Preposition {
        to -= 1;
    }
    Some((all[from].0, all[to].1))
}

fn places(preposition: &str) -> bool {
    RELATIVE.contains(&preposition) || matches!(preposition, "in" | "at" | "on" | "of" | "to" | "by" | "over" | "from")
}

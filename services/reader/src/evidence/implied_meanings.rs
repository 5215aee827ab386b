//! Meanings that a sentence implies without a word for them: a sum of money implies paying, kilos imply weight.

use text::lexicon::{Class, is_in_class};
use text::split_words;

use crate::evidence::amount::{contains_mass, contains_money};
use crate::evidence::question::{Asked, Question};
use crate::evidence::word_classes::parse_number;

/// Match of a word that the sentence implies; as good as a similar word.
const IMPLIED: f32 = 0.8;
/// Match of a word of weighing if the sentence contains a weight; nearly as good as the word itself.
const PLAIN: f32 = 0.95;
/// Stems of words for weighing.
const WEIGHING: [&str; 3] = ["weigh", "weight", "heavi"];

/// Raises the matches of the question words that a sentence implies.
pub(crate) fn raise_implied_matches(matches: &mut [f32], sentence: &str, question: &Question) {
    let mut raise = |to: f32, implied: &dyn Fn(&str) -> bool| {
        let words = matches.iter_mut().zip(&question.words);
        words
            .filter(|it| implied(&it.1.stem))
            .for_each(|it| *it.0 = it.0.max(to));
    };
    if question.class == Some(Asked::Money) && contains_money(sentence) {
        raise(IMPLIED, &|it| is_in_class(it, Class::PlainlyPaying) || it == "price");
    }
    if question.words.iter().any(|it| WEIGHING.contains(&it.stem.as_str())) && contains_mass(sentence) {
        raise(PLAIN, &|it| WEIGHING.contains(&it));
    }
    if question.words.iter().any(|it| it.stem == "birthday") && mentions_birth(sentence) {
        raise(IMPLIED, &|it| it == "birthday");
    }
}

/// Returns true if a sentence mentions a birth or a new age: "Noor turns twelve on 5 April", "she was born in May".
fn mentions_birth(sentence: &str) -> bool {
    let words: Vec<String> = split_words(sentence).into_iter().map(str::to_lowercase).collect();
    let aged = |it: &[String]| {
        matches!(it[0].as_str(), "turn" | "turns" | "turned" | "turning") && parse_number(&it[1]).is_some()
    };
    words.windows(2).any(aged) || words.iter().any(|it| it == "born")
}

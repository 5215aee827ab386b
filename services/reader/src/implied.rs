//! What a sentence speaks of without a word for it: who names a sum speaks of paying, who names kilos of weight.

use text::lexicon::{Class, is};
use text::words;

use crate::answer::{mass, money, number};
use crate::question::{Asked, Question};

/// What goes without saying is as good as a word near to that of the question.
const IMPLIED: f32 = 0.8;
/// Kilos are nearly the word itself.
const PLAIN: f32 = 0.95;
/// Words of weighing, by stem.
const WEIGHING: [&str; 3] = ["weigh", "weight", "heavi"];

/// Raises how well a sentence matches the words of the question that it implies.
pub(crate) fn raise(matches: &mut [f32], sentence: &str, question: &Question) {
    let mut raise = |to: f32, implied: &dyn Fn(&str) -> bool| {
        let words = matches.iter_mut().zip(&question.words);
        words
            .filter(|it| implied(&it.1.stem))
            .for_each(|it| *it.0 = it.0.max(to));
    };
    if question.class == Some(Asked::Money) && money(sentence) {
        raise(IMPLIED, &|it| is(it, Class::PlainlyPaying) || it == "price");
    }
    if question.words.iter().any(|it| WEIGHING.contains(&it.stem.as_str())) && mass(sentence) {
        raise(PLAIN, &|it| WEIGHING.contains(&it));
    }
    if question.words.iter().any(|it| it.stem == "birthday") && born(sentence) {
        raise(IMPLIED, &|it| it == "birthday");
    }
}

/// "Noor turns twelve on 5 April", "she was born in May".
fn born(sentence: &str) -> bool {
    let words: Vec<String> = words(sentence).into_iter().map(str::to_lowercase).collect();
    let aged =
        |it: &[String]| matches!(it[0].as_str(), "turn" | "turns" | "turned" | "turning") && number(&it[1]).is_some();
    words.windows(2).any(aged) || words.iter().any(|it| it == "born")
}

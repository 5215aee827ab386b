//! One of two options.

use super::Found;
use super::polarity::denies_match;
use crate::judge::exclude;
use crate::pool::{Line, Pool, Sentence};
use crate::question::Question;
use crate::words::Lexicon;

/// An option is spoken of where its words are this near on average.
const HELD: f32 = 0.5;
/// Somebody who says a sentence is not named in it.
const SAYS: f32 = 0.9;
/// An option that is worth this share of the other is no worse.
const EQUAL: f32 = 0.999;

/// Chooses the option that the best turns speak of, or both where one sentence tells both; none if they speak of neither, or of
/// both alike. What somebody would choose nobody need have spoken of: it is what is nearer to what they said.
pub(super) fn choice(question: &Question, pool: &Pool<'_>, lines: &[usize], lexicon: &mut Lexicon) -> Option<Found> {
    let stems: Vec<Vec<String>> = question.options.iter().map(|it| text::stems(it)).collect();
    let least = if question.is_supposed() { 0.0 } else { HELD };
    let mut best: Vec<(f32, usize, usize)> = Vec::new();
    for own in &stems {
        // "The red bicycle or the blue bicycle": what both say tells nothing.
        let shared = |it: &String| stems.iter().all(|all| all.contains(it));
        let telling: Vec<&String> = own.iter().filter(|it| !shared(it)).collect();
        let mut most = (0.0, 0, 0);
        for (rank, &line) in lines.iter().enumerate() {
            for (at, sentence) in pool.lines[line].sentences.iter().enumerate() {
                let held = held(question, &telling, (&pool.lines[line], sentence), lexicon);
                let denied = if denies_match(sentence, question) { 0.5 } else { 1.0 };
                let sign = denied * if replaced(sentence, own) { 0.5 } else { 1.0 };
                let worth = sign * held * (1.0 + sentence.cover) * (-0.3 * rank as f32).exp();
                if held >= least && worth > most.0 {
                    most = (worth, line, at);
                }
            }
        }
        best.push(most);
    }
    let option = (0..best.len()).max_by(|&a, &b| best[a].0.total_cmp(&best[b].0))?;
    let (worth, line, at) = best[option];
    let mut others = best.iter().enumerate().filter(|it| it.0 != option);
    let chosen = match others.find(|it| it.1.0 >= EQUAL * worth) {
        None => Some(question.options[option].clone()),
        Some((_, other)) if (other.1, other.2) == (line, at) => {
            joined(question, &pool.lines[line].sentences[at], &stems)
        }
        Some(_) => None,
    };
    chosen.filter(|_| worth > 0.0).map(|text| Found {
        text,
        lines: vec![line],
        share: worth.min(1.0),
        reason: None,
        conflict: false,
        stated: None,
    })
}

/// "I like tea and coffee": both options, as the sentence tells them; none if it does not tell them together.
fn joined(question: &Question, sentence: &Sentence, stems: &[Vec<String>]) -> Option<String> {
    let place = |own: &Vec<String>| {
        sentence
            .terms
            .iter()
            .find(|it| own.contains(&it.stem))
            .map(|it| it.start)
    };
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (option, own) in stems.iter().enumerate() {
        places.push((place(own)?, option));
    }
    places.sort_unstable();
    let [(first, a), (second, b)] = *places.as_slice() else {
        return None;
    };
    let lower = sentence.text.to_lowercase();
    let words = |text: &str| {
        text::words(text)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let between = words(lower.get(first..second)?);
    let undecided = words(lower.get(..first)?).last().is_some_and(|it| it == "between");
    let and = between.iter().skip(1).position(|it| it == "and");
    // What stands between them is the rest of the first option and an article at most.
    let near = and.is_some_and(|it| it < question.options[a].split(' ').count() && between.len() <= it + 4);
    (near && !undecided).then(|| format!("{} and {}", question.options[a], question.options[b]))
}

/// How far a sentence speaks of the words of an option, 0 to 1; nothing stands for a name or a number.
fn held(
    question: &Question,
    stems: &[&String],
    (line, sentence): (&Line<'_>, &Sentence),
    lexicon: &mut Lexicon,
) -> f32 {
    let speaker = text::stems(&line.turn.actor);
    let near = stems.iter().map(|stem| {
        let named = question.words.iter().any(|it| it.specific && it.stem == **stem);
        let said = if speaker.contains(stem) { SAYS } else { 0.0 };
        let terms = sentence.terms.iter().filter(|it| !exclude(stem, &it.stem));
        let terms = terms.map(|it| lexicon.near(stem, &it.stem));
        terms.filter(|it| !named || *it >= 1.0).fold(said, f32::max)
    });
    near.sum::<f32>() / stems.len().max(1) as f32
}

/// "Green instead of red", "the kayak rather than the canoe": says whether the option is what was not taken.
fn replaced(sentence: &Sentence, stems: &[String]) -> bool {
    let places = sentence.terms.iter().filter(|it| stems.contains(&it.stem));
    let left = |start: usize| {
        let before = sentence.text.get(..start).unwrap_or_default().to_lowercase();
        let words: Vec<&str> = text::words(&before);
        let article = |it: &&&str| !matches!(**it, "the" | "a" | "an" | "my" | "our" | "his" | "her" | "their");
        let last: Vec<&str> = words.iter().rev().filter(article).take(2).copied().collect();
        let prefers = words.iter().any(|it| it.starts_with("prefer"));
        matches!(
            last.as_slice(),
            ["of", "instead"] | ["than", ..] | ["not" | "over" | "without", ..]
        ) || (prefers && last.first() == Some(&"to"))
    };
    places.into_iter().any(|it| left(it.start))
}

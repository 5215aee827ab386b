//! What somebody would rather have than something else.

use domain::fact::Aspect;

use super::super::said::Draft;
use super::super::token::{Gap, Word};

/// "I'd take the train over the plane", "I'd rather have tea than coffee": what is preferred, and to what.
pub(in super::super) fn rather(text: &str, words: &[Word]) -> Option<Draft> {
    let at = words
        .windows(2)
        .position(|it| it[0].lower == "i" && it[1].lower == "would")?
        + 2;
    let at = at
        + words[at..]
            .iter()
            .take_while(|it| it.is(&["always", "rather", "still", "any", "day"]))
            .count();
    let than = match words.get(at).map_or("", |it| it.lower.as_str()) {
        "take" | "choose" | "pick" => "over",
        "have" | "drink" | "eat" if words[at - 1].lower == "rather" => "than",
        _ => return None,
    };
    let over = (at + 2..words.len().min(at + 6)).find(|it| words[*it].lower == than)?;
    let end = (over + 1..words.len().min(over + 4)).find(|it| {
        let next = words.get(it + 1);
        words[*it].gap != Gap::None || next.is_none_or(|it| it.is(&["any", "every", "because", "in", "at", "anytime"]))
    })?;
    let vague = |it: &Word| it.quoted || it.is(&["that", "this", "it", "you", "him", "her", "them", "those", "these"]);
    let range = words.get(at + 1)?.range.start..words[end].range.end;
    let object = text.get(range).filter(|_| !words[at + 1..=end].iter().any(vague))?;
    let object = object.replacen(" than ", " to ", 1);
    Some(Draft::new(Aspect::Preference, "prefers", object).sure(0.8))
}

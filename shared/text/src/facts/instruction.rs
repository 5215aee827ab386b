//! Standing orders to an assistant: how it should answer from now on.

use domain::fact::Aspect;

use super::said::Draft;
use super::token::{Gap, Word};

/// Reads a standing order from a sentence, and where what is not part of it goes on. `ordered`: it is said to an assistant; else
/// only plain orders count.
pub(super) fn instruction(text: &str, words: &[Word], ordered: bool) -> Option<(Draft, usize)> {
    let mut at = 0;
    while words.get(at).is_some_and(|it| it.is(OPENERS)) {
        at += 1;
    }
    // "Great plan, from now on ...": what stands before a break is no part of the order.
    let starts = (at..words.len())
        .filter(|&it| it == at || words[it - 1].gap != Gap::None || words[it - 1].is(&["and", "but", "so"]));
    for start in starts.take(8) {
        if let Some(sure) = order(&words[start..], ordered) {
            // "Keep it short, I hate long lists."
            let brief = words[start].lower == "keep";
            let goes_on = |it: &usize| brief && words[*it].lower == "i" && words[*it - 1].gap != Gap::None;
            let end = (start + 1..words.len()).find(goes_on).unwrap_or(words.len());
            let words = &words[..end];
            let (first, last) = (
                words.get(start)?,
                words
                    .iter()
                    .rev()
                    .find(|it| !it.is(&["please", "thanks", "thank", "you", "ok", "okay"]))?,
            );
            let object = text.get(first.range.start..last.range.end.max(first.range.end))?;
            if object.split_whitespace().count() < 3 || object.chars().count() > LONGEST {
                return None;
            }
            let draft = Draft::new(Aspect::Instruction, "asks to", decapitalised(object)).sure(sure);
            return Some((draft, end));
        }
    }
    None
}

/// Says how sure it is that the words order something for good.
fn order(words: &[Word], ordered: bool) -> Option<f32> {
    let lower: Vec<&str> = words.iter().map(|it| it.lower.as_str()).collect();
    let verb = |at: usize| lower.get(at).is_some_and(|it| ORDERS.contains(it));
    let within = |list: &[&str]| lower.iter().any(|it| list.contains(it));
    let later = |from: usize| (from..lower.len()).any(|it| verb(it) || (lower[it] == "not" && verb(it + 1)));
    let clear = ordered || within(&["me", "my"]);
    match lower.as_slice() {
        ["always" | "never", ..] => (verb(1) && clear).then_some(if ordered { 0.95 } else { 0.6 }),
        ["please", "always" | "never", ..] => (verb(2) && clear).then_some(0.95),
        ["do", "not", "ever", ..] => (verb(3) && clear).then_some(0.9),
        ["from", "now" | "here", "on" | "onwards", ..] | ["going", "forward", ..] => {
            let own = matches!(
                lower.get(3).copied(),
                Some("i" | "we" | "he" | "she" | "they" | "it" | "my" | "our")
            );
            (later(2) && !own && (clear || ordered)).then_some(0.95)
        }
        // "From now on no voice notes, please."
        ["from", "now", ..] if !ordered => (within(&["no"]) && within(&["please"])).then_some(0.7),
        ["no", it, "me", ..] if it.ends_with("ing") && !ordered => within(&["please"]).then_some(0.65),
        [.., "from", "now", "on"] | [.., "from", "now", "on", "please"] => {
            let pointed = matches!(lower.get(1).copied(), Some("it" | "that" | "this" | "them" | "these"));
            (ordered && verb(0) && !pointed).then_some(0.9)
        }
        ["keep", "it" | "answers" | "replies", ..] | ["keep", "your" | "the", "answers" | "replies", ..] => {
            (ordered && within(BRIEF)).then_some(0.8)
        }
        ["in", "future" | "general", ..] | ["in", "the", "future", ..] => (ordered && later(2)).then_some(0.85),
        ["when" | "whenever" | "if", "i" | "you", rest @ ..] if ordered => when(rest, &lower),
        ["every" | "each" | "any", "time", "i" | "you", rest @ ..] if ordered => when(rest, &lower),
        ["remember", "to" | "that", ..] | ["keep", "in", "mind", ..] => (ordered && lower.len() > 3).then_some(0.8),
        ["please", "remember", ..] => (ordered && lower.len() > 4).then_some(0.85),
        ["make", "sure", ..] => (ordered && within(&["always", "never", "every", "all"])).then_some(0.85),
        ["i", "want" | "need", "you", "to", ..] => {
            (ordered && (within(STANDING) || verb(4) && within(FOREVER))).then_some(0.85)
        }
        ["i", "would", "like" | "prefer", "you", "to", ..] => {
            (ordered && (within(STANDING) || within(FOREVER))).then_some(0.85)
        }
        ["i", "prefer", ..] | ["i", "would", "prefer", ..] => (ordered && within(ANSWERS)).then_some(0.85),
        ["i", "like", ..] => (ordered && within(&["answers", "replies", "responses", "explanations"])).then_some(0.8),
        ["call", "me", ..] | ["address", "me", ..] => {
            (ordered && lower.len() <= 6 && !within(&["when", "back", "later", "tomorrow"])).then_some(0.85)
        }
        ["stop", it, ..] if it.ends_with("ing") => (ordered && within(&["me", "every", "so", "your"])).then_some(0.75),
        ["no", ..]
        | ["keep", ..]
        | ["use", ..]
        | [
            "answer" | "reply" | "write" | "give" | "show" | "include" | "add" | "do",
            ..,
        ] => (ordered && (within(STANDING) || within(FOREVER))).then_some(0.8),
        ["please", ..] => {
            (ordered && (verb(1) || lower.get(1..3) == Some(&["do", "not"])) && (within(STANDING) || within(FOREVER)))
                .then_some(0.8)
        }
        _ => None,
    }
}

/// "When I paste an error, tell me the cause first."
fn when(rest: &[&str], all: &[&str]) -> Option<f32> {
    let asked = rest.first().is_some_and(|it| ASKS.contains(it))
        || (rest.first() == Some(&"am") && rest.get(1).is_some_and(|it| it.ends_with("ing")));
    let order = all.iter().skip(3).any(|it| ORDERS.contains(it));
    let question = all.contains(&"should") || all.contains(&"did");
    (asked && order && !question).then_some(0.9)
}

/// "Always use metric units" as part of a sentence of its own: "asks to always use metric units".
fn decapitalised(object: &str) -> String {
    let mut chars = object.chars();
    let first = chars.next().map(|it| it.to_lowercase().to_string()).unwrap_or_default();
    let rest = chars.as_str();
    if object.starts_with("I ") || object.starts_with("I'") {
        return object.to_owned();
    }
    format!("{first}{rest}")
}

/// How answers are to be.
const BRIEF: &[&str] = &[
    "short", "brief", "simple", "concise", "plain", "formal", "informal", "casual",
];
/// Longest order that is kept, in characters.
const LONGEST: usize = 240;
const OPENERS: &[&str] = &[
    "and", "also", "oh", "ok", "okay", "great", "thanks", "good", "perfect", "nice", "well", "so", "but", "one",
    "more", "thing", "hey", "hi", "hello", "btw", "yes", "no", "right",
];
/// What an assistant can be told to do.
const ORDERS: &[&str] = &[
    "answer",
    "reply",
    "respond",
    "use",
    "include",
    "add",
    "give",
    "show",
    "tell",
    "write",
    "keep",
    "call",
    "address",
    "put",
    "start",
    "end",
    "begin",
    "list",
    "format",
    "cite",
    "explain",
    "mention",
    "ask",
    "check",
    "remind",
    "convert",
    "translate",
    "suggest",
    "recommend",
    "book",
    "send",
    "quote",
    "say",
    "speak",
    "provide",
    "summarise",
    "summarize",
    "sort",
    "avoid",
    "assume",
    "confirm",
    "refer",
    "spell",
    "round",
    "state",
    "warn",
    "note",
    "offer",
    "propose",
    "choose",
    "prefer",
    "describe",
    "print",
    "make",
    "highlight",
    "link",
    "calculate",
    "stick",
    "limit",
    "skip",
    "leave",
    "bring",
    "propose",
    "plan",
    "repeat",
    "number",
    "name",
    "order",
    "split",
    "schedule",
    "count",
    "do",
    "draft",
    "point",
    "flag",
    "sign",
    "treat",
    "delete",
    "let",
];
/// What one asks an assistant for.
const ASKS: &[&str] = &[
    "ask",
    "paste",
    "show",
    "mention",
    "send",
    "share",
    "say",
    "request",
    "talk",
    "write",
    "need",
    "want",
    "give",
    "post",
    "upload",
    "tell",
    "explain",
    "answer",
    "suggest",
    "recommend",
    "list",
    "quote",
    "describe",
    "draft",
    "propose",
    "translate",
    "plan",
    "summarise",
    "summarize",
    "reply",
    "use",
    "make",
    "report",
    "come",
    "book",
    "do",
    "type",
    "forward",
    "provide",
    "calculate",
];
/// For good.
const FOREVER: &[&str] = &[
    "always",
    "never",
    "ever",
    "every",
    "whenever",
    "anymore",
    "throughout",
    "each",
];
/// Of answers at large.
const STANDING: &[&str] = &[
    "answers",
    "replies",
    "responses",
    "explanations",
    "messages",
    "suggestions",
    "recipes",
    "emojis",
    "bullet",
    "metric",
];
const ANSWERS: &[&str] = &[
    "answers",
    "replies",
    "responses",
    "explanations",
    "bullet",
    "bullets",
    "lists",
    "tables",
    "short",
    "concise",
    "detailed",
    "metric",
    "examples",
    "paragraphs",
    "summaries",
    "units",
    "celsius",
    "kilometres",
    "diagrams",
    "code",
    "suggestions",
    "recipes",
    "options",
];

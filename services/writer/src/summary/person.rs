//! Replaces the first and second person with names, in English text only.

/// Verbs whose form changes when a name replaces "I".
const PRESENT: [&str; 96] = [
    "love",
    "like",
    "want",
    "need",
    "think",
    "know",
    "feel",
    "hope",
    "plan",
    "go",
    "work",
    "live",
    "enjoy",
    "prefer",
    "hate",
    "remember",
    "guess",
    "mean",
    "see",
    "get",
    "make",
    "take",
    "use",
    "play",
    "try",
    "believe",
    "wish",
    "keep",
    "say",
    "have",
    "do",
    "find",
    "run",
    "read",
    "write",
    "eat",
    "drink",
    "watch",
    "listen",
    "cook",
    "bake",
    "paint",
    "draw",
    "teach",
    "study",
    "learn",
    "swim",
    "walk",
    "drive",
    "ride",
    "sing",
    "dance",
    "train",
    "practice",
    "start",
    "finish",
    "spend",
    "look",
    "miss",
    "dream",
    "expect",
    "own",
    "collect",
    "grow",
    "volunteer",
    "support",
    "help",
    "understand",
    "agree",
    "suppose",
    "appreciate",
    "admire",
    "worry",
    "wonder",
    "sleep",
    "wake",
    "travel",
    "visit",
    "meet",
    "talk",
    "call",
    "send",
    "buy",
    "sell",
    "wear",
    "come",
    "leave",
    "stay",
    "give",
    "tell",
    "hear",
    "speak",
    "avoid",
    "struggle",
    "care",
    "tend",
];
/// Words that may stand between "I" and its verb.
const BETWEEN: [&str; 18] = [
    "really",
    "just",
    "also",
    "always",
    "still",
    "usually",
    "often",
    "never",
    "actually",
    "definitely",
    "totally",
    "absolutely",
    "only",
    "sometimes",
    "finally",
    "even",
    "mostly",
    "currently",
];
/// Words that are rare in other languages; one of them, or "I", makes a text English.
const ENGLISH: [&str; 20] = [
    "the", "and", "with", "this", "that", "what", "where", "how", "why", "you", "your", "you're", "been", "they",
    "did", "does", "our", "don't", "there", "would",
];
/// Words before a "you" that refers to no particular person.
const FORMULAS: [&str; 4] = ["thank", "if", "when", "bless"];

/// Returns the text with `speaker` for "I" and its forms and `addressee` for "you" and its forms; an empty name
/// leaves its pronoun unchanged. Each note is added in parentheses after its byte position. Quoted speech is
/// unchanged.
pub(super) fn resolve(text: &str, speaker: &str, addressee: &str, notes: &[(usize, String)]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let tokens = tokens(text);
    let english = is_english(&tokens);
    let mut notes = notes.iter().peekable();
    let mut quoted = false;
    for (i, token) in tokens.iter().enumerate() {
        quoted ^= token.gap.matches(['"', '\u{201c}', '\u{201d}']).count() % 2 == 1;
        note(&mut out, token.gap, token.start - token.gap.len(), &mut notes);
        let named = if quoted || !english {
            None
        } else {
            person(&tokens, i, speaker, addressee)
        };
        match named {
            Some(word) => out.push_str(&word),
            None => note(&mut out, token.word, token.start, &mut notes),
        }
    }
    let end = tokens.last().map_or(0, |it| it.start + it.word.len());
    note(&mut out, &text[end..], end, &mut notes);
    out
}

struct Token<'a> {
    /// The text between the word before and this one.
    gap: &'a str,
    start: usize,
    word: &'a str,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut end = 0;
    for word in text.split(|it: char| !(it.is_alphanumeric() || it == '\'' || it == '\u{2019}')) {
        let word = word.trim_matches(['\'', '\u{2019}']);
        if word.is_empty() {
            continue;
        }
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        out.push(Token {
            gap: &text[end..start],
            start,
            word,
        });
        end = start + word.len();
    }
    out
}

fn is_english(tokens: &[Token<'_>]) -> bool {
    tokens.iter().take(60).any(|it| {
        let word = it.word.replace('\u{2019}', "'");
        word == "I" || word.starts_with("I'") || ENGLISH.contains(&word.to_lowercase().as_str())
    })
}

/// Appends a piece of the text, with the notes that belong inside or before it.
fn note<'a>(
    out: &mut String,
    gap: &str,
    start: usize,
    notes: &mut std::iter::Peekable<impl Iterator<Item = &'a (usize, String)>>,
) {
    let mut done = 0;
    while let Some((at, text)) = notes.next_if(|(at, _)| *at <= start + gap.len()) {
        let upto = gap.floor_char_boundary(at.saturating_sub(start)).max(done);
        out.push_str(&gap[done..upto]);
        out.push_str(&format!(" ({text})"));
        done = upto;
    }
    out.push_str(&gap[done..]);
}

/// Returns the replacement of the word at `i`, if it changes.
fn person(tokens: &[Token<'_>], i: usize, speaker: &str, addressee: &str) -> Option<String> {
    let word = tokens[i].word.replace('\u{2019}', "'");
    if let Some(out) = first(&word, speaker).or_else(|| second(tokens, i, &word, addressee)) {
        return Some(out);
    }
    let (subject, name) = subject(tokens, i)?;
    if (subject == "i" && speaker.is_empty()) || (subject == "you" && (addressee.is_empty() || generic(tokens, name))) {
        return None;
    }
    agree(&word, subject == "i")
}

fn first(word: &str, name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let out = match word {
        "I" | "i" | "me" | "Me" | "myself" => name.to_owned(),
        "my" | "My" | "mine" | "Mine" => format!("{name}'s"),
        "I'm" | "i'm" | "Im" => format!("{name} is"),
        "I've" | "i've" => format!("{name} has"),
        "I'll" | "i'll" => format!("{name} will"),
        "I'd" | "i'd" => format!("{name} would"),
        _ => return None,
    };
    Some(out)
}

fn second(tokens: &[Token<'_>], i: usize, word: &str, name: &str) -> Option<String> {
    if name.is_empty() || generic(tokens, i) {
        return None;
    }
    let out = match word {
        "you" | "You" | "yourself" => name.to_owned(),
        "your" | "Your" | "yours" | "Yours" => format!("{name}'s"),
        "you're" | "You're" => format!("{name} is"),
        "you've" | "You've" => format!("{name} has"),
        "you'll" | "You'll" => format!("{name} will"),
        "you'd" | "You'd" => format!("{name} would"),
        _ => return None,
    };
    Some(out)
}

/// Returns true for "you" without a particular person: "thank you", "you know", "you guys".
fn generic(tokens: &[Token<'_>], i: usize) -> bool {
    let before = i.checked_sub(1).map(|it| tokens[it].word.to_lowercase());
    let after = tokens.get(i + 1).map(|it| it.word.to_lowercase()).unwrap_or_default();
    before.is_some_and(|it| FORMULAS.contains(&it.as_str()))
        || matches!(after.as_str(), "know" | "guys" | "all" | "two")
}

/// Returns "i" or "you" and its place if the word at `i` is its verb, also if the verb comes first ("am I").
fn subject(tokens: &[Token<'_>], i: usize) -> Option<(&'static str, usize)> {
    let pronoun = |at: usize| match tokens[at].word {
        "I" | "i" => Some("i"),
        "you" | "You" => Some("you"),
        _ => None,
    };
    let word = tokens[i].word.to_lowercase();
    if matches!(
        word.as_str(),
        "am" | "are" | "were" | "do" | "have" | "don't" | "haven't" | "aren't"
    ) {
        let next = tokens.get(i + 1).filter(|it| it.gap.trim().is_empty());
        if let Some(found) = next.and_then(|_| pronoun(i + 1)) {
            return Some((found, i + 1));
        }
    }
    for back in 1..=2 {
        let at = i.checked_sub(back)?;
        if !tokens[at + 1].gap.trim().is_empty() {
            return None;
        }
        if let Some(found) = pronoun(at) {
            // "do you love": the auxiliary already carries the form.
            let aux = at
                .checked_sub(1)
                .map(|it| tokens[it].word.to_lowercase())
                .unwrap_or_default();
            let asked = matches!(
                aux.as_str(),
                "do" | "did" | "can" | "could" | "would" | "will" | "should" | "don't" | "didn't"
            );
            return (!asked).then_some((found, at));
        }
        if !BETWEEN.contains(&tokens[at].word.to_lowercase().as_str()) {
            return None;
        }
    }
    None
}

/// Returns the verb in the third person if its form changes.
fn agree(word: &str, first: bool) -> Option<String> {
    let out = match word {
        "am" | "are" => "is",
        "Am" | "Are" => "Is",
        "aren't" => "isn't",
        "Aren't" => "Isn't",
        "were" if !first => "was",
        "Were" if !first => "Was",
        "have" => "has",
        "Have" => "Has",
        "do" => "does",
        "Do" => "Does",
        "don't" => "doesn't",
        "Don't" => "Doesn't",
        "haven't" => "hasn't",
        "Haven't" => "Hasn't",
        _ if PRESENT.contains(&word) => return Some(third(word)),
        _ => return None,
    };
    Some(out.to_owned())
}

fn third(verb: &str) -> String {
    let vowel = |it: Option<char>| it.is_some_and(|it| "aeiou".contains(it));
    if let Some(stem) = verb.strip_suffix('y').filter(|it| !vowel(it.chars().last())) {
        return format!("{stem}ies");
    }
    let hiss = ["s", "sh", "ch", "x", "o"].iter().any(|it| verb.ends_with(it));
    format!("{verb}{}", if hiss { "es" } else { "s" })
}

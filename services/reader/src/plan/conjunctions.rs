//! Phrases joined by "and", "or" and "than": each side becomes a part.

use std::ops::Range;

use super::phrase::{Token, find_names, join_phrases};
use crate::plan::parts::{Parts, trim_conjunctions};
use crate::word_lists::{CARRYING_AUXILIARIES, QUESTION_WORDS};

/// Maximum number of members of a list that become parts.
const MEMBERS_MAX: usize = 5;
/// Maximum number of content words of a member.
const WORDS_MAX: usize = 3;
/// Pairs that are one thing.
const IDIOMS: &[(&str, &str)] = &[
    ("pros", "cons"),
    ("rock", "roll"),
    ("back", "forth"),
    ("bed", "breakfast"),
    ("mac", "cheese"),
    ("salt", "pepper"),
    ("food", "drink"),
    ("black", "white"),
    ("arts", "crafts"),
    ("terms", "conditions"),
    ("trial", "error"),
    ("name", "address"),
];
/// Singular forms of auxiliaries, for a part that keeps one of several subjects.
const SINGULAR: &[(&str, &str)] = &[("do", "does"), ("are", "is"), ("have", "has"), ("were", "was")];

/// Returns a part for each of the joined subjects: "what do ANN AND BEN like".
pub(super) fn split_subjects(phrase: &[Token]) -> Parts {
    let found = find_names(phrase);
    let (at, run) = find_joined_names(phrase, &found, "and")?;
    if at > 0 && phrase[at - 1].is_any_of(&["between", "or", "than"]) {
        return None;
    }
    let both = at > 0 && phrase[at - 1].is_any_of(&["both", "either"]);
    let mut left = phrase[..at - usize::from(both)].to_vec();
    if let Some(last) = left.last_mut()
        && let Some((_, one)) = SINGULAR.iter().find(|it| it.0 == last.lower)
    {
        *last = Token::new(one);
    }
    let end = run.last()?.end;
    let mut right = phrase[end..].to_vec();
    if right.len() >= 2 && right[right.len() - 2].lower == "in" && right[right.len() - 1].lower == "common" {
        right.truncate(right.len() - 2);
    }
    let owned = phrase[end - 1].lower.ends_with("'s");
    let each = run.iter().take(MEMBERS_MAX).map(|it| {
        let mut name = phrase[it.clone()].to_vec();
        if let Some(last) = name.last_mut()
            && owned
            && !last.lower.ends_with("'s")
        {
            *last = Token::new(&format!("{}'s", last.text));
        }
        trim_conjunctions(&join_phrases(&left, &name, &right))
    });
    Some(each.collect())
}

/// Returns the first names that `word` joins, including names before commas, and the index at which they start.
fn find_joined_names(phrase: &[Token], found: &[Range<usize>], word: &str) -> Option<(usize, Vec<Range<usize>>)> {
    let follows = |a: &Range<usize>, b: &Range<usize>| {
        let joined = b.start == a.end + 1 && phrase[a.end].lower == word;
        let comma = b.start == a.end && phrase[a.end - 1].comma;
        joined || comma || b.start == a.end + 1 && phrase[a.end - 1].comma && phrase[a.end].lower == word
    };
    let mut start = 0;
    while start + 1 < found.len() {
        let mut end = start;
        while end + 1 < found.len() && follows(&found[end], &found[end + 1]) {
            end += 1;
        }
        let run = &found[start..=end];
        let joins = run.windows(2).any(|it| it[0].end < it[1].start);
        if run.len() > 1 && joins {
            return Some((run[0].start, run.to_vec()));
        }
        start = end + 1;
    }
    None
}

/// Returns a part for each option: "does Ann prefer TEA OR COFFEE", "who moved first, ANN OR BEN".
pub(super) fn split_choice(phrase: &[Token]) -> Parts {
    let at = (1..phrase.len()).rfind(|&it| phrase[it].lower == "or")?;
    if phrase
        .get(at + 1)?
        .is_any_of(&["not", "so", "more", "less", "something", "anything", "both"])
    {
        return None;
    }
    let comma = phrase[..at].iter().rposition(|it| it.comma);
    let asks = phrase[0].is_in_list(&QUESTION_WORDS);
    if let Some(comma) = comma.filter(|it| asks && at - it <= WORDS_MAX + 1 && phrase.len() - at <= WORDS_MAX + 2) {
        return split_options(phrase, comma, at);
    }
    split_members(phrase, at)
}

/// Returns a part for each option. The options follow the question, and each takes the place of the question word.
fn split_options(phrase: &[Token], comma: usize, at: usize) -> Parts {
    let mut first = comma;
    while first > 1
        && phrase[..first]
            .iter()
            .rposition(|it| it.comma)
            .is_some_and(|it| first - it <= WORDS_MAX)
    {
        first = phrase[..first].iter().rposition(|it| it.comma)?;
    }
    let question = &phrase[1..=first];
    let all = phrase[first + 1..at].split_inclusive(|it| it.comma);
    let all = all.chain([&phrase[at + 1..]]).filter(|it| !it.is_empty());
    let who = phrase[0].lower == "who";
    let part = |option: &[Token]| {
        if who {
            join_phrases(&[], option, question)
        } else {
            [question, option].concat()
        }
    };
    let parts: Vec<Vec<Token>> = all
        .take(MEMBERS_MAX)
        .map(|it| trim_conjunctions(&remove_commas(&part(it))))
        .collect();
    (parts.len() > 1).then_some(parts)
}

/// Returns a part for each side of a comparison: "did Ann read more books THAN Ben".
pub(super) fn split_comparison(phrase: &[Token]) -> Parts {
    let at = (2..phrase.len().saturating_sub(1)).find(|&it| phrase[it].lower == "than")?;
    let compares = |it: &&Token| !it.is_any_of(&["more", "less", "fewer", "better", "rather"]);
    let left: Vec<Token> = phrase[..at].iter().filter(compares).cloned().collect();
    let other: Vec<Token> = phrase[at + 1..]
        .iter()
        .take_while(|it| it.is_content_word() || it.is_determiner())
        .cloned()
        .collect();
    let has_name = other.iter().any(Token::is_name);
    let place = if has_name {
        find_names(&left).into_iter().next()?
    } else {
        let end = left.iter().rposition(Token::is_content_word)? + 1;
        let shared_words = left[..end]
            .iter()
            .rev()
            .take_while(|it| it.is_content_word() && !it.is_name());
        end - shared_words
            .count()
            .min(other.iter().filter(|it| it.is_content_word()).count())..end
    };
    if other.is_empty() || place.is_empty() || other.len() > WORDS_MAX + 1 {
        return None;
    }
    let right = join_phrases(&left[..place.start], &other, &left[place.end..]);
    Some(vec![trim_conjunctions(&left), trim_conjunctions(&right)])
}

/// Returns a part for each member of a list: "what did Ann say about HER JOB, HER DOG AND HER GARDEN".
pub(super) fn split_list(phrase: &[Token]) -> Parts {
    let at = (1..phrase.len().saturating_sub(1)).rfind(|&it| phrase[it].lower == "and")?;
    split_members(phrase, at)
}

/// Returns a part for each member of the list whose last conjunction is at `at`.
fn split_members(phrase: &[Token], at: usize) -> Parts {
    let mut right = right_member(phrase, at + 1)?;
    let mut size = count_content_words(&phrase[right.clone()]);
    let mut left = left_member(phrase, at, size)?;
    // "How did her job and car CHANGE": the last word is the verb of the question, not part of the member.
    if left.start > 0
        && phrase[left.start - 1].is_in_list(&CARRYING_AUXILIARIES)
        && right.end == phrase.len()
        && size > 1
    {
        (right.end, size) = (right.end - 1, size - 1);
        left = left_member(phrase, at, size)?;
    }
    let idiom = |it: &(&str, &str)| phrase[left.end - 1].lower == it.0 && phrase[right.start].lower == it.1;
    if IDIOMS.iter().any(idiom) {
        return None;
    }
    if let Some(parts) = split_predicates(phrase, &left, &right, at) {
        return Some(parts);
    }
    let mut all = vec![left.clone(), right.clone()];
    let mut start = left.start;
    while start > 0 && phrase[start - 1].comma && all.len() < MEMBERS_MAX {
        let Some(before) = left_member(phrase, start, size) else {
            break;
        };
        start = before.start;
        all.insert(0, before);
    }
    let owner = phrase[start].is_possessive().then(|| phrase[start].clone());
    let both = start > 0 && phrase[start - 1].is_any_of(&["both", "either", "whether"]);
    let frame = &phrase[..start - usize::from(both)];
    let each = all.into_iter().map(|it| {
        let mut member = phrase[it].to_vec();
        if let Some(owner) = owner
            .as_ref()
            .filter(|_| !member[0].is_determiner() && !member[0].is_name())
        {
            member.insert(0, owner.clone());
        }
        trim_conjunctions(&join_phrases(frame, &member, &phrase[right.end..]))
    });
    Some(each.collect())
}

/// Returns a part for each of two joined predicates: "did Ann sell HER CAR AND BUY A BIKE" names two actions, not two
/// things that were sold.
fn split_predicates(phrase: &[Token], left: &Range<usize>, right: &Range<usize>, at: usize) -> Parts {
    let first = &phrase[right.start];
    let object = phrase.get(right.end).is_some_and(Token::is_determiner);
    let bare = phrase[left.start].is_determiner() && count_content_words(&phrase[right.clone()]) > 1;
    if first.is_determiner() || first.is_name() || !(object || bare) {
        return None;
    }
    let who = |it: &Token| it.is_name() || it.is_any_of(&["he", "she", "they", "i", "you", "we"]);
    let end = phrase[..left.start].iter().rposition(who)? + 1;
    let other = join_phrases(&phrase[..end], &phrase[right.start..], &[]);
    Some(vec![trim_conjunctions(&phrase[..at]), trim_conjunctions(&other)])
}

/// Returns the member that starts at `from`: a determiner and content words, up to the next word of another kind.
fn right_member(phrase: &[Token], from: usize) -> Option<Range<usize>> {
    let first = from + usize::from(phrase.get(from)?.is_determiner() && !phrase[from].is_name());
    let content_words = phrase.get(first..)?.iter().take_while(|it| it.is_content_word());
    let mut end = first;
    for token in content_words {
        end += 1;
        if token.comma {
            break;
        }
    }
    (end > first && end - first <= WORDS_MAX).then_some(from..end)
}

/// Returns the member that ends before `end`, with at most `size` content words. A comma ends it, and so does a change
/// between a name and other words.
fn left_member(phrase: &[Token], end: usize, size: usize) -> Option<Range<usize>> {
    let mut start = end;
    while start > 0 && end - start < size.max(1) {
        let token = &phrase[start - 1];
        let parted = start < end && (token.comma || token.is_name() != phrase[start].is_name());
        if !token.is_content_word() || parted {
            break;
        }
        start -= 1;
    }
    if start == end {
        return None;
    }
    let determined = start > 0 && phrase[start - 1].is_determiner() && !phrase[start - 1].comma;
    Some(start - usize::from(determined)..end)
}

fn count_content_words(phrase: &[Token]) -> usize {
    phrase
        .iter()
        .filter(|it| it.is_content_word() && !it.is_possessive())
        .count()
}

/// Returns the phrase without commas: the options are now in the place of the question word.
fn remove_commas(phrase: &[Token]) -> Vec<Token> {
    let mut out = phrase.to_vec();
    for it in &mut out {
        it.comma = false;
    }
    out
}

/// Keeps a phrase with "between ... and ..." whole: it is one thing and no list.
pub(super) fn keep_between_phrase(phrase: &[Token]) -> Parts {
    phrase.iter().any(|it| it.lower == "between").then(Vec::new)
}

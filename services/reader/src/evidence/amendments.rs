//! Applies the corrections that a user made to statements by hand. A corrected value replaces the old value in the text
//! of the turn. The sentences of a retracted statement are removed.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use domain::evidence::{Amendment, Turn};
use domain::message::AnswerV1;

/// Returns the request with all amendments applied to the texts of its turns, and to the times that these name.
pub(crate) fn amend_request(request: &AnswerV1) -> Cow<'_, AnswerV1> {
    let turns = || request.scenes.iter().flat_map(|it| &it.turns);
    if turns().all(|it| it.amended.is_empty()) {
        return Cow::Borrowed(request);
    }
    let mut request = request.clone();
    for turn in request.scenes.iter_mut().flat_map(|it| &mut it.turns) {
        amend_turn(turn);
    }
    Cow::Owned(request)
}

/// Returns the value of a statement of a turn with the amendments of the turn applied, or `None` if the value was
/// retracted. The reply "Sadly yes." states a value that its text does not contain, so the text alone is not enough.
pub(crate) fn amend_value(turn: &Turn, value: &str) -> Option<String> {
    let contains = |text: &str, part: &str| !find_value(text, part, &turn.actor).is_empty();
    let inserts = |it: &Amendment, part: &str| it.now.as_deref().is_some_and(|now| contains(now, part));
    // The value may be what another amendment inserted into the text; that is not amended again.
    let is_inserted = |amendment: &Amendment| {
        turn.amended
            .iter()
            .any(|it| it != amendment && inserts(it, &amendment.was))
    };
    // "cats and dogs" for "cats" is not amended again. "New York" for "New York City" is still to be amended.
    let is_applied = |it: &Amendment| inserts(it, &it.was) && it.now.as_deref().is_some_and(|now| contains(value, now));
    let pending = turn.amended.iter().filter(|it| !is_inserted(it) && !is_applied(it));
    let pending: Vec<&Amendment> = pending.collect();
    let is_retracted = pending.iter().any(|it| it.now.is_none() && contains(value, &it.was));
    (!is_retracted).then(|| apply_edits(value, find_corrections(value, pending.into_iter(), &turn.actor)))
}

/// Returns the reason why the answer is a value that its turn does not state. Returns `None` if no correction of the
/// turn concerns the answer.
pub(crate) fn correction_reason(turn: &Turn, answer: &str) -> Option<String> {
    // "No" is no part of "Norma".
    let contains = |text: &str, value: &str| !whole_word_ranges(text, value).is_empty();
    let has_reason = |it: &&Amendment| {
        let now = it.now.as_deref();
        now.is_some_and(|now| contains(now, answer) || contains(answer, now))
    };
    let last = turn.amended.iter().filter(has_reason).max_by_key(|it| it.at)?;
    Some(format!(
        "\"{}\" was corrected on {}",
        last.was,
        last.at.format("%-d %B %Y")
    ))
}

fn amend_turn(turn: &mut Turn) {
    let text = amend_text(turn);
    if text != turn.text {
        let times = text::time::find_times(&text, turn.observed_at);
        turn.times = times.into_iter().map(|it| it.span).collect();
        turn.text = text;
    }
}

/// Returns the text of a turn with its amendments. All values are searched in the original text: after the removal of
/// one sentence, another amendment of the same value would otherwise find a similar word elsewhere.
fn amend_text(turn: &Turn) -> String {
    let retracted = find_retracted_sentences(turn);
    let mut edits = find_corrections(&turn.text, turn.amended.iter(), &turn.actor);
    if retracted.is_empty() {
        return apply_edits(&turn.text, edits);
    }
    edits.retain(|it| !retracted.iter().any(|sentence| overlap(sentence, &it.range)));
    edits.extend(retracted.into_iter().map(|range| Edit { range, replacement: "" }));
    apply_edits(&turn.text, edits).trim().to_owned()
}

/// A byte range of a text and the words that replace it.
struct Edit<'a> {
    range: Range<usize>,
    replacement: &'a str,
}

/// Returns the replacements of old values in a text by their corrected values.
fn find_corrections<'a>(text: &str, amended: impl Iterator<Item = &'a Amendment>, speaker: &str) -> Vec<Edit<'a>> {
    let corrected = amended.filter_map(|it| Some((it.was.as_str(), it.now.as_deref()?)));
    let edits = |(was, replacement): (&'a str, &'a str)| {
        let ranges = find_value(text, was, speaker).into_iter();
        ranges.map(move |range| Edit { range, replacement })
    };
    corrected.flat_map(edits).collect()
}

/// Returns the text with the edits. If edits overlap, the longest one at the first position counts. All edits are made
/// in one pass, since an inserted value may be the old value of another statement.
fn apply_edits(text: &str, mut edits: Vec<Edit<'_>>) -> String {
    edits.sort_by_key(|it| (it.range.start, Reverse(it.range.end)));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for Edit { range, replacement } in edits {
        if range.start >= from {
            out.push_str(&text[from..range.start]);
            out.push_str(replacement);
            from = range.end;
        }
    }
    out + &text[from..]
}

/// Returns the byte ranges of the sentences that contain a retracted value, each up to the beginning of the next one.
fn find_retracted_sentences(turn: &Turn) -> Vec<Range<usize>> {
    let text = turn.text.as_str();
    let retractions = turn.amended.iter().filter(|it| it.now.is_none());
    let values = retractions.flat_map(|it| find_value(text, &it.was, &turn.actor));
    let values: Vec<Range<usize>> = values.collect();
    let sentences = text::split_sentences(text).into_iter();
    let starts: Vec<usize> = sentences.map(|it| offset_in(text, it)).collect();
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    let sentences = starts.iter().zip(ends).map(|(&start, end)| start..end);
    let is_retracted = |sentence: &Range<usize>| values.iter().any(|it| overlap(sentence, it));
    sentences.filter(is_retracted).collect()
}

/// Returns true if two ranges share a byte.
fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Returns the byte offset of a part of a text in the text.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Returns the byte ranges at which the value of a fact occurs as whole words, in order. A fact has the name of its
/// speaker where the speaker says "my", and a reply begins with a capital ("A nurse."), so if the value does not occur
/// anywhere as it is written, it is searched at the beginning of sentences and in the first person. Other differences
/// in case count: the company "IT" is not "it".
fn find_value(text: &str, value: &str, speaker: &str) -> Vec<Range<usize>> {
    let written = whole_word_ranges(text, value);
    if !written.is_empty() {
        return written;
    }
    // A pronoun alone may mean anything in a longer text.
    let is_clear = |it: &String| it.contains(' ') || it.eq_ignore_ascii_case(text);
    let own = first_person_forms(value, speaker).into_iter().filter(is_clear);
    std::iter::once(value.to_owned())
        .chain(own)
        .map(|it| find_form(text, &it))
        .find(|it| !it.is_empty())
        .unwrap_or_default()
}

/// Returns the byte ranges at which a form of a value occurs as whole words, in order: as it is written, and at the
/// beginning of a sentence also with its first letter in the other case.
fn find_form(text: &str, form: &str) -> Vec<Range<usize>> {
    let sentences = text::split_sentences(text).into_iter();
    let first_words = sentences.filter_map(|it| text::split_words(it).first().copied());
    let starts: Vec<usize> = first_words.map(|it| offset_in(text, it)).collect();
    let mut ranges = whole_word_ranges(text, &switch_first_case(form));
    ranges.retain(|it| starts.contains(&it.start));
    ranges.extend(whole_word_ranges(text, form));
    ranges.sort_by_key(|it| it.start);
    // In a script without case, both forms are the same.
    ranges.dedup();
    ranges
}

/// Returns a value with its first letter in the other case.
fn switch_first_case(value: &str) -> String {
    let mut rest = value.chars();
    let first = rest.next().map(|it| {
        if it.is_lowercase() {
            it.to_uppercase().to_string()
        } else {
            it.to_lowercase().to_string()
        }
    });
    first.unwrap_or_default() + rest.as_str()
}

/// Returns the forms in which the speaker may have said a value that contains the speaker's name: "my sister" for
/// "Lea's sister".
fn first_person_forms(value: &str, speaker: &str) -> Vec<String> {
    if whole_word_ranges(value, speaker).is_empty() {
        return Vec::new();
    }
    let mut forms = Vec::new();
    for possessive in ["my", "mine"] {
        for pronoun in ["me", "myself"] {
            let owned = value.replace(&format!("{speaker}'s"), possessive);
            forms.push(owned.replace(speaker, pronoun));
        }
    }
    forms
}

/// Returns the byte ranges at which a value occurs as whole words, in order. In scripts without spaces, a word may be
/// one character, so a letter next to the value does not make it part of a longer word.
fn whole_word_ranges(text: &str, value: &str) -> Vec<Range<usize>> {
    if value.is_empty() {
        return Vec::new();
    }
    let starts = text.char_indices().map(|it| it.0);
    let range_at = |at: usize| text[at..].starts_with(value).then(|| at..at + value.len());
    let found: Vec<Range<usize>> = starts.filter_map(range_at).collect();
    if found.is_empty() {
        return found;
    }
    let words = text::split_words(text);
    let starts = words.iter().map(|it| offset_in(text, it));
    let ranges: Vec<(usize, usize)> = starts.zip(&words).map(|(at, it)| (at, at + it.len())).collect();
    let splits = |at: usize| {
        let beside = [text[..at].chars().next_back(), text[at..].chars().next()];
        let lettered = beside.iter().all(|it| it.is_some_and(char::is_alphanumeric));
        lettered && ranges.iter().any(|it| it.0 < at && at < it.1)
    };
    let is_whole_word = |it: &Range<usize>| !splits(it.start) && !splits(it.end);
    found.into_iter().filter(is_whole_word).collect()
}

#[cfg(test)]
mod tests {
    use domain::id::{RecordId, SessionId, SpaceId, UnitId};

    use super::*;

    /// Returns a turn of Lea with amendments: the old value, and the new one if there is one.
    fn turn_of_lea(text: &str, amended: &[(&str, Option<&str>)]) -> Turn {
        let space: SpaceId = "talk".parse().unwrap();
        let amended = amended.iter().map(|(was, now)| Amendment {
            was: (*was).to_owned(),
            now: now.map(str::to_owned),
            at: "2025-02-01T00:00:00Z".parse().unwrap(),
        });
        Turn {
            unit: UnitId::of_turn(RecordId::from_external_id(&space, "1")),
            external_ids: Vec::new(),
            session: SessionId::from_name(&space, "monday"),
            observed_at: "2025-01-01T10:00:00Z".parse().unwrap(),
            actor: "Lea".to_owned(),
            addressee: String::new(),
            text: text.to_owned(),
            question: String::new(),
            caption: String::new(),
            times: Vec::new(),
            amended: amended.collect(),
        }
    }

    #[test]
    fn the_value_of_a_statement_is_amended_also_with_a_capital_and_in_the_first_person() {
        for (value, was, now, expected) in [
            ("cats", "cats", Some("dogs"), Some("dogs")),
            ("cats", "cats", None, None),
            ("cats", "Cats", None, None),
            ("my sister", "Lea's sister", None, None),
            ("my sister", "Lea's sister", Some("Lea's cousin"), Some("Lea's cousin")),
            ("a friend of mine", "a friend of Lea's", None, None),
            ("me", "Lea", None, None),
            ("cats", "cats", Some("cats and dogs"), Some("cats and dogs")),
            ("cats and dogs", "cats", Some("cats and dogs"), Some("cats and dogs")),
            ("New York City", "New York City", Some("New York"), Some("New York")),
            ("cats", "cat", None, Some("cats")),
            ("IT", "it", None, Some("IT")),
            ("a will", "Will", None, Some("a will")),
            ("my sister", "Ida's sister", None, Some("my sister")),
            ("my sister", "sis", Some("brother"), Some("my sister")),
        ] {
            let found = amend_value(&turn_of_lea("", &[(was, now)]), value);
            assert_eq!(found.as_deref(), expected, "{value}: {was} is {now:?}");
        }
    }

    #[test]
    fn a_value_that_another_amendment_inserted_stays() {
        let amended = [("Graz", Some("Linz")), ("Linz", None)];
        let turn = turn_of_lea("", &amended);
        assert_eq!(amend_value(&turn, "Linz").as_deref(), Some("Linz"));
        assert_eq!(amend_value(&turn, "Graz").as_deref(), Some("Linz"));
        assert_eq!(amend_value(&turn_of_lea("", &amended[1..]), "Linz"), None);
    }

    #[test]
    fn texts_are_amended_also_at_the_beginning_of_sentences_and_in_the_first_person() {
        for (text, was, now, expected) in [
            ("Two cats. I love them.", "two cats", None, "I love them."),
            ("Two cats, yes.", "two cats", Some("three cats"), "three cats, yes."),
            ("I rest. Two cats sleep. I go.", "two cats", None, "I rest. I go."),
            ("I live with my sister.", "Lea's sister", None, ""),
            ("My sister is here. I go.", "Lea's sister", None, "I go."),
            (
                "I met my sister, call me.",
                "Lea",
                Some("Ida"),
                "I met my sister, call me.",
            ),
            ("In May I may come.", "May", Some("June"), "In June I may come."),
            ("I live in Graz.", "gra", Some("Linz"), "I live in Graz."),
        ] {
            let mut turn = turn_of_lea(text, &[(was, now)]);
            amend_turn(&mut turn);
            assert_eq!(turn.text, expected, "{was} is {now:?}");
        }
    }

    #[test]
    fn a_word_in_another_case_is_not_the_value() {
        for (text, was, now, expected) in [
            ("I work in IT. It pays well.", "IT", None, "It pays well."),
            (
                "I work in IT. It pays well.",
                "IT",
                Some("law"),
                "I work in law. It pays well.",
            ),
            ("I met Will. I will go.", "Will", None, "I will go."),
            ("It pays well. I like it.", "IT", None, "It pays well. I like it."),
            ("I will go with us.", "Will", None, "I will go with us."),
            ("Bring us tea.", "US", Some("UK"), "Bring us tea."),
        ] {
            let mut turn = turn_of_lea(text, &[(was, now)]);
            amend_turn(&mut turn);
            assert_eq!(turn.text, expected, "{was} is {now:?}");
        }
    }

    #[test]
    fn all_amendments_are_searched_in_the_original_text() {
        let amend = |amended: &[(&str, Option<&str>)]| {
            let mut turn = turn_of_lea("I have cats. Cats purr. I live in Graz.", amended);
            amend_turn(&mut turn);
            turn.text
        };
        let rest = "Cats purr. I live in Graz.";
        assert_eq!(amend(&[("cats", None)]), rest);
        assert_eq!(amend(&[("cats", None), ("cats", None)]), rest);
        assert_eq!(amend(&[("cats", None), ("cats", Some("dogs"))]), rest);
        let moved = amend(&[("cats", None), ("Graz", Some("Linz"))]);
        assert_eq!(moved, "Cats purr. I live in Linz.");
    }

    #[test]
    fn the_times_of_an_amended_text_are_read_again() {
        let words = |amended: &[(&str, Option<&str>)]| {
            let mut turn = turn_of_lea("I moved on 3 May 2024.", amended);
            turn.times = text::time::find_times(&turn.text, turn.observed_at)
                .into_iter()
                .map(|it| it.span)
                .collect();
            amend_turn(&mut turn);
            turn.times.into_iter().map(|it| it.words).collect::<Vec<String>>()
        };
        let [before, after] = [words(&[("Graz", None)]), words(&[("3 May", Some("5 June"))])];
        assert!(before.concat().contains("3 May 2024"), "{before:?}");
        assert!(after.concat().contains("5 June 2024"), "{after:?}");
    }

    #[test]
    fn only_a_correction_to_the_words_of_an_answer_is_its_reason() {
        let reason = |now: &str, answer: &str| correction_reason(&turn_of_lea("", &[("Nora", Some(now))]), answer);
        let expected = Some("\"Nora\" was corrected on 1 February 2025");
        assert_eq!(reason("Norma", "Norma").as_deref(), expected);
        assert_eq!(reason("Norma Lind", "Norma").as_deref(), expected);
        assert_eq!(reason("Norma", "Norma and Ida").as_deref(), expected);
        assert_eq!(reason("Norma", "No"), None);
        assert_eq!(reason("No", "Norma"), None);
    }
}

//! Parses the model's reply about names, entry by entry.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::model_text::model_reply::{after_thoughts, last_object};

/// Maximum number of entries read from a reply.
const ENTRIES_MAX: usize = 16;
/// Maximum length of a stored entry, in bytes.
const ENTRY_BYTES_MAX: usize = 4_096;

/// The judgement of two names in its stored form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredJudgement {
    same_person: bool,
    /// The lines that support the judgement, numbered from 1.
    #[serde(default)]
    lines: Vec<u32>,
    /// The reason in the model's words, kept for people who inspect the reading.
    #[serde(default)]
    pub(crate) reasoning: String,
    /// Whether the judgement cites lines of both names.
    #[serde(default)]
    cites_both: bool,
}

/// The numbers of the lines that were shown for each name.
pub(crate) struct LineNumbers {
    first: Range<u32>,
    others: Vec<Range<u32>>,
}

/// The JSON object of a reply.
#[derive(Deserialize)]
struct Reply {
    people: Vec<Value>,
}

impl StoredJudgement {
    /// Parses a stored entry, or returns none if it is not a judgement.
    pub(crate) fn parse_entry(output: &str) -> Option<StoredJudgement> {
        serde_json::from_str(output).ok()
    }

    /// Returns true if it judges that both names belong to one person and cites lines of both.
    pub(crate) fn is_same(&self) -> bool {
        self.same_person && self.cites_both
    }

    /// Returns why a judgement that both belong to one person is not used, or none if it is used or says otherwise.
    pub(crate) fn explain_flaw(&self) -> Option<&'static str> {
        (self.same_person && !self.cites_both).then_some("does not cite lines of both names")
    }
}

impl LineNumbers {
    /// Returns the line numbers, given the number of lines shown for each name.
    pub(crate) fn from_line_counts(first: usize, others: impl Iterator<Item = usize>) -> LineNumbers {
        let mut next = 1;
        let mut range = |count: usize| {
            let start = next;
            next += u32::try_from(count).unwrap_or(u32::MAX);
            start..next
        };
        LineNumbers {
            first: range(first),
            others: others.map(range).collect(),
        }
    }

    /// Returns true if all of these lines belong to the first name or to the `other`-th one, and both are cited.
    fn are_both(&self, lines: &[u32], other: usize) -> bool {
        let Some(other) = self.others.get(other) else {
            return false;
        };
        let has = |range: &Range<u32>| lines.iter().any(|it| range.contains(it));
        let are_shown = lines.iter().all(|it| self.first.contains(it) || other.contains(it));
        are_shown && has(&self.first) && has(other)
    }
}

/// Parses a reply about as many names as `numbers` has. Returns the entry of each in its stored form, in their order,
/// with `None` for a name that the reply does not judge. Returns `None` if it judges none of them. Of two entries
/// with the same number the first counts.
pub(crate) fn parse_entries(output: &str, numbers: &LineNumbers) -> Option<Vec<Option<String>>> {
    let (_, reply) = last_object::<Reply>(after_thoughts(output)?)?;
    let mut found: Vec<Option<String>> = vec![None; numbers.others.len()];
    for entry in reply.people.iter().take(ENTRIES_MAX) {
        let number = entry.get("number").and_then(Value::as_u64);
        let place = number.and_then(|it| usize::try_from(it).ok()?.checked_sub(1));
        let judgement = serde_json::from_value::<StoredJudgement>(entry.clone()).ok();
        let Some((place, judgement)) = place.zip(judgement) else {
            continue;
        };
        let judgement = StoredJudgement {
            cites_both: numbers.are_both(&judgement.lines, place),
            ..judgement
        };
        let text = serde_json::to_string(&judgement).unwrap_or_default();
        if let Some(slot) = found.get_mut(place)
            && slot.is_none()
            && (1..=ENTRY_BYTES_MAX).contains(&text.len())
        {
            *slot = Some(text);
        }
    }
    found.iter().any(Option::is_some).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of two lines of the first name, one of the second and two of the third.
    fn sample_numbers() -> LineNumbers {
        LineNumbers::from_line_counts(2, [1, 2].into_iter())
    }

    fn are_same(reply: &str) -> Vec<Option<bool>> {
        let entries = parse_entries(reply, &sample_numbers()).unwrap();
        let judgements = entries.into_iter().map(|it| StoredJudgement::parse_entry(&it?));
        judgements.map(|it| it.map(|it| it.is_same())).collect()
    }

    #[test]
    fn two_names_belong_to_one_person_if_only_lines_of_both_are_cited() {
        let entry = |number: u32, lines: &[u32]| {
            format!("{{\"number\": {number}, \"same_person\": true, \"lines\": {lines:?}, \"cites_both\": true}}")
        };
        for (lines, expected) in [
            (&[1, 3][..], true),
            (&[2, 1, 3], true),
            (&[], false),
            (&[1], false),
            (&[3], false),
            (&[1, 4], false),
            (&[1, 3, 6], false),
            (&[0, 1, 3], false),
        ] {
            let reply = format!("{{\"people\": [{}]}}", entry(1, lines));
            assert_eq!(are_same(&reply), [Some(expected), None], "{lines:?}");
            let stored = parse_entries(&reply, &sample_numbers()).unwrap()[0].clone().unwrap();
            assert_eq!(
                StoredJudgement::parse_entry(&stored).unwrap().explain_flaw().is_none(),
                expected,
                "{lines:?}"
            );
        }
        let reply = format!("Here: {{\"people\": [{}, {}]}}", entry(2, &[2, 5]), entry(2, &[]));
        assert_eq!(are_same(&reply), [None, Some(true)], "the first of two counts");
        let not = "{\"people\": [{\"number\": 1, \"same_person\": false, \"lines\": [1, 3]}]}";
        assert_eq!(are_same(not), [Some(false), None]);
    }

    #[test]
    fn a_reply_without_judgements_is_refused() {
        for reply in [
            "",
            "They are one.",
            "{\"people\": []}",
            "{\"people\": [{\"number\": 3, \"same_person\": true, \"lines\": [1, 3]}]}",
            "{\"people\": [{\"number\": 1, \"same_person\": \"yes\"}]}",
            "{\"events\": [{\"number\": 1, \"same_event\": true}]}",
        ] {
            assert_eq!(parse_entries(reply, &sample_numbers()), None, "{reply}");
        }
    }
}

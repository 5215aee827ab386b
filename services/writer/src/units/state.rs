//! Reads changes of state, by rule, from the output of tools and environments and from plain statements.

use std::sync::LazyLock;

use domain::record::Record;
use domain::unit::StateChange;
use regex::Regex;
use serde_json::{Map, Value};

use crate::units::act::is_world;
use crate::units::pattern::compile_pattern;

/// Maximum number of changes kept of one record.
const CHANGES_MAX: usize = 16;
/// Maximum length of a value, in bytes; longer values are not states.
const VALUE_BYTES: usize = 80;
/// Maximum length of the text that is searched, in bytes.
const BYTES_MAX: usize = 8_000;

/// Returns the distinct changes that a record reports, in order of appearance. If an environment speaks to someone,
/// the changes concern the `addressee`.
pub(crate) fn read_changes(record: &Record, addressee: &str) -> Vec<StateChange> {
    let is_report_of_world = is_world(record) && !addressee.is_empty();
    let actor = if is_report_of_world { addressee } else { &record.actor };
    let mut found = StateChanges {
        actor: actor.to_owned(),
        out: Vec::new(),
    };
    if let Some(tool) = &record.tool {
        let subject = find_subject(&tool.arguments).unwrap_or_else(|| tool.name.clone());
        match serde_json::from_str(&tool.result) {
            Ok(Value::Object(fields)) => found.read_object(&subject, &fields),
            Ok(_) | Err(_) => {
                found.read_pairs(&subject, cut_to_limit(&tool.result));
                found.read_environment(cut_to_limit(&tool.result));
            }
        }
    }
    if is_world(record) {
        found.read_environment(cut_to_limit(&record.text));
    } else {
        found.read_statements(cut_to_limit(&record.text));
    }
    found.out
}

static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)\b((?:the |my |our |your |his |her |their )?[\p{L}\d'_#-]+(?: [\p{L}\d_#-]+)?) (?:is|are|am) now (?:a |an |the |in |at )?([^.,;!?\n]{1,60})",
    )
});
static CHANGED: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)\b((?:the |my |our |your )?[\p{L}\d'_#-]+(?: [\p{L}\d_#-]+)?) (?:has |have )?(?:changed|moved|went|rose|fell|switched|dropped|increased|decreased|grew) from ([^.,;!?\n]{1,40}?) to ([^.,;!?\n]{1,40})",
    )
});
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?m)(?:^|[\s,;{(])([\p{L}_][\p{L}\d_.-]{0,40})\s*(?:=|:)\s*([^\s,;{}()]{1,60})(?:\s*(?:->|→|=>)\s*([^\s,;{}()]{1,60}))?",
    )
});
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)\byou (?:(?:are(?: now| back)?|arrive|stand|find yourself) (?:in|at|inside|on)|(?:enter|reach|walk to|go to|walk into|go into) (?:the|an?)) (?:the |an? )?([\p{L}\d' -]{2,40})",
    )
});
/// Matches the status lines of an environment: "A3 now holds iron pan x3", "Carrying: rope, lamp", "Parcel 14 is on
/// the rack".
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"^(\p{Lu}[\p{L}\d]*(?: [\p{L}\d]+)??)(: | now (?:holds?|at|shows?|reads?) | (?:is|are) (?:on|in|at) (?:the )?)([^:\n]{1,60})$",
    )
});
/// Matches gauges of an environment: "Battery 62", "Weight 6.8 kg of 10".
static GAUGE: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^(\p{Lu}\p{L}+) (\d[\d.,]*%?(?: \p{L}{1,8})?(?: of \d+)?)$"));
static HAND: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)\byou (take|took|pick up|picked up|grab|get|now have|drop|dropped|put|place|open|opened|close|closed|lock|locked|unlock|unlocked|turn on|turned on|turn off|turned off|activate|deactivate|light|heat|cool|clean|eat|drink|wear|craft|build|break) (?:down )?(?:a |an |the |some )?([\p{L}\d' -]{2,40}?)(?: (?:from|in/on|in|on|into|onto|to) (?:a |an |the )?([\p{L}\d' -]{2,40}))?(?:[.,;!\n]|$)",
    )
});

struct StateChanges {
    actor: String,
    out: Vec<StateChange>,
}

impl StateChanges {
    fn push_change(&mut self, subject: &str, key: &str, before: &str, after: &str) {
        let change = StateChange {
            subject: subject.trim().to_owned(),
            key: key.trim().to_lowercase(),
            before: before.trim().to_owned(),
            after: after.trim().to_owned(),
        };
        let fits = !change.after.is_empty() && change.after.len() <= VALUE_BYTES && change.before != change.after;
        if fits && self.out.len() < CHANGES_MAX && !self.out.contains(&change) {
            self.out.push(change);
        }
    }

    /// Reads an object that describes a state: `{"key", "before", "after"}`, `{"key": {"old", "new"}}` or plain
    /// `{"key": value}`.
    fn read_object(&mut self, subject: &str, fields: &Map<String, Value>) {
        let own = ["id", "name", "subject", "entity"]
            .iter()
            .find_map(|it| scalar_text(fields.get(*it)?));
        let subject = own.unwrap_or_else(|| subject.to_owned());
        if let Some((before, after)) = read_before_and_after(fields) {
            let key = ["key", "field", "attribute"]
                .iter()
                .find_map(|it| scalar_text(fields.get(*it)?));
            self.push_change(&subject, key.as_deref().unwrap_or("state"), &before, &after);
            return;
        }
        for (key, value) in fields {
            match value {
                Value::Object(inner)
                    if matches!(key.as_str(), "changes" | "changed" | "diff" | "state" | "updated") =>
                {
                    self.read_object(&subject, inner);
                }
                Value::Object(inner) => {
                    if let Some((before, after)) = read_before_and_after(inner) {
                        self.push_change(&subject, key, &before, &after);
                    }
                }
                Value::Array(items) if matches!(key.as_str(), "changes" | "changed" | "diff" | "updated") => {
                    items
                        .iter()
                        .filter_map(Value::as_object)
                        .for_each(|it| self.read_object(&subject, it));
                }
                _ if matches!(key.as_str(), "id" | "name" | "subject" | "entity" | "ok" | "success") => {}
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    if let Some(after) = scalar_text(value) {
                        self.push_change(&subject, key, "", &after);
                    }
                }
            }
        }
    }

    fn read_pairs(&mut self, subject: &str, text: &str) {
        for found in PAIR.captures_iter(text) {
            let (value, to) = (&found[2], found.get(3).map_or("", |it| it.as_str()));
            if value.starts_with("//") {
                continue;
            }
            let (before, after) = if to.is_empty() { ("", value) } else { (value, to) };
            self.push_change(
                subject,
                &found[1],
                before.trim_matches('"'),
                after.trim_matches(['"', '.']),
            );
        }
    }

    /// Reads what a text environment reports to its player.
    fn read_environment(&mut self, text: &str) {
        let actor = if self.actor.is_empty() {
            "you".to_owned()
        } else {
            self.actor.clone()
        };
        for found in PLACE.captures_iter(text) {
            self.push_change(&actor, "location", "", &found[1]);
        }
        for found in HAND.captures_iter(text) {
            let other = found.get(3).map_or("", |it| it.as_str());
            let (key, before, after) = match found[1].to_lowercase().as_str() {
                "take" | "took" | "pick up" | "picked up" | "grab" | "get" | "now have" => {
                    ("location", other, actor.as_str())
                }
                "drop" | "dropped" | "put" | "place" => (
                    "location",
                    actor.as_str(),
                    if other.is_empty() { "ground" } else { other },
                ),
                "open" | "opened" => ("state", "closed", "open"),
                "close" | "closed" => ("state", "open", "closed"),
                "lock" | "locked" => ("state", "unlocked", "locked"),
                "unlock" | "unlocked" => ("state", "locked", "unlocked"),
                "turn on" | "turned on" | "activate" => ("state", "off", "on"),
                "turn off" | "turned off" | "deactivate" => ("state", "on", "off"),
                "light" => ("state", "", "lit"),
                "heat" => ("state", "", "hot"),
                "cool" => ("state", "", "cool"),
                "clean" => ("state", "", "clean"),
                "eat" | "drink" => ("state", "", "consumed"),
                "wear" => ("location", "", "worn"),
                "break" => ("state", "", "broken"),
                _ => ("state", "", "made"),
            };
            self.push_change(&found[2], key, before, after);
        }
        // Not split into sentences, because "aisle B." would be taken for an initial.
        for clause in text.split([';', '\n']).flat_map(|it| it.split(". ")) {
            self.read_status_line(&actor, clause.trim().trim_end_matches('.'));
        }
        self.read_statements(text);
    }

    fn read_status_line(&mut self, actor: &str, clause: &str) {
        if let Some(found) = GAUGE.captures(clause) {
            self.push_change(actor, &found[1], "", &found[2]);
        }
        let Some(found) = STATUS.captures(clause) else {
            return;
        };
        let (key, value) = (&found[1], &found[3]);
        match found[2].trim() {
            ":" => self.push_change(actor, key, "", value),
            "now hold" | "now holds" => self.push_change(key, "holds", "", value),
            it if it.starts_with("now") => self.push_change(key, "state", "", value),
            _ if key.eq_ignore_ascii_case("you") => {}
            _ => self.push_change(key, "location", "", value),
        }
    }

    fn read_statements(&mut self, text: &str) {
        for found in STATEMENT.captures_iter(text) {
            let subject = self.resolve_subject(&found[1]);
            self.push_change(&subject, "state", "", &found[2]);
        }
        for found in CHANGED.captures_iter(text) {
            let subject = self.resolve_subject(&found[1]);
            self.push_change(&subject, "state", &found[2], &found[3]);
        }
    }

    fn resolve_subject(&self, subject: &str) -> String {
        let bare = subject.trim_start_matches("the ").trim_start_matches("The ");
        if bare == "I" && !self.actor.is_empty() {
            self.actor.clone()
        } else {
            bare.to_owned()
        }
    }
}

/// Returns the object on which a call acts, from its arguments.
fn find_subject(arguments: &str) -> Option<String> {
    let Ok(Value::Object(fields)) = serde_json::from_str(arguments) else {
        return None;
    };
    ["id", "name", "target", "object", "item", "entity", "path", "key"]
        .iter()
        .find_map(|it| scalar_text(fields.get(*it)?))
        .or_else(|| {
            let mut ids = fields.iter().filter(|(key, _)| key.ends_with("_id"));
            ids.next().and_then(|(_, value)| scalar_text(value))
        })
}

fn read_before_and_after(fields: &Map<String, Value>) -> Option<(String, String)> {
    [
        ("before", "after"),
        ("old", "new"),
        ("from", "to"),
        ("previous", "current"),
    ]
    .iter()
    .find_map(|(before, after)| Some((scalar_text(fields.get(*before)?)?, scalar_text(fields.get(*after)?)?)))
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn cut_to_limit(text: &str) -> &str {
    &text[..text.floor_char_boundary(BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_matches_the_phrases_it_is_meant_for() {
        for (pattern, text) in [
            (&STATEMENT, "The lamp is now red"),
            (&CHANGED, "The price rose from 3 to 4"),
            (&PAIR, "door=open"),
            (&PLACE, "You are in the cellar"),
            (&STATUS, "Parcel 14 is on the rack"),
            (&GAUGE, "Battery 62"),
            (&HAND, "You take the lamp."),
        ] {
            assert!(pattern.is_match(text), "{text}");
            assert!(!pattern.is_match(""), "{text}");
        }
    }
}

//! Checks changes of state that a language model read in the log of an agent.

use domain::reading::LeftOut;
use domain::unit::StateChange;

use crate::reading::checks::gists::Gist;
use crate::reading::checks::passage_content::Ground;
use crate::reading::lines::to_visible_line;
use crate::reading::replies::left_out::left_out_of;
use crate::reading::replies::reply::UncheckedChange;

/// Maximum length of the name of a state (`KEY_BYTES_MAX`) and of each other part (`VALUE_BYTES_MAX`), in bytes.
const KEY_BYTES_MAX: usize = 40;
const VALUE_BYTES_MAX: usize = 200;

/// Adds each accepted change to the first gist from the same line. A change whose line has no gist is rejected.
pub(crate) fn attach_changes(
    ground: &Ground<'_>,
    unchecked: &[UncheckedChange],
    gists: &mut [Gist],
    left_out: &mut Vec<LeftOut>,
) {
    for unchecked in unchecked {
        let gist = gists.iter_mut().find(|it| it.lines.contains(&unchecked.line));
        let change = check_change(ground, unchecked);
        match (gist, change) {
            (Some(gist), Ok(change)) => gist.unit.changes.push(change),
            (_, Err(why)) => left_out.push(left_out_of(&describe_change(unchecked), why)),
            (None, Ok(_)) => left_out.push(left_out_of(&describe_change(unchecked), "no gist comes from its line")),
        }
    }
}

fn describe_change(unchecked: &UncheckedChange) -> String {
    to_visible_line(&format!("{} {} {}", unchecked.subject, unchecked.key, unchecked.after))
}

fn check_change(ground: &Ground<'_>, unchecked: &UncheckedChange) -> Result<StateChange, &'static str> {
    let line = ground.find_line(unchecked.line).ok_or("its line does not exist")?;
    let change = StateChange {
        subject: to_visible_line(&unchecked.subject),
        key: to_visible_line(&unchecked.key),
        before: to_visible_line(unchecked.before.as_deref().unwrap_or_default()),
        after: to_visible_line(&unchecked.after),
    };
    if [&change.subject, &change.key, &change.after]
        .iter()
        .any(|it| it.is_empty())
    {
        return Err("a part of it is empty");
    }
    let values = [&change.subject, &change.before, &change.after];
    if change.key.len() > KEY_BYTES_MAX || values.iter().any(|it| it.len() > VALUE_BYTES_MAX) {
        return Err("a part of it is too long");
    }
    if ground.find_actor(&change.subject).is_none() && !line.holds_all_of(&change.subject) {
        return Err("its line does not name the owner of the state");
    }
    if !line.holds_all_of(&change.after) && !line.contains_quote(&change.after) {
        return Err("its line does not contain the new state");
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::reading::derive::{DerivedFromReading, derive_from_reading};
    use crate::reading::example::{rejection_reasons, sample_reading, tool_call_record};

    fn derive_trace(change: &Value) -> DerivedFromReading {
        let records = [
            tool_call_record(1, "toggle", r#"{"object": "lamp"}"#, "The lamp is now on."),
            tool_call_record(2, "go", r#"{"to": "hall"}"#, "You are in the hall."),
        ];
        let gists = json!([{"text": "The agent turned the lamp on.", "lines": [1]}]);
        let reply = json!({"gists": gists, "changes": [change]}).to_string();
        derive_from_reading(&sample_reading(&records, &reply), &[], &records)
    }

    fn change_json(subject: &str, after: &str, line: u64) -> Value {
        json!({"subject": subject, "key": "state", "before": "off", "after": after, "line": line})
    }

    #[test]
    fn a_change_belongs_to_the_gist_of_its_line() {
        let derived = derive_trace(&change_json("lamp", "on", 1));
        assert_eq!(rejection_reasons(&derived), [""; 0]);
        let [change] = derived.units[0].changes.as_slice() else {
            panic!()
        };
        assert_eq!(
            [&*change.subject, &*change.key, &*change.before, &*change.after],
            ["lamp", "state", "off", "on"]
        );
    }

    #[test]
    fn a_change_without_a_line_gist_subject_or_state_is_rejected() {
        let long = "lamp ".repeat(50);
        for (change, why) in [
            (change_json("lamp", "on", 3), "its line does not exist"),
            (change_json("agent", "hall", 2), "no gist comes from its line"),
            (
                change_json("door", "on", 1),
                "its line does not name the owner of the state",
            ),
            (
                change_json("lamp", "broken", 1),
                "its line does not contain the new state",
            ),
            (change_json("", "on", 1), "a part of it is empty"),
            (change_json(&long, "on", 1), "a part of it is too long"),
        ] {
            let derived = derive_trace(&change);
            assert_eq!(rejection_reasons(&derived), [why], "{change}");
            assert!(derived.units[0].changes.is_empty());
        }
    }
}

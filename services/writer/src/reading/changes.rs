//! Checks changes of state that a language model read in the log of an agent.

use domain::unit::StateChange;

use domain::reading::LeftOut;

use super::derive::left_out_of;
use super::gists::Gist;
use super::ground::Ground;
use super::lines::visible;
use super::reply::SaidChange;

/// Maximum length of the name of a state (`KEY_BYTES_MAX`) and of each other part (`VALUE_BYTES_MAX`), in bytes.
const KEY_BYTES_MAX: usize = 40;
const VALUE_BYTES_MAX: usize = 200;

/// Adds each accepted change to the first gist from the same line. A change whose line has no gist is rejected.
pub(super) fn attach(ground: &Ground<'_>, said: &[SaidChange], gists: &mut [Gist], left_out: &mut Vec<LeftOut>) {
    for said in said {
        let gist = gists.iter_mut().find(|it| it.lines.contains(&said.line));
        let change = checked(ground, said);
        match (gist, change) {
            (Some(gist), Ok(change)) => gist.unit.changes.push(change),
            (_, Err(why)) => left_out.push(left_out_of(&words(said), why)),
            (None, Ok(_)) => left_out.push(left_out_of(&words(said), "no gist comes from its line")),
        }
    }
}

fn words(said: &SaidChange) -> String {
    visible(&format!("{} {} {}", said.subject, said.key, said.after))
}

fn checked(ground: &Ground<'_>, said: &SaidChange) -> Result<StateChange, &'static str> {
    let line = ground.line(said.line).ok_or("its line does not exist")?;
    let change = StateChange {
        subject: visible(&said.subject),
        key: visible(&said.key),
        before: visible(said.before.as_deref().unwrap_or_default()),
        after: visible(&said.after),
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
    if ground.actor(&change.subject).is_none() && !line.holds(&change.subject) {
        return Err("its line does not name whose state it is");
    }
    if !line.holds(&change.after) && !line.quotes(&change.after) {
        return Err("its line does not say the new state");
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::reading::derive::{Derived, derive};
    use crate::reading::example::{call, reading, reasons};

    fn trace(change: &Value) -> Derived {
        let records = [
            call(1, "toggle", r#"{"object": "lamp"}"#, "The lamp is now on."),
            call(2, "go", r#"{"to": "hall"}"#, "You are in the hall."),
        ];
        let gists = json!([{"text": "The agent turned the lamp on.", "lines": [1]}]);
        let reply = json!({"gists": gists, "changes": [change]}).to_string();
        derive(&reading(&records, &reply), &[], &records)
    }

    fn change(subject: &str, after: &str, line: u64) -> Value {
        json!({"subject": subject, "key": "state", "before": "off", "after": after, "line": line})
    }

    #[test]
    fn a_change_belongs_to_the_gist_of_its_line() {
        let derived = trace(&change("lamp", "on", 1));
        assert_eq!(reasons(&derived), [""; 0]);
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
            (change("lamp", "on", 3), "its line does not exist"),
            (change("agent", "hall", 2), "no gist comes from its line"),
            (change("door", "on", 1), "its line does not name whose state it is"),
            (change("lamp", "broken", 1), "its line does not say the new state"),
            (change("", "on", 1), "a part of it is empty"),
            (change(&long, "on", 1), "a part of it is too long"),
        ] {
            let derived = trace(&change);
            assert_eq!(reasons(&derived), [why], "{change}");
            assert!(derived.units[0].changes.is_empty());
        }
    }
}

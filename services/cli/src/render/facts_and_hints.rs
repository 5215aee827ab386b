use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use domain::fact::Fact;
use domain::recall::Hint;
use gateway::api::RecallResponse;
use text::facts::fact_sentence_after_subject;

use crate::output::{Paint, Style};

/// Returns facts as text, grouped by subject, oldest first; facts that are no longer valid are dimmed.
pub(crate) fn facts_text(mut facts: Vec<Fact>, paint: Paint) -> String {
    facts.sort_by(|a, b| {
        let key = |it: &Fact| (it.valid_from.start, it.id);
        a.subject.cmp(&b.subject).then_with(|| key(a).cmp(&key(b)))
    });
    let mut text = String::new();
    let mut last = None;
    for fact in &facts {
        if last != Some(&fact.subject) {
            let _ = writeln!(text, "{}", paint.paint_text(Style::Bold, &fact.subject));
            last = Some(&fact.subject);
        }
        let sentence = fact_sentence_after_subject(fact);
        let holds = fact.valid_until.is_none() && !fact.withdrawn;
        let style = if holds { Style::Plain } else { Style::Dim };
        let times = paint.paint_text(Style::Dim, &validity_text(fact));
        let _ = writeln!(text, "  {}  {times}", paint.paint_text(style, &sentence));
    }
    text.trim_end().to_owned()
}

/// Returns hints as text, or the reason why there are none.
pub(crate) fn hints_text(response: &RecallResponse, paint: Paint) -> String {
    let mut text = String::new();
    for hint in &response.hints {
        let _ = writeln!(text, "{} {}", paint.paint_text(Style::Good, "!"), hint.text.trim());
        let _ = writeln!(text, "    {}", paint.paint_text(Style::Dim, &hint_reason(hint)));
        for side in &hint.sides {
            let _ = writeln!(text, "    {side}");
        }
    }
    if response.hints.is_empty() {
        let why = response.silent.as_deref().unwrap_or("nothing to say");
        let _ = writeln!(text, "Silent: {why}");
    }
    for degraded in &response.degraded {
        let _ = writeln!(text, "degraded: {degraded}");
    }
    text.trim_end().to_owned()
}

fn validity_text(fact: &Fact) -> String {
    let since = fact.known_start().map(|it| format!("since {}", format_day(it)));
    let until = fact.valid_until.map(|it| format!("until {}", format_day(it)));
    let limits: Vec<String> = since.into_iter().chain(until).collect();
    let withdrawn = if fact.withdrawn { ", withdrawn" } else { "" };
    let by = if fact.told_by.is_empty() || fact.told_by == fact.subject {
        String::new()
    } else {
        format!(", {} said", fact.told_by)
    };
    format!("{}{withdrawn}{by}", limits.join(" "))
}

fn hint_reason(hint: &Hint) -> String {
    let past = match hint.valid_until {
        Some(until) => format!("; held until {}", format_day(until)),
        None if hint.valid => String::new(),
        None => "; no longer holds".to_owned(),
    };
    format!("{}{past} [{}]", hint.reason, hint.external_ids.join(" "))
}

fn format_day(at: DateTime<Utc>) -> String {
    at.format("%-d %b %Y").to_string()
}

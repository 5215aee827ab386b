//! Formats responses as text for people.

mod facts_and_hints;

use std::fmt::Write as _;

use domain::evidence::{Sufficiency, UnitExplanation};
use gateway::api::QueryResponse;

use crate::output::{Paint, Style};

pub(crate) use facts_and_hints::{facts_text, hints_text};

/// Number of features shown for an explained unit.
const FEATURES: usize = 5;

/// Lines with at least this probability are highlighted.
const LIKELY: f32 = 0.1;

/// Returns text on one line: a space replaces each line break and tab.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

/// Returns a response as text: answer, verdict with reasons, evidence, path, explanations, cost.
pub(crate) fn reply_text(reply: &QueryResponse, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(answer) = &reply.answer {
        let sure = paint.paint_text(Style::Dim, &format!("(confidence {:.2})", answer.confidence));
        let _ = writeln!(
            text,
            "{} {}  {sure}",
            paint.paint_text(Style::Bold, "Answer:"),
            answer.text
        );
    }
    write_verdict(reply, paint, &mut text);
    write_evidence(reply, paint, &mut text);
    write_path_steps(reply, paint, &mut text);
    for unit in reply.explained.iter().flatten() {
        write_explanation(unit, paint, &mut text);
    }
    text.push_str(&paint.paint_text(Style::Dim, &cost_text(reply)));
    text
}

fn write_verdict(reply: &QueryResponse, paint: Paint, text: &mut String) {
    let (style, word) = match reply.verdict.status {
        Sufficiency::Supported => (Style::Good, "supported"),
        Sufficiency::Partial => (Style::Warning, "partial"),
        Sufficiency::Insufficient => (Style::Bad, "insufficient"),
        Sufficiency::Conflicting => (Style::Warning, "conflicting"),
    };
    let reasons = reply.verdict.reasons.join("; ");
    let colon = if reasons.is_empty() { "" } else { ": " };
    let _ = writeln!(
        text,
        "{} {}{colon}{reasons}",
        paint.paint_text(Style::Bold, "Verdict:"),
        paint.paint_text(style, word)
    );
    for near in &reply.verdict.nearest {
        let reason = paint.paint_text(Style::Dim, &format!("({})", near.reason.replace('_', " ")));
        let _ = writeln!(text, "  nearest: {} {reason}", near.text.trim());
    }
}

fn write_evidence(reply: &QueryResponse, paint: Paint, text: &mut String) {
    if reply.pack.items.is_empty() {
        let _ = writeln!(text, "{} none", paint.paint_text(Style::Bold, "Evidence:"));
        return;
    }
    let _ = writeln!(text, "{}", paint.paint_text(Style::Bold, "Evidence:"));
    for item in &reply.pack.items {
        let text_shown = item.text.trim_end();
        let (day, line) = match text_shown.split_once('\n') {
            Some((day, line)) if day.ends_with(':') => (Some(day), line),
            _ => (None, text_shown),
        };
        if let Some(day) = day {
            let _ = writeln!(text, "  {}", paint.paint_text(Style::Dim, day));
        }
        let weight = if item.probability >= LIKELY {
            Style::Good
        } else {
            Style::Plain
        };
        let line = paint.paint_text(weight, &line.replace('\n', "\n    "));
        let note = format!(
            "[{}] {:.0} %, {} tokens",
            item.external_ids.join(" "),
            100.0 * item.probability,
            item.tokens
        );
        let _ = writeln!(text, "    {line}  {}", paint.paint_text(Style::Dim, &note));
    }
}

fn write_path_steps(reply: &QueryResponse, paint: Paint, text: &mut String) {
    let Some(path) = &reply.path else { return };
    let _ = writeln!(text, "{}", paint.paint_text(Style::Bold, "Path:"));
    for step in path {
        let note = format!("({} found, {} kept)", step.found, step.kept.len());
        let _ = writeln!(
            text,
            "  {}: {}  {}",
            step.step,
            step.what,
            paint.paint_text(Style::Dim, &note)
        );
    }
}

fn write_explanation(unit: &UnitExplanation, paint: Paint, text: &mut String) {
    let scores = unit.scores;
    let head = format!("#{} [{}]", unit.rank, unit.external_ids.join(" "));
    let _ = writeln!(
        text,
        "{} {}; support {:+.2}, anchor {:+.2}, edge {:+.2}; {} tokens",
        paint.paint_text(Style::Bold, &head),
        unit.reason,
        scores.support,
        scores.anchor,
        scores.edge,
        unit.price,
    );
    for feature in unit.features.iter().take(FEATURES) {
        let _ = writeln!(
            text,
            "    {:+.2}  {} = {:.3}",
            feature.moved, feature.name, feature.value
        );
    }
}

fn cost_text(reply: &QueryResponse) -> String {
    let cost = &reply.cost;
    let usage = cost.usage;
    let of = match usage.is_none() {
        true => String::new(),
        false => format!(" ({} + {} tokens)", usage.prompt_tokens, usage.completion_tokens),
    };
    let calls = if cost.model_calls == 1 { "call" } else { "calls" };
    let mut text = format!(
        "{} of {} tokens, {:.0} ms, {} model {calls}{of}, {} candidates of {} units",
        reply.pack.tokens, reply.pack.budget, cost.ms, cost.model_calls, cost.candidates, cost.units
    );
    if !reply.trace_id.is_empty() {
        let _ = write!(text, "; trace {}", reply.trace_id);
    }
    for degraded in &reply.degraded {
        let _ = write!(text, "\ndegraded: {degraded}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_degraded_part_has_a_line_of_its_own() {
        let reply = json!({
            "verdict": {"status": "partial", "reasons": []},
            "answer": null,
            "pack": {"items": [], "tokens": 8, "budget": 512, "text": ""},
            "cost": {"tokens": 8, "model_calls": 1, "ms": 2.0, "steps": [], "units": 9, "candidates": 3},
            "degraded": ["index: is away", "reader: is away"],
            "trace_id": "abc",
            "weights": "",
        });
        let reply: QueryResponse = serde_json::from_value(reply).unwrap();
        assert_eq!(
            cost_text(&reply),
            "8 of 512 tokens, 2 ms, 1 model call, 3 candidates of 9 units; trace abc\n\
             degraded: index: is away\ndegraded: reader: is away"
        );
    }
}

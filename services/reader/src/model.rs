//! The answer of a language model, from the lines of the pack alone. A statement counts only if it has citations: it
//! names lines that support it. If the reply cannot be used, the answer that was found without a model remains.

#[cfg(test)]
mod example;
mod grounding;
mod implied_counts;
mod next_lookup;
mod plan;
mod prompt;
mod rank;
mod reply;

use chrono::{DateTime, FixedOffset};
use domain::evidence::{Answer, NearMiss, PackItem, Sufficiency, Verdict};
use domain::message::{AnswerV1, AnsweredV1};
use host::Asker;

use grounding::Evidence;
pub(crate) use next_lookup::decide_lookup;
pub(crate) use plan::plan_question;
pub(crate) use rank::rank_candidates;

use reply::{Reply, Statement};

/// Maximum number of near misses of a refusal, and maximum number of characters of each.
const MISSES: usize = 2;
const SHOWN: usize = 200;
/// Log-odds that an answer is right if the router gives its lines a probability of 0. See [`probability_right`].
const RIGHT: f32 = 1.9;

/// Returns the answer of a language model, or the reply `read` with a note if the model's reply cannot be used.
pub(crate) async fn answer_with_model(asker: &Asker, request: &AnswerV1, mut read: AnsweredV1) -> AnsweredV1 {
    let prompt = prompt::build_answer_prompt(request);
    let result = asker
        .ask_model(&prompt, request.allow, |it| {
            reply::parse_answer(&it.text, request.style)
        })
        .await;
    match result.outcome {
        Ok(reply) => read = judge_reply(request, &read, reply),
        Err(why) => read
            .degraded
            .push(format!("no answer of the language model: {why}; answered without it")),
    }
    AnsweredV1 {
        spent: result.spent,
        ..read
    }
}

/// Returns the time of a question as words that follow "The question"; empty if there is none.
fn asked_when(asked_at: Option<DateTime<FixedOffset>>) -> String {
    format_moment(", asked", asked_at)
}

/// Returns a moment as words that follow `words`; empty if there is none.
fn format_moment(words: &str, at: Option<DateTime<FixedOffset>>) -> String {
    at.map_or(String::new(), |it| {
        it.format(&format!("{words} on %A, %-d %B %Y at %H:%M")).to_string()
    })
}

/// A statement of a reply with the lines that it names.
struct Cited<'a> {
    text: String,
    lines: Vec<&'a PackItem>,
}

/// Returns the answer for a reply. A statement counts only if it names an existing line. A reply without such a
/// statement is a refusal.
fn judge_reply(request: &AnswerV1, read: &AnsweredV1, reply: Reply) -> AnsweredV1 {
    let items = &request.pack.items;
    if reply.statements.is_empty() {
        let missing = reply.reason.map_or(String::new(), |it| format!(": {it}"));
        let reason = format!("the language model found no answer in the evidence{missing}");
        return refuse_answer(items, read, reason);
    }
    let mut doubts = Vec::new();
    let mut cited = Vec::new();
    for Statement { text, lines } in reply.statements {
        let lines: Vec<&PackItem> = lines.iter().filter_map(|it| items.get(it.checked_sub(1)?)).collect();
        if lines.is_empty() {
            doubts.push("a sentence of its answer names no line and is left out".to_owned());
        } else {
            cited.push(Cited { text, lines });
        }
    }
    if cited.is_empty() {
        let reason = "the answer of the language model named no line that supports it".to_owned();
        return refuse_answer(items, read, reason);
    }
    doubts.extend(find_ungrounded_statements(request, &cited));
    let conflicting = reply.disagrees && cited_lines(&cited).len() > 1;
    if reply.disagrees && !conflicting {
        doubts.push("it says that two lines disagree and names one".to_owned());
    }
    let mut reasons = vec!["a language model answered from the lines that it names".to_owned()];
    if conflicting {
        reasons.push("two of them disagree and neither replaces the other; the answer gives both sides".to_owned());
    }
    if reply.is_concluded {
        reasons.push("the answer is a conclusion: none of the lines states it".to_owned());
    }
    let status = match (conflicting, doubts.is_empty()) {
        (true, _) => Sufficiency::Conflicting,
        (false, true) => Sufficiency::Supported,
        (false, false) => Sufficiency::Partial,
    };
    reasons.extend(doubts);
    accept_answer(
        request,
        read,
        &cited,
        Verdict {
            status,
            code: None,
            reasons,
            nearest: Vec::new(),
        },
    )
}

/// Returns a doubt for each statement with a part that neither occurs in its lines nor follows from them.
fn find_ungrounded_statements(request: &AnswerV1, cited: &[Cited<'_>]) -> Vec<String> {
    let asked_at = request.anchors.asked_at.unwrap_or_default();
    let lack = |it: &Cited<'_>| {
        let evidence = Evidence::from_lines(&request.question, &it.lines);
        let lacking = evidence.find_ungrounded_part(&it.text, asked_at)?;
        Some(format!(
            "`{lacking}` of its answer occurs in none of them and does not follow"
        ))
    };
    cited.iter().filter_map(lack).collect()
}

/// Returns the lines that the statements name, each once, in their order.
fn cited_lines<'a>(cited: &[Cited<'a>]) -> Vec<&'a PackItem> {
    let mut lines: Vec<&PackItem> = Vec::new();
    for line in cited.iter().flat_map(|it| it.lines.iter().copied()) {
        if lines.iter().all(|it| it.unit != line.unit) {
            lines.push(line);
        }
    }
    lines
}

fn accept_answer(request: &AnswerV1, read: &AnsweredV1, cited: &[Cited<'_>], verdict: Verdict) -> AnsweredV1 {
    let lines = cited_lines(cited);
    let supports = lines.iter().map(|it| it.unit).collect::<Vec<_>>();
    let shares = |it: &Answer| it.supports.iter().any(|unit| supports.contains(unit));
    let found = read.verdict.status == Sufficiency::Conflicting && read.answer.as_ref().is_some_and(shares);
    let verdict = match found {
        true => read.verdict.clone(),
        false => verdict,
    };
    let conflicting = verdict.status == Sufficiency::Conflicting;
    let support: f32 = lines.iter().map(|it| it.probability).sum();
    let texts: Vec<&str> = cited.iter().map(|it| it.text.as_str()).collect();
    let answer = Answer {
        text: texts.join(" "),
        kind: request.anchors.answer,
        supports,
        external_ids: lines.iter().flat_map(|it| it.external_ids.clone()).collect(),
        confidence: if conflicting { 0.5 } else { 1.0 } * probability_right(support),
    };
    AnsweredV1::new(verdict, Some(answer))
}

/// Returns the probability that an answer is right; `support` is the probability, by the router, that its lines contain
/// the evidence. The constants were set between two measurements, of 516 and of 116 answers (docs/EVALUATION.md): a
/// very good model is right much more often than the router is sure of its lines, and a little more often if the router
/// is sure.
fn probability_right(support: f32) -> f32 {
    1.0 / (1.0 + (-(RIGHT + support.clamp(0.0, 1.0))).exp())
}

fn refuse_answer(items: &[PackItem], read: &AnsweredV1, reason: String) -> AnsweredV1 {
    let mut best: Vec<&PackItem> = items.iter().collect();
    best.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.unit.cmp(&b.unit)));
    let miss = |it: &&PackItem| NearMiss {
        unit: it.unit,
        external_ids: it.external_ids.clone(),
        text: prompt::split_header(it).1.chars().take(SHOWN).collect(),
        reason: "weak".to_owned(),
    };
    let nearest = match read.verdict.nearest.is_empty() {
        true => best.iter().take(MISSES).map(miss).collect(),
        false => read.verdict.nearest.clone(),
    };
    let verdict = Verdict {
        status: Sufficiency::Insufficient,
        code: None,
        reasons: vec![reason],
        nearest,
    };
    AnsweredV1::new(verdict, None)
}

#[cfg(test)]
mod tests {
    use domain::evidence::AnswerStyle;

    use super::*;

    const LINES: [&str; 2] = ["2 Mar 2026:\nAnn: I grew up in Malmö.", "A: We moved to Oslo in 2019."];

    /// Returns the judged answer for a reply in a style.
    fn judged_answer(style: AnswerStyle, text: &str) -> AnsweredV1 {
        let request = AnswerV1 {
            style,
            ..example::sample_request("Does Ann speak Swedish?", &LINES)
        };
        let weak = Verdict {
            status: Sufficiency::Partial,
            code: None,
            reasons: Vec::new(),
            nearest: Vec::new(),
        };
        let read = AnsweredV1::new(weak, None);
        judge_reply(&request, &read, reply::parse_answer(text, style).unwrap())
    }

    #[test]
    fn a_conclusion_is_supported_unless_it_contains_a_detail_that_no_line_holds() {
        for (text, status, is_concluded) in [
            (
                r#"{"answer": "likely yes", "concluded": true, "lines": [1]}"#,
                Sufficiency::Supported,
                true,
            ),
            (
                r#"{"answer": "probably in Malmö", "concluded": true, "lines": [1]}"#,
                Sufficiency::Supported,
                true,
            ),
            (
                r#"{"answer": "yes", "concluded": false, "lines": [1]}"#,
                Sufficiency::Supported,
                false,
            ),
            (
                r#"{"answer": "likely in Skåne", "concluded": true, "lines": [1]}"#,
                Sufficiency::Partial,
                true,
            ),
            (
                r#"{"answer": "likely 450 of them", "concluded": true, "lines": [1]}"#,
                Sufficiency::Partial,
                true,
            ),
            (
                r#"{"answer": "likely yes", "concluded": true, "lines": []}"#,
                Sufficiency::Insufficient,
                false,
            ),
        ] {
            let answered = judged_answer(AnswerStyle::Infer, text);
            assert_eq!(answered.verdict.status, status, "{text}: {answered:?}");
            let reasons = answered.verdict.reasons.join("; ");
            assert_eq!(
                reasons.contains("the answer is a conclusion"),
                is_concluded,
                "{reasons}"
            );
            assert_eq!(answered.answer.is_some(), status != Sufficiency::Insufficient, "{text}");
        }
    }

    #[test]
    fn two_lines_that_disagree_are_a_conflict_and_both_are_cited() {
        let status = |text: &str| judged_answer(AnswerStyle::Short, text);
        let both = status(r#"{"answer": "Malmö, or Oslo", "lines": [1, 2], "disagree": true}"#);
        assert_eq!(both.verdict.status, Sufficiency::Conflicting, "{both:?}");
        assert!(both.verdict.reasons[1].contains("two of them disagree"), "{both:?}");
        let both = both.answer.unwrap();
        let agreed = status(r#"{"answer": "Malmö, then Oslo", "lines": [1, 2], "disagree": false}"#);
        assert_eq!(agreed.verdict.status, Sufficiency::Supported, "{agreed:?}");
        let agreed = agreed.answer.unwrap();
        assert_eq!((both.external_ids.len(), both.confidence), (2, 0.5 * agreed.confidence));
        assert!((0.94..0.96).contains(&agreed.confidence), "{agreed:?}");
        let one_side = status(r#"{"answer": "Malmö, or Oslo", "lines": [1, 1], "disagree": true}"#);
        assert_eq!(one_side.verdict.status, Sufficiency::Partial, "{one_side:?}");
    }

    #[test]
    fn each_sentence_of_a_free_answer_is_checked_against_its_own_lines() {
        let free = |sentences: &str| judged_answer(AnswerStyle::Free, &format!("{{\"sentences\": [{sentences}]}}"));
        let malmo = r#"{"text": "She grew up in Malmö.", "lines": [1]}"#;
        let oslo = r#"{"text": "She moved to Oslo in 2019.", "lines": [2, 1]}"#;
        let answered = free(&format!("{malmo}, {oslo}"));
        assert_eq!(answered.verdict.status, Sufficiency::Supported, "{answered:?}");
        let answer = answered.answer.unwrap();
        assert_eq!(answer.text, "She grew up in Malmö. She moved to Oslo in 2019.");
        assert_eq!(answer.external_ids, ["1", "2"], "each line once");

        let baseless = r#"{"text": "She likes it.", "lines": [9]}"#;
        let answered = free(&format!("{malmo}, {baseless}"));
        assert_eq!(answered.verdict.status, Sufficiency::Partial, "{answered:?}");
        assert_eq!(answered.answer.unwrap().text, "She grew up in Malmö.");
        assert!(
            answered.verdict.reasons[1].contains("names no line"),
            "{:?}",
            answered.verdict
        );
        assert_eq!(free(baseless).answer, None);

        let elsewhere = r#"{"text": "She moved to Oslo in 2019.", "lines": [1]}"#;
        let answered = free(&format!("{malmo}, {elsewhere}"));
        assert_eq!(
            answered.verdict.status,
            Sufficiency::Partial,
            "the line of another sentence does not count"
        );
    }
}

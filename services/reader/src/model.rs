//! The answer of a language model, from the lines of the pack alone. Its reply counts only as far as it names lines that hold
//! it up; what cannot be used leaves the answer as it was read without a model.

#[cfg(test)]
mod example;
mod fence;
mod grounding;
mod prompt;
mod rank;
mod reply;

use chrono::{DateTime, FixedOffset};
use domain::evidence::{Answer, NearMiss, PackItem, Sufficiency, Verdict};
use domain::message::{AnswerV1, AnsweredV1};
use host::Asker;

use grounding::Evidence;
pub(crate) use rank::rank;
use reply::Reply;

/// Near misses of a refusal, and characters of each that are shown.
const MISSES: usize = 2;
const SHOWN: usize = 200;

/// Returns what was read, answered by a language model if it gives something that can be used.
pub(crate) async fn answer(asker: &Asker, request: &AnswerV1, mut read: AnsweredV1) -> AnsweredV1 {
    let prompt = prompt::of(request);
    let asked = asker.ask(&prompt, request.allow, |it| reply::read(&it.text)).await;
    match asked.outcome {
        Ok(reply) => read = judged(request, &read, reply),
        Err(why) => read
            .degraded
            .push(format!("no answer of the language model: {why}; answered without it")),
    }
    AnsweredV1 {
        spent: asked.spent,
        ..read
    }
}

/// Says when a question is asked, as words behind "The question".
fn asked_when(asked_at: Option<DateTime<FixedOffset>>) -> String {
    asked_at.map_or(String::new(), |it| {
        it.format(", asked on %A, %-d %B %Y at %H:%M").to_string()
    })
}

/// Says what a reply comes to. Without a line that there is an answer stands on nothing, and is none.
fn judged(request: &AnswerV1, read: &AnsweredV1, reply: Reply) -> AnsweredV1 {
    let items = &request.pack.items;
    let cited: Vec<&PackItem> = reply
        .lines
        .iter()
        .filter_map(|it| items.get(it.checked_sub(1)?))
        .collect();
    match reply.answer {
        Some(text) if !cited.is_empty() => accepted(request, read, text, &cited),
        Some(_) => refused(
            items,
            read,
            "the answer of the language model named no line that holds it up".to_owned(),
        ),
        None => {
            let missing = reply.reason.map_or(String::new(), |it| format!(": {it}"));
            refused(
                items,
                read,
                format!("the language model finds no answer in the evidence{missing}"),
            )
        }
    }
}

fn accepted(request: &AnswerV1, read: &AnsweredV1, text: String, cited: &[&PackItem]) -> AnsweredV1 {
    let supports = cited.iter().map(|it| it.unit).collect::<Vec<_>>();
    let shares = |it: &Answer| it.supports.iter().any(|unit| supports.contains(unit));
    let conflicting = read.verdict.status == Sufficiency::Conflicting && read.answer.as_ref().is_some_and(shares);
    let asked_at = request.anchors.asked_at.unwrap_or_default();
    let evidence = Evidence::of(&request.question, cited);
    let lacking = evidence.lacks(&text, asked_at);
    let mut reasons = vec!["a language model answers from the lines it names".to_owned()];
    reasons.extend(lacking.map(|it| format!("`{it}` of its answer occurs in none of them and does not follow")));
    let verdict = match conflicting {
        true => read.verdict.clone(),
        false => Verdict {
            status: match lacking {
                Some(_) => Sufficiency::Partial,
                None => Sufficiency::Supported,
            },
            code: None,
            reasons,
            nearest: Vec::new(),
        },
    };
    let held: f32 = cited.iter().map(|it| it.probability).sum();
    let answer = Answer {
        text,
        kind: request.anchors.answer,
        supports,
        external_ids: cited.iter().flat_map(|it| it.external_ids.clone()).collect(),
        confidence: if conflicting { 0.5 * held } else { held }.clamp(0.0, 1.0),
    };
    AnsweredV1::new(verdict, Some(answer))
}

fn refused(items: &[PackItem], read: &AnsweredV1, reason: String) -> AnsweredV1 {
    let mut best: Vec<&PackItem> = items.iter().collect();
    best.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.unit.cmp(&b.unit)));
    let miss = |it: &&PackItem| NearMiss {
        unit: it.unit,
        external_ids: it.external_ids.clone(),
        text: prompt::line(it).1.chars().take(SHOWN).collect(),
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

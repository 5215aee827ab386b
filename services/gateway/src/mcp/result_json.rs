//! Results of tools as data, for programs; `schemas` contains their schemas.

use serde_json::{Value, json};

use super::result_text;
use crate::api::{Accepted, ItemStatus, QueryResponse, RecallResponse};

/// Returns the numbers of stored, duplicate and rejected records, and whether they are searchable; the number of chat
/// messages that are left out only if it is not 0.
pub(super) fn accepted_to_json(accepted: &Accepted, searchable: bool) -> Value {
    let count = |status| accepted.items.iter().filter(|it| it.status == status).count();
    let mut counts = json!({
        "kept": count(ItemStatus::Accepted),
        "known": count(ItemStatus::Duplicate),
        "rejected": count(ItemStatus::Rejected),
        "searchable": searchable,
    });
    if accepted.left_out > 0 {
        counts["left_out"] = json!(accepted.left_out);
    }
    counts
}

/// Returns verdict, answer and evidence; `reasons` and `degraded` only if they are not empty.
pub(super) fn answer_to_json(response: &QueryResponse) -> Value {
    let answer = response.answer.as_ref();
    let mut found = json!({
        "verdict": result_text::sufficiency_name(response.verdict.status),
        "answer": answer.map(|it| &it.text),
        "records": answer.map(|it| it.external_ids.as_slice()).unwrap_or_default(),
        "evidence": response.pack.text,
    });
    if let Some(answer) = answer {
        found["confidence"] = json!(answer.confidence);
    }
    for (name, sentences) in [("reasons", &response.verdict.reasons), ("degraded", &response.degraded)] {
        if !sentences.is_empty() {
            found[name] = json!(sentences);
        }
    }
    found
}

/// Returns the hints, or the reason why there are none.
pub(super) fn hints_to_json(response: &RecallResponse) -> Value {
    let hints = response.hints.iter().map(|it| {
        let mut hint = json!({"text": it.text, "reason": it.reason, "valid": it.valid, "records": it.external_ids});
        if !it.sides.is_empty() {
            hint["sides"] = json!(it.sides);
        }
        hint
    });
    let mut json_result = json!({"hints": hints.collect::<Vec<Value>>()});
    if let Some(silent) = &response.silent {
        json_result["silent"] = json!(silent);
    }
    json_result
}

//! The parts of a question, given by a language model.

use domain::message::{PlanV1, PlannedV1};
use domain::port::{Chat, ModelRole, ReplyForm};
use host::Asker;
use serde::Deserialize;
use serde_json::json;
use text::model_text::fence::{compute_mark, wrap_in_fence};
use text::model_text::model_reply::{after_thoughts, last_object};
use text::one_line;

use super::asked_when;

static SYSTEM: &str = include_str!("../../prompts/plan.txt");
/// Maximum number of parts in addition to the whole question, and maximum number of bytes of each.
const PARTS_MAX: usize = 5;
const PART_MAX: usize = 400;

#[derive(Deserialize)]
struct Object {
    parts: Vec<String>,
}

/// Returns the plan with the parts that the model gives, or the plan by rule (`read`) with a note if its reply cannot
/// be used.
pub(crate) async fn plan_question(asker: &Asker, request: &PlanV1, mut read: PlannedV1) -> PlannedV1 {
    let result = asker
        .ask_model(&build_prompt(request), request.allow, |it| parse_parts(&it.text))
        .await;
    read.spent = result.spent;
    match result.outcome {
        Ok(parts) => {
            read.subgoals.truncate(1);
            let new_parts = parts
                .into_iter()
                .filter(|it| !it.eq_ignore_ascii_case(&request.question));
            read.subgoals.extend(new_parts);
        }
        Err(why) => read.degraded.push(why),
    }
    read
}

fn build_prompt(request: &PlanV1) -> Chat {
    let question = one_line(&request.question);
    let mark = compute_mark(&question, "");
    let user = format!(
        "The question{}:\n{}",
        asked_when(request.asked_at),
        wrap_in_fence("question", &mark, &question)
    );
    Chat {
        form: Some(ReplyForm {
            name: "plan",
            schema: json!({
                "type": "object",
                "properties": { "parts": { "type": "array", "items": { "type": "string" } } },
                "required": ["parts"],
                "additionalProperties": false
            }),
        }),
        ..Chat::new(ModelRole::Plan, SYSTEM, user)
    }
}

/// Returns the parts in a reply, or `None` if the reply cannot be read.
fn parse_parts(reply: &str) -> Option<Vec<String>> {
    let (_, object) = last_object::<Object>(after_thoughts(reply)?)?;
    let parts = object.parts.iter().map(|it| one_line(it));
    let parts = parts.map(|it| it[..it.floor_char_boundary(PART_MAX)].to_owned());
    Some(parts.filter(|it| !it.is_empty()).take(PARTS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_single_lines_and_bounded_in_number_and_length() {
        assert_eq!(
            parse_parts("{\"parts\": [\"Where does\\nAnn live?\", \" \"]}"),
            Some(vec!["Where does Ann live?".to_owned()])
        );
        assert_eq!(parse_parts("{\"parts\": \"one\"}"), None);
        let long = json!({"parts": vec!["é".repeat(1_000); 9]}).to_string();
        let parts = parse_parts(&long).unwrap();
        assert_eq!((parts.len(), parts[0].len()), (PARTS_MAX, PART_MAX));
    }
}

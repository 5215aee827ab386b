//! Makes the prompt for the judge, and reads its replies.

use domain::port::{Chat, ModelRole, ReplyForm};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Answer;

/// System prompt of the judge.
pub const INSTRUCTIONS: &str = include_str!("../../prompts/judge.txt");

/// Added to the prompt after a reply that cannot be read.
pub const REMARK: &str =
    "Reply with the JSON object alone: {\"reason\": \"...\", \"verdict\": \"right\" or \"wrong\"}.";

/// Maximum number of characters of a reason that are kept.
const REASON_CHARS: usize = 300;

/// Order of the two answers in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The right answer.
    GoldFirst,
    /// The answer to be judged.
    GivenFirst,
}

impl Order {
    /// Both orders, in the sequence of the calls.
    pub const BOTH: [Order; 2] = [Order::GoldFirst, Order::GivenFirst];
}

/// Judgement of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The answer is right.
    Right,
    /// The answer is wrong.
    Wrong,
    /// The replies contain no verdict.
    Unreadable,
}

/// A reply with a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The verdict, right or wrong.
    pub verdict: Verdict,
    /// Reason of the verdict, cut to the kept length.
    pub reason: String,
}

/// Returns the chat that asks the judge. Question and answers are JSON texts, so their content cannot end them early.
pub fn build_chat(answer: &Answer, order: Order) -> Chat {
    let mut chat = Chat::new(ModelRole::Answer, INSTRUCTIONS, request_text(answer, order));
    chat.form = Some(ReplyForm {
        name: "verdict",
        schema: json!({
            "type": "object",
            "properties": {
                "reason": { "type": "string" },
                "verdict": { "type": "string", "enum": ["right", "wrong"] },
            },
            "required": ["reason", "verdict"],
            "additionalProperties": false,
        }),
    });
    chat
}

fn request_text(answer: &Answer, order: Order) -> String {
    let wordings = std::iter::once(&answer.gold).chain(&answer.accept);
    let wordings: Vec<&String> = wordings.filter(|it| !it.trim().is_empty()).collect();
    let reference = if wordings.is_empty() {
        Value::Null
    } else {
        json!(wordings)
    };
    let question = ("question", json!(answer.question));
    let (reference, given) = (("reference", reference), ("given", json!(answer.given)));
    let fields = match order {
        Order::GoldFirst => [question, reference, given],
        Order::GivenFirst => [question, given, reference],
    };
    // `serde_json` sorts the fields of objects, but here the order matters.
    let lines = fields.map(|(name, value)| format!("  \"{name}\": {value}"));
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// Returns the verdict of a reply: from its last JSON object with a verdict, or else from the single word of which the
/// reply consists. Returns `None` if it has neither.
pub fn parse_reply(reply: &str) -> Option<Reply> {
    let objects = reply.rmatch_indices('{').filter_map(|(at, _)| object_at(&reply[at..]));
    let mut verdicts = objects.filter_map(|object| {
        Some(Reply {
            verdict: parse_verdict(object.get("verdict")?.as_str()?)?,
            reason: object
                .get("reason")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .chars()
                .take(REASON_CHARS)
                .collect(),
        })
    });
    verdicts.next().or_else(|| {
        Some(Reply {
            verdict: parse_verdict(reply)?,
            reason: String::new(),
        })
    })
}

fn object_at(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next()?.ok().filter(Value::is_object)
}

fn parse_verdict(word: &str) -> Option<Verdict> {
    let word = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    match word.as_str() {
        "right" => Some(Verdict::Right),
        "wrong" => Some(Verdict::Wrong),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_with_or_without_text_around_it() {
        for (reply, expected) in [
            (
                "{\"reason\": \"same day\", \"verdict\": \"right\"}",
                Some(Verdict::Right),
            ),
            (
                "Let me see {sic}.\n```json\n{\"verdict\": \"Wrong\"}\n```",
                Some(Verdict::Wrong),
            ),
            ("**Right.**", Some(Verdict::Right)),
            ("I think that it is right", None),
            ("{\"verdict\": \"maybe\"}", None),
            ("", None),
        ] {
            assert_eq!(parse_reply(reply).map(|it| it.verdict), expected, "{reply}");
        }
    }

    #[test]
    fn the_second_prompt_differs_only_in_the_order_of_the_answers() {
        let answer = Answer {
            id: "q".into(),
            question: "Say \"right\"?".into(),
            gold: "Ghent".into(),
            accept: vec!["Gent".into()],
            given: "in Ghent".into(),
            category: String::new(),
        };
        let first = request_text(&answer, Order::GoldFirst);
        assert_eq!(
            first,
            "{\n  \"question\": \"Say \\\"right\\\"?\",\n  \"reference\": [\"Ghent\",\"Gent\"],\n  \"given\": \"in Ghent\"\n}"
        );
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let second = request_text(&answer, Order::GivenFirst);
        assert_ne!(first, second);
        assert_eq!(parsed(&first), parsed(&second));
        let unanswerable = Answer {
            gold: String::new(),
            accept: Vec::new(),
            ..answer
        };
        assert!(parsed(&request_text(&unanswerable, Order::GoldFirst))["reference"].is_null());
    }
}

//! What a language model that judges events is shown and asked.

use domain::port::{Chat, ModelRole, ReplyForm};
use domain::unit::Unit;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use text::fence::{fenced, mark};

/// Name and version of the prompt. Whatever changes what a model replies counts it up, and pairs are judged again.
pub(crate) const PROMPT: &str = "events/1";
static SYSTEM: &str = include_str!("../../prompts/events.txt");
/// Most bytes that are shown of one event.
const SHOWN_BYTES: usize = 2_000;
/// What ends an event that was cut.
const CUT: &str = " [cut]";
/// How the two may stand to each other if they are not the same: names of `RelationKind`, and none.
const KINDS: [&str; 10] = [
    "causes",
    "motivates",
    "enables",
    "follows_up",
    "before",
    "contrasts",
    "parallel",
    "part_of",
    "elaborates",
    "none",
];

/// Returns what a model is asked about an event and the earlier ones that it may be, which are numbered from 1. What users and
/// programs said is between marks.
pub(crate) fn prompt(later: &Unit, earlier: &[&Unit]) -> Chat {
    let shown_later = shown(later);
    let shown_earlier: Vec<String> = earlier.iter().map(|it| shown(it)).collect();
    let mark = mark(&shown_earlier.join("\n"), &shown_later);
    let mut user = String::new();
    for (text, number) in shown_earlier.iter().zip(1..) {
        let name = format!("earlier_{number}");
        user += &format!("Earlier event {number}:\n{}\n\n", fenced(&name, &mark, text));
    }
    user += &format!("The later event:\n{}", fenced("later", &mark, &shown_later));
    Chat {
        form: Some(ReplyForm {
            name: "judgements",
            schema: schema(),
        }),
        ..Chat::new(ModelRole::Write, SYSTEM, user)
    }
}

/// Returns what a model is shown of an event: the day, who speaks, and what was said; at most 2,000 bytes.
pub(super) fn shown(event: &Unit) -> String {
    let text = event.summary.as_str();
    if text.len() <= SHOWN_BYTES {
        return text.to_owned();
    }
    format!("{}{CUT}", &text[..text.floor_char_boundary(SHOWN_BYTES)])
}

/// Returns the SHA-256 of what a model is shown of an event.
pub(crate) fn digest(event: &Unit) -> [u8; 32] {
    Sha256::digest(shown(event).as_bytes()).into()
}

/// Returns the SHA-256 of the digests of two events, in hexadecimal digits. No ids are part of it, so it stays the same in
/// another space.
pub(crate) fn joint_digest(earlier: &[u8; 32], later: &[u8; 32]) -> String {
    let digest = Sha256::digest([*earlier, *later].concat());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the digest that a reading of two events has while both are as they are: that of what a model is shown of them.
pub fn pair_digest(earlier: &Unit, later: &Unit) -> String {
    joint_digest(&digest(earlier), &digest(later))
}

/// Returns the JSON schema of a reply.
fn schema() -> Value {
    let judgement = object(json!({
        "number": { "type": "integer" },
        "same_event": { "type": "boolean" },
        "has_overlap": { "type": "boolean" },
        "relation_type": { "type": "string", "enum": KINDS },
        "reasoning": { "type": "string" }
    }));
    object(json!({ "events": { "type": "array", "items": judgement } }))
}

/// Returns the schema of an object that has all of these properties and no other.
fn object(properties: Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(|it| it.keys()).collect();
    json!({ "type": "object", "required": names, "properties": properties, "additionalProperties": false })
}

//! The prompt for describing a picture.

use domain::port::{Chat, ModelRole, Picture, ReplyForm};
use domain::record::Record;
use serde_json::json;
use sha2::{Digest, Sha256};

/// Name and version of the prompt. Increase the version with any change that affects the replies; pictures are then
/// described again.
pub(crate) const PROMPT: &str = "see/1";
static SYSTEM: &str = include_str!("../../prompts/see.txt");

/// Returns the prompt about a picture. The model is shown nothing else of the record, so that no text can suggest
/// what it sees.
pub(crate) fn build_prompt(picture: Picture) -> Chat {
    let schema = json!({
        "type": "object",
        "required": ["caption"],
        "properties": { "caption": { "type": "string" } },
        "additionalProperties": false
    });
    let form = ReplyForm {
        name: "caption",
        schema,
    };
    Chat {
        form: Some(form),
        ..Chat::new(ModelRole::See, SYSTEM, "The picture:".to_owned()).with_picture(picture)
    }
}

/// Returns the SHA-256 of the URI of a record's picture, in hexadecimal; of the empty URI if there is no picture. The
/// picture at the URI may change, but the description stays with the URI, because a record never changes.
pub(crate) fn picture_digest(record: &Record) -> String {
    let uri = record.image_uri.as_deref().unwrap_or_default();
    let digest = Sha256::digest(format!("picture\n{uri}").as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use domain::port::ChatMessage;

    use super::*;

    #[test]
    fn a_prompt_shows_the_picture_and_nothing_else_of_a_record() {
        let picture = Picture::new(b"GIF89a fern".to_vec()).unwrap();
        let chat = build_prompt(picture.clone());
        assert_eq!(chat.role, ModelRole::See);
        let user = ChatMessage::User {
            text: "The picture:".to_owned(),
            pictures: vec![picture],
        };
        assert_eq!(chat.messages[1], user);
        assert_eq!(chat.messages.len(), 2);
        assert_eq!(chat.form.unwrap().schema["required"], json!(["caption"]));
    }
}

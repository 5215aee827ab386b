//! The content of a chat message: a text, or a list of parts.

use serde_json::Value;

use crate::use_cases::validate;

/// Maximum number of content parts and of tool calls in one message.
pub(super) const PARTS_MAX: usize = 256;

/// Text and picture of a message.
#[derive(Default)]
pub(super) struct Content {
    /// The texts of all parts, each on its own line.
    pub(super) text: String,
    /// Address of the first picture that a record can hold.
    pub(super) image: Option<String>,
}

impl Content {
    /// Returns true if there is nothing to store.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.image.is_none()
    }

    /// Parses the content of a message: null, a text, or a list of parts. Parts that are neither texts nor pictures are
    /// left out, and so are pictures with an address that is too long for a record.
    ///
    /// # Errors
    /// Names the place of the invalid value in the message, after a `.`.
    pub(super) fn from_json(content: Value) -> Result<Content, String> {
        match content {
            Value::Null => Ok(Content::default()),
            Value::String(text) => Ok(Content { text, image: None }),
            Value::Array(parts) => Content::of_parts(parts),
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                Err(".content: is neither a text nor a list of parts".to_owned())
            }
        }
    }

    fn of_parts(parts: Vec<Value>) -> Result<Content, String> {
        if parts.len() > PARTS_MAX {
            return Err(format!(".content: has more than {PARTS_MAX} parts"));
        }
        let mut content = Content::default();
        for (index, part) in parts.iter().enumerate() {
            if let Some(text) = part.as_str().or_else(|| text_part(part)) {
                if !content.text.is_empty() {
                    content.text.push('\n');
                }
                content.text.push_str(text);
                continue;
            }
            if let Some(uri) = image_part(part) {
                if uri.len() <= validate::uri_bytes_max(uri) {
                    content.image.get_or_insert_with(|| uri.to_owned());
                }
                continue;
            }
            if part.get("type").and_then(Value::as_str).is_none() {
                return Err(format!(".content[{index}]: has no type"));
            }
        }
        Ok(content)
    }
}

/// Returns the text of a part; `None` if the part is not a text.
fn text_part(part: &Value) -> Option<&str> {
    match part.get("type")?.as_str()? {
        "text" | "input_text" | "output_text" => part.get("text")?.as_str(),
        "refusal" => part.get("refusal")?.as_str(),
        _ => None,
    }
}

/// Returns the address of the picture in a part; `None` if the part is not a picture.
fn image_part(part: &Value) -> Option<&str> {
    let kind = part.get("type")?.as_str()?;
    if !matches!(kind, "image_url" | "input_image" | "image") {
        return None;
    }
    let place = part.get("image_url").or_else(|| part.get("image"))?;
    place.as_str().or_else(|| place.get("url")?.as_str())
}

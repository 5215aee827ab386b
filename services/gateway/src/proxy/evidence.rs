//! Evidence for a message: the pack of a query without an answer, or the reason why there is none.

use domain::id::SpaceId;
use tracing::{Instrument, info_span};

use super::request::ChatRequest;
use crate::api::problem::Problem;
use crate::api::{Budget, QueryRequest};
use crate::app::state::App;
use crate::use_cases::query::{self, QueryContext, memory_block};

/// Evidence for a message.
pub(super) enum Evidence {
    Found {
        /// The block in the prompt.
        block: String,
        lines: usize,
        tokens: u32,
    },
    /// No evidence, with the reason.
    None(&'static str),
}

impl Evidence {
    /// Returns the value of the response header.
    pub(super) fn header_value(&self) -> String {
        match self {
            Evidence::Found { lines, tokens, .. } => format!("lines={lines} tokens={tokens}"),
            Evidence::None(reason) => format!("none; {reason}"),
        }
    }

    /// Returns the block, if there is one.
    pub(super) fn block(&self) -> Option<&str> {
        match self {
            Evidence::Found { block, .. } => Some(block),
            Evidence::None(_) => None,
        }
    }
}

/// Queries the memory with the last text of the user, within the share of questions of the key `by`. A failure here
/// does not stop the chat.
pub(super) async fn gather_evidence(
    app: &App,
    by: &str,
    space: &SpaceId,
    request: &ChatRequest,
    trace_id: String,
) -> Evidence {
    let settings = &app.config.proxy;
    let tokens = settings.evidence_tokens.min(app.config.pack_tokens_max);
    if tokens == 0 {
        return Evidence::None("switched off");
    }
    let question = request
        .last_user_text()
        .map(|it| message_to_question(it, app.config.question_bytes_max));
    let Some(question) = question.filter(|it| !it.is_empty()) else {
        return Evidence::None("no text of a user");
    };
    let query = QueryRequest {
        question: question.clone(),
        verbatim: true,
        budget: Budget {
            tokens,
            ms: Some(settings.evidence_ms.min(app.config.request_ms_max)),
            ..Budget::default()
        },
        ..QueryRequest::default()
    };
    let context = QueryContext {
        request: query,
        trace_id,
        steps: None,
    };
    let pack = query::find_evidence(app, by, space, context)
        .instrument(info_span!("evidence"))
        .await;
    match pack {
        Ok(pack) if pack.items.is_empty() => Evidence::None("nothing found"),
        Ok(pack) => Evidence::Found {
            block: memory_block::write_block(&question, &query::text_of(&pack)),
            lines: pack.items.len(),
            tokens: pack.tokens,
        },
        Err(problem) => Evidence::None(failure_reason(&problem)),
    }
}

/// Returns a message as a question: without recalled lines and control characters, cut to the maximum length of a
/// question.
fn message_to_question(message_text: &str, bytes_max: usize) -> String {
    let message_text = replace_control_characters(&memory_block::cut_blocks(message_text));
    message_text[..message_text.floor_char_boundary(bytes_max)]
        .trim()
        .to_owned()
}

/// Returns a text with spaces instead of the control characters that records and questions must not contain.
pub(super) fn replace_control_characters(text: &str) -> String {
    let refused = |it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\t');
    text.replace(refused, " ")
}

fn failure_reason(problem: &Problem) -> &'static str {
    match problem.status {
        404 => "no such space",
        429 => "too many questions at once",
        503 => "memory cannot be reached",
        504 => "memory took too long",
        _ => "memory failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_becomes_a_question_of_limited_length() {
        assert_eq!(message_to_question(" Where is\u{7} Ann? ", 100), "Where is  Ann?");
        assert_eq!(message_to_question("ééé", 5), "éé");
        let block = memory_block::write_block("q", "Ann: I moved to Oslo.");
        assert_eq!(message_to_question(&format!("{block}\nIs it?"), 100), "Is it?");
    }
}

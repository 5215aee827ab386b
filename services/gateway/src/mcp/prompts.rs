//! Prompts for agents that use their own model.

use rmcp::model::{ErrorData, GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptMessage, Role};

/// Name of the prompt that describes when to search the memory, how, and how to use the results.
const RECALL_PROTOCOL: &str = "recall_protocol";
const DESCRIPTION: &str = "When to look in the memory without being asked, how to walk through it, what to bring up \
    and when to stay silent. For the system prompt of an agent that has the tools of this server.";
static TEXT: &str = include_str!("../../prompts/recall_protocol.txt");

/// Returns the list of prompts.
pub(super) fn list_prompts() -> ListPromptsResult {
    let protocol = Prompt::new(RECALL_PROTOCOL, Some(DESCRIPTION), None).with_title("Recall protocol");
    ListPromptsResult::with_all_items(vec![protocol])
}

/// Returns the text of a prompt.
///
/// # Errors
/// An unknown name, or arguments: no prompt accepts any.
pub(super) fn get_prompt(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    if request.name != RECALL_PROTOCOL {
        let lack = format!("name: there is no such prompt; the only prompt is `{RECALL_PROTOCOL}`");
        return Err(ErrorData::invalid_params(lack, None));
    }
    if request.arguments.as_ref().is_some_and(|it| !it.is_empty()) {
        let lack = format!("arguments: `{RECALL_PROTOCOL}` takes no arguments; leave them out");
        return Err(ErrorData::invalid_params(lack, None));
    }
    let message = PromptMessage::new_text(Role::User, TEXT);
    Ok(GetPromptResult::new(vec![message]).with_description(DESCRIPTION))
}

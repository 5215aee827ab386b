//! The tools that are requests of the API, and the conversion of their arguments.

use std::sync::Arc;
use std::time::Duration;

use domain::evidence::AnswerStyle;
use domain::filter::TagFilter;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::schemas::{self, ApiTool};
use super::{Memory, error_result, result_json, result_text, text_result};
use crate::api::problem::Problem;
use crate::api::{Budget, Filter, NewCuration, QueryRequest, RecallBudget, RecallRequest, Strategy, at_path};
use crate::app::config::Right;
use crate::app::watermark;
use crate::use_cases::write::accept;
use crate::use_cases::write::curate;
use crate::use_cases::{query, recall};

/// Longest time that `remember` waits until its records are searchable.
const SEARCHABLE_IN: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remember {
    text: Option<String>,
    records: Option<Vec<Value>>,
    messages: Option<Value>,
    session: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    question: String,
    #[serde(default = "usual_tokens")]
    tokens: u32,
    #[serde(default)]
    strategy: Strategy,
    #[serde(default)]
    style: AnswerStyle,
    #[serde(default)]
    model_calls: u32,
    #[serde(default = "default_verbatim")]
    verbatim: bool,
    #[serde(default)]
    as_of: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recall {
    message: String,
    #[serde(default)]
    actor: String,
    #[serde(default = "usual_session")]
    session: String,
    #[serde(default = "usual_limit")]
    limit: u32,
    #[serde(default)]
    sensitive: bool,
    #[serde(default)]
    model_calls: u32,
    #[serde(default)]
    tags: Vec<String>,
}

fn usual_session() -> String {
    RecallRequest::default().session
}

fn usual_limit() -> u32 {
    RecallRequest::default().limit
}

fn default_verbatim() -> bool {
    true
}

fn usual_tokens() -> u32 {
    Budget::default().tokens
}

impl ApiTool {
    pub(super) const ALL: [ApiTool; 4] = [ApiTool::Remember, ApiTool::Ask, ApiTool::Recall, ApiTool::Curate];

    pub(super) fn from_name(name: &str) -> Option<ApiTool> {
        ApiTool::ALL.into_iter().find(|it| it.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            ApiTool::Remember => "remember",
            ApiTool::Ask => "ask",
            ApiTool::Recall => "recall",
            ApiTool::Curate => "curate",
        }
    }

    /// Returns the right that a key needs.
    pub(super) fn required_right(self) -> Right {
        match self {
            ApiTool::Ask | ApiTool::Recall => Right::Read,
            ApiTool::Remember | ApiTool::Curate => Right::Write,
        }
    }

    pub(super) fn tool_definition(self) -> Tool {
        let annotations = match self {
            ApiTool::Ask => ToolAnnotations::new().read_only(true),
            // Recall does not repeat hints, and a record without id and time is a new one each time, so these tools are
            // not idempotent.
            ApiTool::Recall | ApiTool::Curate | ApiTool::Remember => ToolAnnotations::new().destructive(false),
        };
        let tool = Tool::new(
            self.name(),
            schemas::tool_description(self),
            schemas::argument_schema(self),
        );
        let tool = tool.with_annotations(annotations);
        match schemas::result_schema(self) {
            Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
            None => tool,
        }
    }

    /// Runs the tool; an invalid call returns an error for the model.
    pub(super) async fn call_tool(self, memory: &Memory, arguments: Value) -> CallToolResult {
        let outcome = match memory.access.require_right(self.required_right()) {
            Err(problem) => Err(problem),
            Ok(()) => match self {
                ApiTool::Remember => remember_records(memory, arguments).await,
                ApiTool::Ask => ask_question(memory, arguments).await,
                ApiTool::Recall => recall_hints(memory, arguments).await,
                ApiTool::Curate => curate_memory(memory, arguments).await,
            },
        };
        outcome.unwrap_or_else(|problem| error_result(result_text::problem_to_text(&problem)))
    }
}

async fn remember_records(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let Remember {
        text,
        records,
        messages,
        session,
        tags,
    } = parse_arguments(arguments)?;
    let messages = match text {
        None if records.is_none() && messages.is_none() => {
            return Err(Problem::invalid_request(
                "text: is missing; give either text, or messages, or records",
            ));
        }
        None => messages,
        Some(text) if records.is_none() && messages.is_none() => Some(Value::String(text)),
        Some(_) => {
            return Err(Problem::invalid_request(
                "text: cannot be combined; give either text, or messages, or records",
            ));
        }
    };
    let input = accept::WriteInput {
        records,
        messages,
        session,
    };
    let mut request = input.into_records()?;
    add_tags(&mut request.records, &tags);
    let Memory { app, space, access, .. } = memory;
    let accepted = accept::accept_request(app, access, space, request, None).await?;
    let position = watermark::to_position(app, space, &accepted.watermark).await?;
    // The records are stored, whatever the result of the wait.
    let searchable = query::wait_written(app, space, position, SEARCHABLE_IN).await;
    let searchable = searchable.unwrap_or(false);
    let words = text_result(result_text::accepted_to_text(&accepted, searchable));
    Ok(with_data(words, result_json::accepted_to_json(&accepted, searchable)))
}

/// Adds tags to the records that have none.
fn add_tags(records: &mut [Value], tags: &[String]) {
    for record in records.iter_mut().filter_map(Value::as_object_mut) {
        if !tags.is_empty() {
            record.entry("tags").or_insert_with(|| json!(tags));
        }
    }
}

fn any_of(tags: Vec<String>) -> TagFilter {
    TagFilter {
        any: tags,
        ..TagFilter::default()
    }
}

async fn ask_question(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let ask: Ask = parse_arguments(arguments)?;
    memory.extend_limit(ask.model_calls);
    let request = QueryRequest {
        question: ask.question,
        strategy: ask.strategy,
        as_of: ask.as_of,
        answer: true,
        style: ask.style,
        verbatim: ask.verbatim,
        filter: Filter {
            tags: any_of(ask.tags),
            ..Filter::default()
        },
        budget: Budget {
            tokens: ask.tokens,
            model_calls: ask.model_calls,
            ..Budget::default()
        },
        ..QueryRequest::default()
    };
    let ask = query::QueryContext {
        request,
        trace_id: memory.trace_id.clone(),
        steps: None,
    };
    let response = query::answer_question(&memory.app, memory.access.name(), &memory.space, ask).await?;
    // User text is in a separate block, so that it cannot be mistaken for statements of the memory.
    let data = result_json::answer_to_json(&response);
    let mut blocks = vec![ContentBlock::text(result_text::answer_to_text(&response))];
    if !response.pack.text.is_empty() {
        blocks.push(ContentBlock::text(response.pack.text));
    }
    Ok(with_data(CallToolResult::success(blocks), data))
}

async fn recall_hints(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let recall_arguments: Recall = parse_arguments(arguments)?;
    memory.extend_limit(recall_arguments.model_calls);
    let request = RecallRequest {
        message: recall_arguments.message,
        actor: recall_arguments.actor,
        session: recall_arguments.session,
        limit: recall_arguments.limit,
        sensitive: recall_arguments.sensitive,
        filter: domain::filter::Filter {
            tags: any_of(recall_arguments.tags),
            metadata: None,
        },
        budget: RecallBudget {
            model_calls: recall_arguments.model_calls,
            ..RecallBudget::default()
        },
        ..RecallRequest::default()
    };
    let recall_arguments = recall::RecallContext {
        request,
        by: memory.access.name().to_owned(),
        trace_id: memory.trace_id.clone(),
    };
    let response = recall::recall_hints(&memory.app, &memory.space, recall_arguments).await?;
    Ok(with_data(
        text_result(result_text::hints_to_text(&response)),
        result_json::hints_to_json(&response),
    ))
}

/// Adds the result as data, for programs.
fn with_data(mut result: CallToolResult, data: Value) -> CallToolResult {
    result.structured_content = Some(data);
    result
}

async fn curate_memory(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let new: NewCuration = parse_arguments(arguments)?;
    // A tool may only make decisions that can be undone.
    if curate::required_right(&new.act) == Right::Admin {
        return Err(Problem::invalid_request(
            "act: this tool does nothing that cannot be undone; the operator of this memory can erase a record",
        ));
    }
    let done = curate::accept_act(&memory.app, &memory.space, new, memory.access.name(), None).await?;
    Ok(text_result(result_text::curated_to_text(&done)))
}

/// Parses arguments; the error names the path of the invalid value.
pub(super) fn parse_arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|error| Problem::invalid_request(at_path(&error.path().to_string(), error.inner())))
}

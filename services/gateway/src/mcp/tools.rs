//! The tools that are requests of the API, and the conversion of their arguments.

use std::sync::Arc;
use std::time::Duration;

use domain::evidence::AnswerStyle;
use domain::filter::TagFilter;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Memory, failed, said, schemas, structured, told};
use crate::api::{Budget, Filter, NewCuration, QueryRequest, RecallBudget, RecallRequest, Strategy};
use crate::config::Right;
use crate::extract::at_path;
use crate::problem::Problem;
use crate::{accept, curate, query, recall, watermark};

/// Longest wait of `remember` until its records are searchable.
const SEARCHABLE_IN: Duration = Duration::from_secs(2);

/// A request of the API as a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// `POST .../records`.
    Remember,
    /// `POST .../query`.
    Ask,
    /// `POST .../recall`.
    Recall,
    /// `POST .../curations`.
    Curate,
}

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
    #[serde(default = "yes")]
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

fn yes() -> bool {
    true
}

fn usual_tokens() -> u32 {
    Budget::default().tokens
}

impl Own {
    pub(super) const ALL: [Own; 4] = [Own::Remember, Own::Ask, Own::Recall, Own::Curate];

    pub(super) fn named(name: &str) -> Option<Own> {
        Own::ALL.into_iter().find(|it| it.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Own::Remember => "remember",
            Own::Ask => "ask",
            Own::Recall => "recall",
            Own::Curate => "curate",
        }
    }

    /// Returns the right that a key needs.
    pub(super) fn right(self) -> Right {
        match self {
            Own::Ask | Own::Recall => Right::Read,
            Own::Remember | Own::Curate => Right::Write,
        }
    }

    pub(super) fn tool(self) -> Tool {
        let annotations = match self {
            Own::Ask => ToolAnnotations::new().read_only(true),
            // Recall does not repeat hints, and a record without id and time is a new one each time, so these tools are
            // not idempotent.
            Own::Recall | Own::Curate | Own::Remember => ToolAnnotations::new().destructive(false),
        };
        let tool = Tool::new(self.name(), schemas::description(self), schemas::arguments(self));
        let tool = tool.with_annotations(annotations);
        match schemas::result(self) {
            Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
            None => tool,
        }
    }

    /// Runs the tool; an invalid call returns an error for the model.
    pub(super) async fn call(self, memory: &Memory, arguments: Value) -> CallToolResult {
        let outcome = match memory.access.demand(self.right()) {
            Err(problem) => Err(problem),
            Ok(()) => match self {
                Own::Remember => remember(memory, arguments).await,
                Own::Ask => ask(memory, arguments).await,
                Own::Recall => recalled(memory, arguments).await,
                Own::Curate => curated(memory, arguments).await,
            },
        };
        outcome.unwrap_or_else(|problem| failed(told::problem(&problem)))
    }
}

async fn remember(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let Remember {
        text,
        records,
        messages,
        session,
        tags,
    } = read(arguments)?;
    let messages = match text {
        None if records.is_none() && messages.is_none() => {
            return Err(Problem::invalid(
                "text: is missing; give either text, or messages, or records",
            ));
        }
        None => messages,
        Some(text) if records.is_none() && messages.is_none() => Some(Value::String(text)),
        Some(_) => {
            return Err(Problem::invalid(
                "text: stands alone; give either text, or messages, or records",
            ));
        }
    };
    let given = accept::Given {
        records,
        messages,
        session,
    };
    let mut records = given.records()?.records;
    tag(&mut records, &tags);
    let Memory { app, space, access, .. } = memory;
    let accepted = accept::accept(app, access, space, records, None).await?;
    let position = watermark::parse(app, space, &accepted.watermark).await?;
    // The records are stored, whatever the result of the wait.
    let searchable = query::wait_written(app, space, position, SEARCHABLE_IN).await;
    let searchable = searchable.unwrap_or(false);
    let words = said(told::accepted(&accepted, searchable));
    Ok(with_data(words, structured::accepted(&accepted, searchable)))
}

/// Adds tags to the records that have none.
fn tag(records: &mut [Value], tags: &[String]) {
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

async fn ask(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let asked: Ask = read(arguments)?;
    let request = QueryRequest {
        question: asked.question,
        strategy: asked.strategy,
        as_of: asked.as_of,
        answer: true,
        style: asked.style,
        verbatim: asked.verbatim,
        filter: Filter {
            tags: any_of(asked.tags),
            ..Filter::default()
        },
        budget: Budget {
            tokens: asked.tokens,
            model_calls: asked.model_calls,
            ..Budget::default()
        },
        ..QueryRequest::default()
    };
    let asked = query::Asked {
        request,
        trace_id: memory.trace_id.clone(),
        steps: None,
    };
    let response = query::ask(&memory.app, memory.access.name(), &memory.space, asked).await?;
    // User text is in a block of its own, so that it cannot be mistaken for statements of the memory.
    let data = structured::answer(&response);
    let mut blocks = vec![ContentBlock::text(told::answer(&response))];
    if !response.pack.text.is_empty() {
        blocks.push(ContentBlock::text(response.pack.text));
    }
    Ok(with_data(CallToolResult::success(blocks), data))
}

async fn recalled(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let asked: Recall = read(arguments)?;
    let request = RecallRequest {
        message: asked.message,
        actor: asked.actor,
        session: asked.session,
        limit: asked.limit,
        sensitive: asked.sensitive,
        filter: domain::filter::Filter {
            tags: any_of(asked.tags),
            metadata: None,
        },
        budget: RecallBudget {
            model_calls: asked.model_calls,
            ..RecallBudget::default()
        },
        ..RecallRequest::default()
    };
    let asked = recall::Asked {
        request,
        by: memory.access.name().to_owned(),
        trace_id: memory.trace_id.clone(),
    };
    let response = recall::recall(&memory.app, &memory.space, asked).await?;
    Ok(with_data(said(told::hints(&response)), structured::hints(&response)))
}

/// Adds the result as data, for programs.
fn with_data(mut result: CallToolResult, data: Value) -> CallToolResult {
    result.structured_content = Some(data);
    result
}

async fn curated(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let new: NewCuration = read(arguments)?;
    // A tool may only make decisions that can be undone.
    if curate::right(&new.act) == Right::Admin {
        return Err(Problem::invalid(
            "act: what cannot be undone is not done here; whoever runs this memory can erase a record",
        ));
    }
    let by = (memory.access.name(), None);
    let done = curate::curate(&memory.app, &memory.space, new, by).await?;
    Ok(said(told::curated(&done)))
}

/// Parses arguments; the error names the path of the invalid value.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|error| Problem::invalid(at_path(&error.path().to_string(), error.inner())))
}

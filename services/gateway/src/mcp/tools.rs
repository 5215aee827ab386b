//! The tools that are requests of the API: what a model is told of them, and how their arguments become such a request.

use std::time::Duration;

use domain::evidence::AnswerStyle;
use domain::filter::TagFilter;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Memory, failed, object, said, told};
use crate::api::{Budget, Filter, NewCuration, QueryRequest, RecallBudget, RecallRequest, Strategy};
use crate::config::Right;
use crate::extract::at_path;
use crate::problem::Problem;
use crate::query::MODEL_CALLS_MAX;
use crate::{accept, curate, query, recall, watermark};

/// Time `remember` waits for what it took to be searchable.
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
            // Hints that were said are not said again, and a record without id and time is a new one each time.
            Own::Recall | Own::Curate | Own::Remember => ToolAnnotations::new().read_only(false).destructive(false),
        };
        Tool::new(self.name(), self.description(), object(self.schema()))
            .with_annotations(annotations.open_world(false))
    }

    fn description(self) -> &'static str {
        match self {
            Own::Remember => {
                "Keeps what was said or done, word for word, and makes it searchable. Give `text` (of the user), or chat \
                 `messages`, or `records` with who said it and when; do not summarise. A record with an `id` or `observed_at` \
                 that comes twice is kept once."
            }
            Own::Ask => {
                "Answers a question from the memory: a verdict, a short answer if the evidence supports one, and the dated \
                 evidence itself inside a budget of tokens. Says so when nothing is known, instead of guessing."
            }
            Own::Recall => {
                "Says what the memory holds that a message makes worth saying unasked: a wish, a contradiction, something \
                 planned. Mostly there is nothing. What was said in a session is not said again there."
            }
            Own::Curate => {
                "Decides something about the memory, with a trace in the audit log: correct or retire a fact, pin or forget a \
                 unit, undo a merge or an earlier act. Ids come from the other tools. Everything can be undone."
            }
        }
    }

    /// Returns the JSON schema of the arguments.
    fn schema(self) -> Value {
        match self {
            Own::Remember => json!({
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "What the user said."},
                    "messages": {"type": "array", "items": {"type": "object"}, "description": "Chat messages: role, content, name."},
                    "session": {"type": "string", "description": "Name of the conversation of text and messages."},
                    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 32, "description": "Tags of all that is given; a record may have its own `tags` instead."},
                    "records": {"type": "array", "minItems": 1, "description": "In the order in which it happened.", "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "description": "What was said or done, as it was; may be left out beside an image_caption or a tool."},
                        "actor": {"type": "string", "description": "Who said or did it, by name."},
                        "observed_at": {"type": "string", "description": "When, RFC 3339; now if left out. Relative times in the text count from it."},
                        "session": {"type": "string", "description": "Name of the conversation it belongs to; `default` if left out."},
                        "ordinal": {"type": "integer", "minimum": 0, "description": "Orders what happened at the same moment."},
                        "id": {"type": "string", "description": "Your id, unique in the space; derived if left out."},
                        "image_caption": {"type": "string", "description": "What a shared image shows, in words."},
                        "tool": {
                            "type": "object",
                            "description": "A tool that was called.",
                            "properties": {
                                "name": {"type": "string"},
                                "arguments": {"description": "What it was called with, any JSON."},
                                "result": {"description": "What it gave, any JSON."},
                            },
                            "required": ["name"],
                        },
                        "metadata": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Kept beside the record."},
                    },
                }}},
                "minProperties": 1,
                "additionalProperties": false,
            }),
            Own::Ask => json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string", "description": "The question, with names instead of pronouns."},
                    "tokens": {"type": "integer", "minimum": 1, "default": Budget::default().tokens, "description": "Most tokens of evidence."},
                    "strategy": {"type": "string", "enum": Strategy::ALL, "default": Strategy::default(), "description": "How evidence is sought; `route` is best for most questions."},
                    "style": {"type": "string", "enum": AnswerStyle::ALL, "default": AnswerStyle::default(), "description": "With `model_calls`: `short` is a few words that the evidence says, `infer` also concludes, `free` writes a few sentences."},
                    "model_calls": {"type": "integer", "minimum": 0, "maximum": MODEL_CALLS_MAX, "default": 0, "description": "Most calls of this server's own language model, if it has one; with 0 none answers."},
                    "verbatim": {"type": "boolean", "default": true, "description": "With `model_calls`: only evidence word for word; false lets lines that a language model wrote of what was said stand for it."},
                    "as_of": {"type": "string", "description": "Only what was known at this moment, RFC 3339."},
                    "tags": {"type": "array", "items": {"type": "string"}, "description": "Only what was kept with at least one of these tags."},
                },
                "required": ["question"],
                "additionalProperties": false,
            }),
            Own::Recall => json!({
                "type": "object",
                "properties": {
                    "message": {"type": "string", "description": "The message, as it came."},
                    "actor": {"type": "string", "description": "Who says it, by name."},
                    "session": {"type": "string", "description": "Name of the conversation; `default` if left out."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3, "description": "Hints wanted at most."},
                    "sensitive": {"type": "boolean", "default": false, "description": "Whether health, money, faith, love, law and grief may be spoken of."},
                    "model_calls": {"type": "integer", "minimum": 0, "maximum": MODEL_CALLS_MAX, "default": 0, "description": "Most calls of this server's own language model, if it has one; with 0 rules alone decide what is worth saying."},
                    "tags": {"type": "array", "items": {"type": "string"}, "description": "Only hints on what was kept with at least one of these tags."},
                },
                "required": ["message"],
                "additionalProperties": false,
            }),
            Own::Curate => acts(),
        }
    }

    /// Does what the tool does; what cannot be used is told to the model.
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

/// What can be decided here is what can be undone.
fn acts() -> Value {
    let act = |kind: &str, about: &[&str]| {
        let mut properties = json!({"kind": {"const": kind}});
        for name in about {
            properties[*name] = json!({"type": "string"});
        }
        let required: Vec<&str> = [&["kind"], about].concat();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    json!({
        "type": "object",
        "properties": {
            "act": {"description": "What is to be done.", "oneOf": [
                act("correct_fact", &["fact", "object"]),
                act("retire_fact", &["fact"]),
                act("pin_unit", &["unit"]),
                act("forget_unit", &["unit"]),
                act("undo_merge", &["merge"]),
                act("undo", &["curation"]),
            ]},
            "reason": {"type": "string", "description": "Why, in words."},
        },
        "required": ["act"],
        "additionalProperties": false,
    })
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
    let Memory { app, space, .. } = memory;
    let accepted = accept::accept(app, space, records, None).await?;
    let position = watermark::parse(app, space, &accepted.watermark).await?;
    // It is kept, whatever comes of the wait.
    let searchable = query::wait_written(app, space, position, SEARCHABLE_IN).await;
    let searchable = searchable.unwrap_or(false);
    Ok(said(told::accepted(&accepted, searchable)))
}

/// Gives tags to the records that name none.
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
    // What people said is a block of its own, so that nothing in it can pass for what the memory says of it.
    let mut blocks = vec![ContentBlock::text(told::answer(&response))];
    if !response.pack.text.is_empty() {
        blocks.push(ContentBlock::text(response.pack.text));
    }
    Ok(CallToolResult::success(blocks))
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
    Ok(said(told::hints(&response)))
}

async fn curated(memory: &Memory, arguments: Value) -> Result<CallToolResult, Problem> {
    let new: NewCuration = read(arguments)?;
    if curate::right(&new.act) == Right::Admin {
        return Err(Problem::invalid(
            "act: what cannot be undone is not done here; whoever runs this memory can erase a record",
        ));
    }
    let by = (memory.access.name(), None);
    let done = curate::curate(&memory.app, &memory.space, new, by).await?;
    Ok(said(told::curated(&done)))
}

/// Reads arguments; what does not fit is named by its path.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|error| Problem::invalid(at_path(&error.path().to_string(), error.inner())))
}

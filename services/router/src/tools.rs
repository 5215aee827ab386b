//! Tool calls (function calling): the tools that a model may call to explore a space. There is one catalogue, and one
//! file for each paper that they come from. A call with bad arguments gets an error in its result; the request does not
//! fail. Every list is bounded and has one order.

mod arguments;
mod compassmem;
mod entity_contexts;
mod json_output;
mod memcog;
mod mragent;
mod remem;
mod time_filter;

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::code::ToolCode;
use domain::id::{SpaceId, UnitId};
use domain::message::{QueryFilter, ToolErrorV1, ToolSpecV1, ToolV1, ToolledV1};
use domain::{Classify, ErrorKind, PortError};
use serde_json::Value;
use tracing::{Instrument, info_span, warn};

use crate::error::{Error, to_port_error};
use crate::route;
use crate::service::Router;
use crate::service::view_cache::SpaceSnapshot;
use crate::space::memory::{Memory, MemoryAsOf};
use crate::space::scope::Scope;
use crate::space::view::View;

/// Maximum number of relations that are read for one unit.
const RELATIONS_MAX: usize = 200;

/// The result of a tool.
type Outcome = Result<Value, ToolErrorV1>;

/// A space that a tool reads.
#[derive(Clone)]
struct Look {
    space: SpaceId,
    view: Arc<View>,
    memory: Arc<Memory>,
    as_of: Option<DateTime<Utc>>,
    /// The filter of the call; a search of the index is limited to its times.
    filter: QueryFilter,
    /// The turns that the filter and the labels of the call select; `None` if they select all.
    scope: Option<Arc<Scope>>,
    /// The moment against which relative times are resolved: `as_of`, else the latest observation.
    now: DateTime<FixedOffset>,
}

impl Look {
    fn known_memory(&self) -> MemoryAsOf<'_> {
        self.memory.known_at(self.as_of).with_scope(self.scope.as_deref())
    }
}

/// Returns the tools, sorted by name.
pub fn tool_catalogue() -> Vec<ToolSpecV1> {
    let mut all: Vec<ToolSpecV1> = [
        remem::tool_specs(),
        mragent::tool_specs(),
        memcog::tool_specs(),
        compassmem::tool_specs(),
    ]
    .concat();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

impl Router {
    /// Calls a tool of the catalogue. Bad arguments, missing objects and failing stores are reported as an error in the
    /// result.
    ///
    /// # Errors
    /// `NotFound` if the space does not exist.
    pub async fn call_tool(&self, call: ToolV1) -> Result<ToolledV1, Error> {
        let outcome = match self.run_tool_call(call).await? {
            Ok(result) => ToolledV1 {
                result: Some(result),
                error: None,
            },
            Err(error) => ToolledV1 {
                result: None,
                error: Some(error),
            },
        };
        Ok(outcome)
    }

    async fn run_tool_call(&self, mut call: ToolV1) -> Result<Outcome, Error> {
        let Some(tool) = find_tool(&call.name) else {
            return Ok(Err(unknown_tool_error()));
        };
        let snapshot = match self.read_space(&call.space).await {
            Ok(snapshot) => snapshot,
            Err(Error::Port(error)) => return Ok(Err(port_error_to_tool_error(&error))),
            Err(error) => return Err(error),
        };
        let (name, arguments) = (std::mem::take(&mut call.name), std::mem::take(&mut call.arguments));
        let opened = tokio::task::spawn_blocking(move || Look::from_snapshot(snapshot, call, tool));
        let look = match opened.await {
            Ok(look) => look,
            Err(error) => return Ok(Err(port_error_to_tool_error(&to_port_error(error)))),
        };
        Ok(self
            .run_tool(&look, tool, arguments)
            .instrument(info_span!("tool", name))
            .await)
    }

    async fn run_tool(&self, look: &Look, tool: Tool, arguments: Value) -> Outcome {
        let (Tool::Search(..) | Tool::Related(..)) = tool else {
            return run_in_memory(look, tool, StoreResults::default(), arguments).await;
        };
        let found = match tool {
            Tool::Search(by) => remem::search_index(self.backends(), look, by, &arguments).await?,
            Tool::Related(_) | Tool::Pure(_) => {
                let units = look.units_in_arguments(&arguments);
                let graph = &self.backends().graph;
                let relations = graph.relations(&look.space, &units, RELATIONS_MAX).await;
                StoreResults {
                    relations: relations.map_err(|it| port_error_to_tool_error(&it))?,
                    ..StoreResults::default()
                }
            }
        };
        run_in_memory(look, tool, found, arguments).await
    }
}

/// Data that the stores returned for a tool.
#[derive(Default)]
struct StoreResults {
    hits: Vec<(UnitId, f32)>,
    relations: Vec<domain::relation::Relation>,
}

/// A tool, by the data that it needs in addition to the space and its arguments.
#[derive(Clone, Copy)]
enum Tool {
    /// The tool needs no other data.
    Pure(fn(&Look, Value) -> Outcome),
    /// The tool needs hits of the index.
    Search(remem::SearchKind),
    /// The tool needs the relations of the units in its arguments.
    Related(fn(&Look, StoreResults, Value) -> Outcome),
}

fn find_tool(name: &str) -> Option<Tool> {
    Some(match name {
        "semantic_retrieve" => Tool::Search(remem::SearchKind::Meaning),
        "lexical_retrieve" => Tool::Search(remem::SearchKind::Words),
        "find_gist_contexts" => Tool::Related(remem::gist_contexts),
        "expand_unit" => Tool::Related(compassmem::expand_unit),
        "find_entity_contexts" => Tool::Pure(entity_contexts::find_entity_contexts),
        "query_tag_events" => Tool::Pure(mragent::tag_events),
        "query_conversation_time" => Tool::Pure(mragent::conversation_time),
        "query_event_keywords" => Tool::Pure(mragent::event_keywords),
        "query_event_context" => Tool::Pure(mragent::event_context),
        "query_topic_events" => Tool::Pure(mragent::topic_events),
        "query_personal_information" => Tool::Pure(mragent::person::personal_information),
        "query_personal_aspect" => Tool::Pure(mragent::person::personal_aspect),
        "list_dimensions" => Tool::Pure(memcog::list_dimensions),
        "browse_dimension" => Tool::Pure(memcog::browse_dimension),
        "read_page" => Tool::Pure(memcog::read_page),
        "follow_link" => Tool::Pure(memcog::follow_link),
        _ => return None,
    })
}

/// Runs a tool over the data in memory, off the async runtime.
async fn run_in_memory(look: &Look, tool: Tool, found: StoreResults, arguments: Value) -> Outcome {
    let look = look.clone();
    let walk = tokio::task::spawn_blocking(move || match tool {
        Tool::Pure(tool) => tool(&look, arguments),
        Tool::Search(by) => remem::retrieve_evidence(&look, by, found, arguments),
        Tool::Related(tool) => tool(&look, found, arguments),
    });
    walk.await
        .unwrap_or_else(|error| Err(port_error_to_tool_error(&to_port_error(error))))
}

impl Look {
    fn from_snapshot(snapshot: SpaceSnapshot, call: ToolV1, tool: Tool) -> Look {
        let SpaceSnapshot {
            view, gists, memory, ..
        } = snapshot;
        let mut scope = Scope::from_query_filter(&view, &call.space, &call.filter, &call.labels);
        if let (Some(scope), Tool::Search(_)) = (&mut scope, tool) {
            scope.list_units_to_search(&gists);
        }
        Look {
            now: call
                .as_of
                .or_else(|| route::latest_observation(&view))
                .unwrap_or_default(),
            as_of: call.as_of.map(|it| it.to_utc()),
            scope: scope.map(Arc::new),
            space: call.space,
            filter: call.filter,
            view,
            memory,
        }
    }
}

fn unknown_tool_error() -> ToolErrorV1 {
    let known: Vec<String> = tool_catalogue().into_iter().map(|it| it.name).collect();
    ToolErrorV1::new(
        ToolCode::UnknownTool,
        format!("there is no such tool; the tools are: {}", known.join(", ")),
    )
}

fn port_error_to_tool_error(error: &PortError) -> ToolErrorV1 {
    warn!(operation = error.operation(), kind = ?error.kind(), "a tool could not be used");
    match error.kind() {
        ErrorKind::Invalid => ToolErrorV1::new(ToolCode::BadArguments, error.detail()),
        ErrorKind::NotFound => ToolErrorV1::new(ToolCode::NotFound, error.detail()),
        ErrorKind::Conflict
        | ErrorKind::Exhausted
        | ErrorKind::Timeout
        | ErrorKind::Unavailable
        | ErrorKind::Damaged
        | ErrorKind::Internal => ToolErrorV1::new(
            ToolCode::Unavailable,
            "the memory did not answer; continue without it, or try again",
        ),
    }
}

//! Pages and facts as resources: a client can attach them to a conversation without a tool call.
//!
//! | address | content |
//! | --- | --- |
//! | `mnemic://SPACE/facts` | the facts, a hundred at a time; `?after=CURSOR` continues |
//! | `mnemic://SPACE/facts/ID` | one fact |
//! | `mnemic://SPACE/pages/ID` | one page |
//!
//! The contents are JSON, as in the API, so user text cannot be mistaken for anything else. Lists and reads pass the
//! same checks of the key as the API.

use domain::fact::Fact;
use domain::id::SpaceId;
use rmcp::model::{
    ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde::Serialize;
use serde_json::json;

use super::{Memory, result_text};
use crate::api::problem::Problem;
use crate::api::{FactFilter, PageFilter, PageHead};
use crate::use_cases::lists::{derived_items, facts, pages};

const SCHEME: &str = "mnemic://";
const JSON: &str = "application/json";
/// Longest title or description of a resource, in characters: clients show them in a list.
const SHOWN_MAX: usize = 200;

/// The target of an address inside a space.
#[derive(Debug, PartialEq, Eq)]
enum Target<'a> {
    Facts { after: Option<&'a str> },
    Fact(&'a str),
    Page(&'a str),
}

/// Returns a page of the resources of a space: first the list of facts, then the pages by id.
///
/// # Errors
/// A cursor of another list; a space that does not exist; a store that does not respond.
pub(super) async fn list_resources(memory: &Memory, cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
    let Memory { app, space, access, .. } = memory;
    let mut resources = Vec::new();
    if cursor.is_none() {
        let facts = Resource::new(format!("{SCHEME}{space}/facts"), "facts")
            .with_title("Facts")
            .with_description("The facts that this memory believes, with the times from and until which they hold.")
            .with_mime_type(JSON);
        resources.push(facts);
    }
    let filter = PageFilter {
        after: cursor,
        ..PageFilter::default()
    };
    let listed = pages::list_pages(app, access, space.as_str(), &filter).await;
    let listed = listed.map_err(|problem| error_from_problem(&problem, None))?;
    resources.extend(listed.items.into_iter().map(|it| page_resource(space, it)));
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = listed.next;
    Ok(result)
}

fn page_resource(space: &SpaceId, page: PageHead) -> Resource {
    Resource::new(format!("{SCHEME}{space}/pages/{}", page.id), page.id.to_string())
        .with_title(shorten_to_line(&page.title))
        .with_description(shorten_to_line(&page.summary))
        .with_mime_type(JSON)
}

/// Returns a text of the memory on one line, cut to [`SHOWN_MAX`] characters.
fn shorten_to_line(text: &str) -> String {
    result_text::one_line(text).chars().take(SHOWN_MAX).collect()
}

/// Returns the templates of the addresses of resources.
pub(super) fn list_resource_templates(space: &SpaceId) -> ListResourceTemplatesResult {
    let template = |path: &str, name: &str, description: &str| {
        ResourceTemplate::new(format!("{SCHEME}{space}/{path}"), name)
            .with_description(description)
            .with_mime_type(JSON)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(
            "pages/{id}",
            "page",
            "A page: the knowledge about a person, a place, a topic or a month.",
        ),
        template("facts/{id}", "fact", "A fact with its times and its source."),
        template(
            "facts{?after}",
            "facts",
            "Facts, a hundred at a time; `after` is the `next` of the previous part.",
        ),
    ])
}

/// Returns the contents of one resource.
///
/// # Errors
/// An address without a target in this space; a store that does not respond.
pub(super) async fn read_resource(memory: &Memory, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let target = parse_uri(&memory.space, uri).ok_or_else(|| {
        let space = &memory.space;
        let lack = format!(
            "uri: must be `{SCHEME}{space}/facts`, `{SCHEME}{space}/facts/ID` or `{SCHEME}{space}/pages/ID`; use one from resources/list"
        );
        ErrorData::resource_not_found(lack, Some(json!({"uri": uri})))
    })?;
    let text = read_contents(memory, &target).await;
    let text = text.map_err(|problem| error_from_problem(&problem, Some(uri)))?;
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn read_contents(memory: &Memory, target: &Target<'_>) -> Result<String, Problem> {
    let Memory { app, space, access, .. } = memory;
    let name = space.as_str();
    match target {
        Target::Facts { after } => {
            let filter = FactFilter {
                after: after.map(str::to_owned),
                ..FactFilter::default()
            };
            to_json(&facts::list_facts(app, access, name, &filter).await?)
        }
        Target::Fact(id) => {
            let (_, fact): (SpaceId, Fact) = derived_items::get_derived_item(app, access, name, id).await?;
            to_json(&fact)
        }
        Target::Page(id) => to_json(&pages::read_page(app, access, name, id, None).await?),
    }
}

fn to_json(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(|_| Problem::internal_error())
}

/// Returns the target of an address; `None` if it has no target in this space.
fn parse_uri<'a>(space: &SpaceId, uri: &'a str) -> Option<Target<'a>> {
    let path = uri
        .strip_prefix(SCHEME)?
        .strip_prefix(space.as_str())?
        .strip_prefix('/')?;
    if let Some(rest) = path.strip_prefix("facts") {
        return match (rest.strip_prefix("?after="), rest.strip_prefix('/')) {
            (Some(after), _) => Some(Target::Facts { after: Some(after) }),
            (None, Some(id)) => single_path_segment(id).map(Target::Fact),
            (None, None) => rest.is_empty().then_some(Target::Facts { after: None }),
        };
    }
    path.strip_prefix("pages/")
        .and_then(single_path_segment)
        .map(Target::Page)
}

/// Returns an id that is a single segment of a path; `None` otherwise.
fn single_path_segment(id: &str) -> Option<&str> {
    let is_single = !id.is_empty() && !id.contains(['/', '?', '#']);
    is_single.then_some(id)
}

/// Returns the error of the protocol for a problem with a resource or a list of resources.
fn error_from_problem(problem: &Problem, uri: Option<&str>) -> ErrorData {
    let why = result_text::problem_to_text(problem);
    let data = uri.map(|it| json!({"uri": it}));
    if problem.status == 404 {
        ErrorData::resource_not_found(why, data)
    } else if problem.is_refusal() {
        ErrorData::invalid_params(why, data)
    } else {
        ErrorData::internal_error(why, data)
    }
}

#[cfg(test)]
mod tests {
    use super::{Target, parse_uri, shorten_to_line};

    #[test]
    fn an_address_names_facts_a_fact_or_a_page_of_this_space() {
        let space = "ann.b".parse().unwrap();
        for (uri, expected) in [
            ("mnemic://ann.b/facts", Some(Target::Facts { after: None })),
            (
                "mnemic://ann.b/facts?after=c0",
                Some(Target::Facts { after: Some("c0") }),
            ),
            ("mnemic://ann.b/facts/7", Some(Target::Fact("7"))),
            ("mnemic://ann.b/pages/7", Some(Target::Page("7"))),
            ("mnemic://ann.b/pages", None),
            ("mnemic://ann.b/pages/", None),
            ("mnemic://ann.b/pages/7/8", None),
            ("mnemic://ann.b/factsx", None),
            ("mnemic://ann.bb/facts", None),
            ("mnemic://ann/facts", None),
            ("mnemic://bob/facts", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(parse_uri(&space, uri), expected, "{uri}");
        }
    }

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(shorten_to_line("Ann\nVerdict: supported"), "Ann Verdict: supported");
        assert_eq!(shorten_to_line(&"é".repeat(500)).chars().count(), 200);
    }
}

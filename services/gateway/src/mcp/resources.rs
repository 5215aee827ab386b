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

use super::{Memory, told};
use crate::api::{FactFilter, PageFilter, PageHead};
use crate::handlers::{memory, pages};
use crate::kept;
use crate::problem::Problem;

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
pub(super) async fn list(memory: &Memory, cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
    let Memory { app, space, access, .. } = memory;
    let mut resources = Vec::new();
    if cursor.is_none() {
        let facts = Resource::new(format!("{SCHEME}{space}/facts"), "facts")
            .with_title("Facts")
            .with_description("What this memory takes for true, since when and until when.")
            .with_mime_type(JSON);
        resources.push(facts);
    }
    let filter = PageFilter {
        after: cursor,
        ..PageFilter::default()
    };
    let listed = pages::list_pages(app, access, space.as_str(), &filter).await;
    let listed = listed.map_err(|problem| refused(&problem, None))?;
    resources.extend(listed.items.into_iter().map(|it| page_resource(space, it)));
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = listed.next;
    Ok(result)
}

fn page_resource(space: &SpaceId, page: PageHead) -> Resource {
    Resource::new(format!("{SCHEME}{space}/pages/{}", page.id), page.id.to_string())
        .with_title(shown(&page.title))
        .with_description(shown(&page.summary))
        .with_mime_type(JSON)
}

/// Returns a text of the memory on one line, cut to [`SHOWN_MAX`] characters.
fn shown(text: &str) -> String {
    told::one_line(text).chars().take(SHOWN_MAX).collect()
}

/// Returns the templates of the addresses of resources.
pub(super) fn templates(space: &SpaceId) -> ListResourceTemplatesResult {
    let template = |path: &str, name: &str, description: &str| {
        ResourceTemplate::new(format!("{SCHEME}{space}/{path}"), name)
            .with_description(description)
            .with_mime_type(JSON)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(
            "pages/{id}",
            "page",
            "A page: what is known of a person, a place, a topic or a month.",
        ),
        template("facts/{id}", "fact", "A fact with its times and its source."),
        template(
            "facts{?after}",
            "facts",
            "Facts, a hundred at a time; `after` is the `next` of the part before.",
        ),
    ])
}

/// Returns the contents of one resource.
///
/// # Errors
/// An address without a target in this space; a store that does not respond.
pub(super) async fn read(memory: &Memory, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let target = target(&memory.space, uri).ok_or_else(|| {
        let space = &memory.space;
        let lack = format!(
            "uri: is not `{SCHEME}{space}/facts`, `{SCHEME}{space}/facts/ID` or `{SCHEME}{space}/pages/ID`; take it from resources/list"
        );
        ErrorData::resource_not_found(lack, Some(json!({"uri": uri})))
    })?;
    let text = contents(memory, &target).await;
    let text = text.map_err(|problem| refused(&problem, Some(uri)))?;
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn contents(memory: &Memory, target: &Target<'_>) -> Result<String, Problem> {
    let Memory { app, space, access, .. } = memory;
    let name = space.as_str();
    match target {
        Target::Facts { after } => {
            let filter = FactFilter {
                after: after.map(str::to_owned),
                ..FactFilter::default()
            };
            written(&memory::list_facts(app, access, name, &filter).await?)
        }
        Target::Fact(id) => {
            let (_, fact): (SpaceId, Fact) = kept::get(app, access, (name, id)).await?;
            written(&fact)
        }
        Target::Page(id) => written(&pages::read_page(app, access, name, id, None).await?),
    }
}

fn written(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(|_| Problem::internal())
}

/// Returns the target of an address; `None` if it has no target in this space.
fn target<'a>(space: &SpaceId, uri: &'a str) -> Option<Target<'a>> {
    let path = uri
        .strip_prefix(SCHEME)?
        .strip_prefix(space.as_str())?
        .strip_prefix('/')?;
    if let Some(rest) = path.strip_prefix("facts") {
        return match (rest.strip_prefix("?after="), rest.strip_prefix('/')) {
            (Some(after), _) => Some(Target::Facts { after: Some(after) }),
            (None, Some(id)) => named(id).map(Target::Fact),
            (None, None) => rest.is_empty().then_some(Target::Facts { after: None }),
        };
    }
    path.strip_prefix("pages/").and_then(named).map(Target::Page)
}

/// Returns an id that is a single segment of a path; `None` otherwise.
fn named(id: &str) -> Option<&str> {
    let whole = !id.is_empty() && !id.contains(['/', '?', '#']);
    whole.then_some(id)
}

/// Returns the error of the protocol for a problem with a resource or a list of resources.
fn refused(problem: &Problem, uri: Option<&str>) -> ErrorData {
    let why = told::problem(problem);
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
    use super::{Target, shown, target};

    #[test]
    fn an_address_names_facts_a_fact_or_a_page_of_this_space() {
        let space = "ann.b".parse().unwrap();
        for (uri, wanted) in [
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
            assert_eq!(target(&space, uri), wanted, "{uri}");
        }
    }

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(shown("Ann\nVerdict: supported"), "Ann Verdict: supported");
        assert_eq!(shown(&"é".repeat(500)).chars().count(), 200);
    }
}

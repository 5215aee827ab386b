//! MemCog's navigation (section 3): dimensions, pages, links. Each reply also has the structure around its content, so
//! that a model knows where it is and where it can go.

use std::cmp::Reverse;
use std::sync::Arc;

use domain::id::PageId;
use domain::message::{ToolErrorV1, ToolSpecV1};
use domain::page::{Dimension, Link, LinkKind, Page, PageStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{
    default_limit, limit_schema, not_found, offset_schema, parse_arguments, require_page_in_range, require_text,
    text_schema, tool_spec,
};
use super::compassmem::add_fields;
use super::json_output::{clip_text, float_to_json};
use super::{Look, Outcome};
use crate::space::memory::normalise_name;

/// Number of newest pages that are listed for a dimension, and of titles on each side of a page.
const TITLES: usize = 5;
/// Number of links or pages that are suggested if the requested one does not exist.
const NEAR: usize = 8;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Browse {
    dimension: Dimension,
    #[serde(default)]
    archived: bool,
    #[serde(default = "default_limit")]
    limit: u32,
    #[serde(default)]
    offset: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    page: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Follow {
    page: String,
    link: String,
}

pub(super) fn tool_specs() -> Vec<ToolSpecV1> {
    let names: Vec<&str> = Dimension::ALL.iter().map(|it| it.name()).collect();
    let page = text_schema("Id or title of a page");
    vec![
        tool_spec(
            "list_dimensions",
            "Lists the dimensions of the memory with the number of pages, and titles and summaries of the newest. Start here: a summary may hold the answer.",
            json!({}),
            &[],
        ),
        tool_spec(
            "browse_dimension",
            "Lists the pages of a dimension with their summaries.",
            json!({"dimension": {"type": "string", "enum": names}, "limit": limit_schema(), "offset": offset_schema(),
                "archived": {"type": "boolean", "default": false, "description": "Also pages that were neither read nor changed for a long time"}}),
            &["dimension"],
        ),
        tool_spec(
            "read_page",
            "Returns a page: its sections with their evidence, its links and its neighbours.",
            json!({"page": page}),
            &["page"],
        ),
        tool_spec(
            "follow_link",
            "Returns the page that a link of a page leads to.",
            json!({"page": page, "link": text_schema("Id or title of the target, or related_to, temporal_next, caused_by, contrasts_with")}),
            &["page", "link"],
        ),
    ]
}

/// Runs `list_dimensions`.
pub(super) fn list_dimensions(look: &Look, arguments: Value) -> Outcome {
    let Nothing {} = parse_arguments(arguments)?;
    let dimensions = Dimension::ALL.map(|it| {
        let mut pages = look.active_pages(it);
        let count = pages.len();
        pages.sort_by_key(|it| (Reverse(it.updated_at), it.id));
        let newest = pages.iter().take(TITLES);
        let newest = newest.map(|it| json!({"title": it.title, "summary": clip_text(&it.summary)}));
        json!({"dimension": it, "holds": describe_dimension(it), "pages": count, "newest": newest.collect::<Vec<Value>>()})
    });
    Ok(json!({"dimensions": dimensions}))
}

/// Runs `browse_dimension`: events by time, others by title.
pub(super) fn browse_dimension(look: &Look, arguments: Value) -> Outcome {
    let Browse {
        dimension,
        archived,
        limit,
        offset,
    } = parse_arguments(arguments)?;
    require_page_in_range(limit, offset)?;
    let pages: Vec<Arc<Page>> = if archived {
        look.known_memory().pages_of_dimension(dimension).collect()
    } else {
        look.active_pages(dimension)
    };
    let (limit, offset) = (limit as usize, offset as usize);
    let shown = pages.iter().skip(offset).take(limit).map(|it| {
        json!({"page": it.id, "title": it.title, "summary": clip_text(&it.summary), "tags": it.tags, "sections": it.sections.len(),
            "confidence": float_to_json(it.confidence), "updated_at": it.updated_at, "status": it.status})
    });
    let shown: Vec<Value> = shown.collect();
    let next = offset + shown.len();
    let others = Dimension::ALL.into_iter().filter(|it| *it != dimension);
    let others = others.map(|it| json!({"dimension": it, "pages": look.active_pages(it).len()}));
    Ok(json!({
        "dimension": dimension, "holds": describe_dimension(dimension), "total": pages.len(),
        "next_offset": (next < pages.len() && !shown.is_empty()).then_some(next), "pages": shown,
        "structure": {"other_dimensions": others.collect::<Vec<Value>>()}
    }))
}

/// Runs `read_page`.
pub(super) fn read_page(look: &Look, arguments: Value) -> Outcome {
    let Read { page } = parse_arguments(arguments)?;
    let page = look.find_page("page", &page)?;
    Ok(look.page_to_json(&page))
}

/// Runs `follow_link`.
pub(super) fn follow_link(look: &Look, arguments: Value) -> Outcome {
    let Follow { page, link } = parse_arguments(arguments)?;
    let from = look.find_page("page", &page)?;
    require_text("link", &link, "where to")?;
    let (id, wanted) = (link.trim().parse::<PageId>().ok(), normalise_name(&link));
    let fits = |it: &&Link| Some(it.page) == id || normalise_name(&it.title) == wanted || kind_name(it.kind) == wanted;
    let followed = from
        .links
        .iter()
        .filter(|it| look.known_memory().has_page(it.page))
        .find(fits);
    let Some((link, page)) = followed.and_then(|it| Some((it, look.known_memory().find_page(it.page)?))) else {
        let near = from
            .links
            .iter()
            .filter(|it| look.known_memory().has_page(it.page))
            .take(NEAR);
        let near: Vec<String> = near
            .map(|it| format!("{} ({})", it.title, kind_name(it.kind)))
            .collect();
        let near = if near.is_empty() {
            "it has no links; try browse_dimension".to_owned()
        } else {
            format!("it links to: {}", near.join("; "))
        };
        return Err(not_found(format!("the page has no such link; {near}")));
    };
    let mut out = look.page_to_json(&page);
    add_fields(
        &mut out,
        json!({"came_from": {"page": from.id, "title": from.title, "link": link.kind}}),
    );
    Ok(out)
}

impl Look {
    /// Returns the active pages of a dimension, which are those in its lists.
    fn active_pages(&self, dimension: Dimension) -> Vec<Arc<Page>> {
        let pages = self.known_memory().pages_of_dimension(dimension);
        pages.filter(|it| it.status == PageStatus::Active).collect()
    }

    /// Returns a page by id, title or alias, archived or not.
    fn find_page(&self, name: &str, page_name: &str) -> Result<Arc<Page>, ToolErrorV1> {
        require_text(name, page_name, "which page")?;
        let known = self.known_memory();
        let id = page_name.trim().parse::<PageId>().ok();
        let found = match id {
            Some(id) => known.find_page(id),
            None => known.pages_called(page_name).into_iter().next(),
        };
        found.ok_or_else(|| {
            not_found("there is no such page; use ids or titles from list_dimensions or browse_dimension".to_owned())
        })
    }

    fn page_to_json(&self, page: &Page) -> Value {
        let sections = page.sections.iter().map(|section| {
            let lines = section.lines.iter().map(|it| {
                json!({"text": clip_text(&it.text), "unit": it.unit, "observed_at": it.observed_at, "fact": it.fact, "until": it.until,
                    "external_ids": self.external_ids(it.unit)})
            });
            let mut out = json!({"title": section.title, "category": section.category, "lines": lines.collect::<Vec<Value>>(),
                "left_out": section.left_out, "confidence": float_to_json(section.confidence),
                "time": section.time.as_ref().map(|it| text::time::render_span(it, *self.now.offset()))});
            if let Some(summary) = &section.summary {
                out["summary"] = json!(summary);
            }
            out
        });
        json!({
            "page": page.id, "dimension": page.dimension, "title": page.title, "summary": page.summary,
            "aliases": page.aliases, "tags": page.tags, "sections": sections.collect::<Vec<Value>>(),
            "confidence": float_to_json(page.confidence), "updated_at": page.updated_at, "status": page.status,
            "structure": self.page_structure_to_json(page)
        })
    }

    /// Returns the position of a page in its dimension, its neighbours and its links.
    fn page_structure_to_json(&self, page: &Page) -> Value {
        let mut beside = self.active_pages(page.dimension);
        let total = beside.len();
        let at = beside.iter().position(|it| it.id == page.id);
        let from = at.map_or(0, |it| it.saturating_sub(TITLES));
        beside.retain(|it| it.id != page.id);
        let siblings = beside.iter().skip(from).take(2 * TITLES);
        let siblings = siblings.map(|it| json!({"page": it.id, "title": it.title}));
        let links = page.links.iter().filter(|it| self.known_memory().has_page(it.page));
        let links = links.map(|it| json!({"type": it.kind, "page": it.page, "title": it.title, "weight": it.weight}));
        json!({
            "dimension": page.dimension, "place": at.map(|it| it + 1), "of": total,
            "siblings": siblings.collect::<Vec<Value>>(), "links": links.collect::<Vec<Value>>()
        })
    }
}

fn describe_dimension(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Topic => "what was talked about",
        Dimension::Figure => "people",
        Dimension::Place => "places",
        Dimension::Preference => "what people like, dislike and want done",
        Dimension::Event => "what happened, by month",
    }
}

fn kind_name(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::RelatedTo => "related_to",
        LinkKind::TemporalNext => "temporal_next",
        LinkKind::CausedBy => "caused_by",
        LinkKind::ContrastsWith => "contrasts_with",
    }
}

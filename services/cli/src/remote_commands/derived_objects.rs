//! Commands that show data derived from records (topics, pages, entities) and the audit log.

use std::cmp::Reverse;

use domain::curation::{Act, Curation};
use domain::entity::{Entity, EntityKind};
use domain::page::{Page, PageStatus};
use serde::Serialize;

use crate::api::{Client, parameters_with_values};
use crate::args::{Curations, Entities, Pages, Topics};
use crate::output::{Paint, Style};
use crate::render::one_line;
use crate::{Outcome, output};

/// Note printed with an empty list of derived objects.
const NOTHING_YET: &str = "records sent a moment ago may not be organised yet";

/// Lists topics, the most recently discussed first.
pub(crate) async fn print_topics(args: &Topics) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let filter = parameters_with_values(&[("as_of", args.as_of.as_deref())]);
    let mut topics = client.list_topics(&args.space, &filter).await?;
    topics.sort_by_key(|topic| (Reverse(topic.last_seen), topic.id));
    let paint = Paint::of_terminal();
    print_items(&topics, args.json, &format!("no topics; {NOTHING_YET}"), |topic| {
        let day = paint.paint_text(Style::Dim, &topic.last_seen.format("%Y-%m-%d").to_string());
        let keywords = paint.paint_text(Style::Dim, &topic.keywords.join(", "));
        let label = paint.paint_text(Style::Bold, &topic.label);
        let summary = topic.summary.iter().map(|it| format!("\n    {}", one_line(it)));
        let summary = summary.collect::<String>();
        format!("{day}  {label}  {} events  {keywords}{summary}", topic.units)
    })
}

/// Lists pages by dimension and title, or prints one.
pub(crate) async fn print_pages(args: &Pages) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let as_of = args.as_of.as_deref();
    let paint = Paint::of_terminal();
    if let Some(id) = &args.id {
        let page = client.get_page(&args.space, id, as_of).await?;
        if args.json {
            output::say_json_line(&page)?;
        } else {
            output::print_line(&whole_page(&page, paint));
        }
        return Ok(Outcome::Done);
    }
    let archived = args.archived.then_some("true");
    let filter = parameters_with_values(&[("dimension", args.dimension), ("archived", archived), ("as_of", as_of)]);
    let mut pages = client.list_pages(&args.space, &filter).await?;
    pages.sort_by(|a, b| (a.dimension, &a.title, a.id).cmp(&(b.dimension, &b.title, b.id)));
    print_items(&pages, args.json, &format!("no pages; {NOTHING_YET}"), |page| {
        let head = paint.paint_text(Style::Dim, &format!("{}  {}", page.id, page.dimension.name()));
        let archived = match page.status {
            PageStatus::Archived => " (archived)",
            PageStatus::Active | PageStatus::Former => "",
        };
        format!(
            "{head}  {}{archived}: {}",
            paint.paint_text(Style::Bold, &page.title),
            one_line(&page.summary)
        )
    })
}

/// Lists entities, those with the most mentions first.
pub(crate) async fn print_entities(args: &Entities) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let filter = parameters_with_values(&[("name", args.name.as_deref()), ("as_of", args.as_of.as_deref())]);
    let mut entities = client.list_entities(&args.space, &filter).await?;
    entities.sort_by(|a, b| (Reverse(a.mentions), &a.name, a.id).cmp(&(Reverse(b.mentions), &b.name, b.id)));
    let paint = Paint::of_terminal();
    print_items(&entities, args.json, &format!("no entities; {NOTHING_YET}"), |entity| {
        entity_line(entity, paint)
    })
}

/// Lists the audit log, oldest entry first.
pub(crate) async fn print_curations(args: &Curations) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let mut acts = client.list_curations(&args.space).await?;
    acts.sort_by_key(|curation| (curation.at, curation.id));
    let paint = Paint::of_terminal();
    print_items(&acts, args.json, "this space has no curations yet", |curation| {
        curation_line(curation, paint)
    })
}

/// Prints items as JSON lines, or in the format of `line`; prints `empty` if there are no items.
fn print_items<T: Serialize>(
    items: &[T],
    json: bool,
    empty: &str,
    line: impl Fn(&T) -> String,
) -> anyhow::Result<Outcome> {
    for item in items {
        if json {
            output::say_json_line(item)?;
        } else {
            output::print_line(&line(item));
        }
    }
    if items.is_empty() && !json {
        output::print_line(empty);
    }
    Ok(Outcome::Done)
}

fn whole_page(page: &Page, paint: Paint) -> String {
    let mut lines = vec![paint.paint_text(Style::Bold, &page.title), page.summary.clone()];
    for section in &page.sections {
        lines.push(String::new());
        lines.push(paint.paint_text(Style::Bold, &section.title));
        lines.extend(section.summary.iter().map(|it| format!("  {}", one_line(it))));
        for line in &section.lines {
            let day = paint.paint_text(Style::Dim, &line.observed_at.format("%Y-%m-%d").to_string());
            let until = line.until.map(|it| format!(" (until {})", it.format("%Y-%m-%d")));
            lines.push(format!(
                "  {day}  {}{}",
                one_line(&line.text),
                until.unwrap_or_default()
            ));
        }
        if section.left_out > 0 {
            lines.push(format!("  and {} more", section.left_out));
        }
    }
    if !page.links.is_empty() {
        lines.extend([String::new(), paint.paint_text(Style::Bold, "See also")]);
    }
    for link in &page.links {
        lines.push(format!(
            "  {}  {}",
            paint.paint_text(Style::Dim, &link.page.to_string()),
            link.title
        ));
    }
    lines.join("\n")
}

fn entity_line(entity: &Entity, paint: Paint) -> String {
    let kind = match entity.kind {
        EntityKind::Speaker => "speaker",
        EntityKind::Person => "person",
        EntityKind::Place => "place",
        EntityKind::Other => "other",
    };
    let names: Vec<&str> = entity.aliases.iter().chain(&entity.roles).map(String::as_str).collect();
    let also = match names.is_empty() {
        true => String::new(),
        false => paint.paint_text(Style::Dim, &format!("  also {}", names.join(", "))),
    };
    let name = paint.paint_text(Style::Bold, &one_line(&entity.name));
    let mentions = if entity.mentions == 1 { "mention" } else { "mentions" };
    format!("{name}  {kind}, {} {mentions}{also}", entity.mentions)
}

fn curation_line(curation: &Curation, paint: Paint) -> String {
    let act = match &curation.act {
        // The value is erased with the record of the fact.
        Act::CorrectFact { fact, object } if object.is_empty() => format!("corrected fact {fact} to an erased value"),
        Act::CorrectFact { fact, object } => format!("corrected fact {fact} to \"{}\"", one_line(object)),
        Act::RetireFact { fact } => format!("retired fact {fact}"),
        Act::UndoMerge { merge } => format!("undid merge {merge}"),
        Act::UndoLabel { topic } => format!("undid the label of topic {topic}"),
        Act::UndoSummary { page } => format!("undid the summary of page {page}"),
        Act::PinUnit { unit } => format!("pinned unit {unit}"),
        Act::ForgetUnit { unit } => format!("forgot unit {unit}"),
        Act::EraseRecord { record } => format!("erased record {record}"),
        Act::Undo { curation } => format!("undid act {curation}"),
    };
    let at = curation.at.format("%Y-%m-%d %H:%M");
    let by = if curation.by.is_empty() { "-" } else { &curation.by };
    let head = paint.paint_text(Style::Dim, &format!("{}  {at}", curation.id));
    let reason = match curation.reason.is_empty() {
        true => String::new(),
        false => format!(": {}", one_line(&curation.reason)),
    };
    format!("{head}  {by} {act}{reason}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_correction_says_that_its_value_was_erased() {
        const ID: &str = "05cc7217-5e87-54a9-b739-8d9be74a2c2f";
        let correction = |object: &str| {
            let act = json!({"kind": "correct_fact", "fact": ID, "object": object});
            let curation = json!({"id": ID, "at": "2026-03-02T18:00:00Z", "by": "", "act": act, "reason": "a slip"});
            serde_json::from_value::<Curation>(curation).unwrap()
        };
        let line = |curation: &Curation| curation_line(curation, Paint::of_terminal());
        let kept = line(&correction("Lund"));
        assert!(
            kept.ends_with(&format!("corrected fact {ID} to \"Lund\": a slip")),
            "{kept}"
        );
        let erased = line(&correction("Lund").without_words());
        assert!(
            erased.ends_with(&format!("corrected fact {ID} to an erased value")),
            "{erased}"
        );
    }
}

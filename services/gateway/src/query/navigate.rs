//! Navigation (MemCog, section 3): dimensions, pages, sections and links, chosen by what is written on them, in at most six
//! calls; the lines of the pages read lead to the units they stand on.

use std::collections::BTreeSet;

use domain::id::UnitId;
use serde_json::{Value, json};

use super::overlap::Overlap;
use super::results::{Found, list, strings, units};
use super::walk::{Walk, gathered};

/// Calls of tools.
const CALLS_MAX: usize = 6;
/// Pages listed of a dimension.
const PAGES: u32 = 50;
/// Dimensions looked into.
const DIMENSIONS_MAX: usize = 2;
/// How much more a title says than a summary.
const TITLE: f32 = 3.0;
/// What a link of weight 1 adds to the title it leads to, so that of equal ones the strongest is followed.
const LINKED: f32 = 0.1;
/// Units kept, and those of a page on which no line shares a word with the question.
const KEPT_MAX: usize = 24;
const PLAIN_MAX: usize = 5;
/// Words that open a dimension; without one it is the topics.
const DIMENSIONS: [(&str, &[&str]); 3] = [
    (
        "preference",
        &[
            "like",
            "likes",
            "liked",
            "love",
            "loves",
            "favorite",
            "favourite",
            "prefer",
            "prefers",
            "hate",
            "hates",
            "enjoy",
            "enjoys",
            "want",
            "wants",
        ],
    ),
    (
        "place",
        &["where", "place", "places", "city", "country", "town", "live", "lives"],
    ),
    ("event", &["when", "month", "year", "happened", "date", "day"]),
];

/// A page that may be read.
struct Open {
    score: f32,
    page: String,
    title: String,
    /// The page that links to it.
    from: Option<String>,
}

struct Reading {
    overlap: Overlap,
    calls: usize,
    open: Vec<Open>,
    read: BTreeSet<String>,
    texts: Vec<String>,
    lines: Vec<(f32, UnitId)>,
}

/// Navigates, and returns the units of the lines that share most with the question.
pub(super) async fn gather(walk: &mut Walk<'_>) -> Vec<UnitId> {
    let question = walk.asked.question.clone();
    let planned = walk.plan().await;
    let overlap = Overlap::of(planned.cues.iter().map(String::as_str));
    let mut reading = Reading {
        overlap: walk.weighed(overlap).await,
        calls: CALLS_MAX,
        open: Vec::new(),
        read: BTreeSet::new(),
        texts: Vec::new(),
        lines: Vec::new(),
    };
    reading.browse(walk, &question).await;
    while reading.calls > 0 && !walk.over() {
        let Some(next) = reading.next() else { break };
        reading.visit(walk, next).await;
        if reading
            .overlap
            .missing(reading.texts.iter().map(String::as_str))
            .is_empty()
        {
            walk.tell("stop", "every cue was met", reading.texts.len(), &[]);
            break;
        }
    }
    reading.lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut kept = gathered(reading.lines.into_iter().map(|it| it.1));
    kept.truncate(KEPT_MAX);
    kept
}

impl Reading {
    /// Looks which dimensions there are, and which pages the fitting ones hold.
    async fn browse(&mut self, walk: &mut Walk<'_>, question: &str) {
        let told = walk.tool("list_dimensions", "list_dimensions", json!({})).await;
        self.calls -= 1;
        let filled: Vec<&str> = list(&told, "dimensions")
            .iter()
            .filter(|it| it["pages"].as_u64().unwrap_or_default() > 0)
            .filter_map(|it| it["dimension"].as_str())
            .collect();
        let chosen: Vec<&str> = fitting(question).into_iter().filter(|it| filled.contains(it)).collect();
        let all: Vec<&str> = chosen.iter().chain(&filled).copied().collect();
        walk.tell("dimensions", &filled.join(", "), filled.len(), &[]);
        let mut looked: Vec<&str> = Vec::new();
        for dimension in all {
            let promising = self.open.iter().any(|it| it.score > 0.0);
            if promising || looked.len() == DIMENSIONS_MAX {
                break;
            }
            if looked.contains(&dimension) {
                continue;
            }
            looked.push(dimension);
            let arguments = json!({"dimension": dimension, "limit": PAGES});
            let told = walk.tool("browse_dimension", "browse_dimension", arguments).await;
            self.calls -= 1;
            let pages = list(&told, "pages");
            pages.iter().for_each(|it| self.offer(it, None, 0.0));
            walk.tell("browse", dimension, pages.len(), &[]);
        }
    }

    /// Takes a page among those that may be read.
    fn offer(&mut self, page: &Value, from: Option<&str>, added: f32) {
        let field = |name: &str| page[name].as_str().unwrap_or_default();
        let names = [field("title").to_owned(), strings(page, "aliases").join(" ")].join(" ");
        let said = [field("summary").to_owned(), strings(page, "tags").join(" ")].join(" ");
        let score = TITLE * self.overlap.shared(&names) + self.overlap.shared(&said) + added;
        if !field("page").is_empty() && !self.open.iter().any(|it| it.page == field("page")) {
            self.open.push(Open {
                score,
                page: field("page").to_owned(),
                title: field("title").to_owned(),
                from: from.map(str::to_owned),
            });
        }
    }

    /// Returns the page that promises most, of equals the one met first; none that promises nothing.
    fn next(&mut self) -> Option<Open> {
        let places = (0..self.open.len()).filter(|&it| self.open[it].score > 0.0);
        let best = places.reduce(|a, b| if self.open[b].score > self.open[a].score { b } else { a })?;
        let next = self.open.remove(best);
        self.read.insert(next.page.clone());
        Some(next)
    }

    async fn visit(&mut self, walk: &mut Walk<'_>, open: Open) {
        let (step, name, arguments) = match &open.from {
            Some(from) => ("follow", "follow_link", json!({"page": from, "link": open.page})),
            None => ("read", "read_page", json!({"page": open.page})),
        };
        let told = walk.tool(name, name, arguments).await;
        self.calls -= 1;
        let found: Vec<Found> = list(&told, "sections")
            .iter()
            .flat_map(|it| units(&it["lines"]))
            .collect();
        let title = told["title"].as_str().unwrap_or_default();
        self.texts.push(title.to_owned());
        let mut lines: Vec<(f32, UnitId)> = found
            .iter()
            .map(|it| (self.overlap.shared(&it.text), it.unit))
            .filter(|it| it.0 > 0.0)
            .collect();
        if lines.is_empty() {
            lines.extend(found.iter().rev().take(PLAIN_MAX).map(|it| (0.0, it.unit)));
        }
        lines.sort_by(|a, b| b.0.total_cmp(&a.0));
        let kept: Vec<UnitId> = lines.iter().map(|it| it.1).collect();
        walk.tell(step, &open.title, found.len(), &kept);
        self.lines.extend(lines);
        self.texts.extend(found.into_iter().map(|it| it.text));
        for link in list(&told["structure"], "links") {
            let known = link["page"].as_str().is_none_or(|it| self.read.contains(it));
            if !known {
                let weight = link["weight"].as_f64().unwrap_or_default() as f32;
                self.offer(link, Some(&open.page), LINKED * weight);
            }
        }
    }
}

/// Returns dimensions that fit the words of a question, best first: those its words open, people if it names somebody, topics.
fn fitting(question: &str) -> Vec<&'static str> {
    let words: Vec<String> = text::words(question).into_iter().map(str::to_lowercase).collect();
    let opened = |list: &&[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    let mut out: Vec<&str> = DIMENSIONS.iter().filter(|it| opened(&it.1)).map(|it| it.0).collect();
    let people = if text::names(question).is_empty() {
        ["topic", "figure"]
    } else {
        ["figure", "topic"]
    };
    out.extend(people);
    out
}

//! Recollection (REMem, section 3.3, in its single-step form): gists and facts by meaning and by words, inside the time the
//! question names; their sources are what is kept.

use std::collections::BTreeMap;

use chrono::SecondsFormat;
use domain::anchor::Anchors;
use domain::id::UnitId;
use serde_json::{Value, json};

use super::results::units;
use super::walk::{Listed, Walk, gathered};

/// Gists and facts of each search.
const LIMIT: u32 = 10;
/// With fewer units than this the window of time was too narrow, or meant otherwise: it is left away.
const FEW: usize = 3;
/// Units kept.
const KEPT_MAX: usize = 20;
/// The usual damping of reciprocal ranks.
const DAMPING: f32 = 60.0;

/// Searches once, inside the window of time if there is one, and returns the sources of what was found, best first.
pub(super) async fn gather(walk: &mut Walk<'_>) -> Vec<UnitId> {
    let question = [walk.asked.question.clone()];
    let read = walk
        .routes("anchors", &question, Listed::default())
        .await
        .pop()
        .flatten();
    let window = read.and_then(|it| window(&it.anchors));
    let about = window.as_ref().map_or("any time", |it| it.words.as_str()).to_owned();
    let mut found = retrieve(walk, window.as_ref()).await;
    let few = window.is_some() && found.len() < FEW;
    walk.tell("retrieve", &about, found.len(), if few { &[] } else { &found });
    if few {
        let inside = found;
        let any = retrieve(walk, None).await;
        walk.tell("retrieve", "any time", any.len(), &any);
        found = gathered(inside.into_iter().chain(any));
        found.truncate(KEPT_MAX);
    }
    found
}

/// The time a question names, as the tools take it.
struct Window {
    words: String,
    from: String,
    until: String,
}

fn window(anchors: &Anchors) -> Option<Window> {
    let span = anchors.window.as_ref()?;
    let print = |it: chrono::DateTime<chrono::Utc>| it.to_rfc3339_opts(SecondsFormat::Secs, true);
    // The end of a span is the first moment after it, the tools take the last one inside.
    let last = span.end - chrono::Duration::seconds(1);
    Some(Window {
        words: span.words.clone(),
        from: print(span.start),
        until: print(last.max(span.start)),
    })
}

async fn retrieve(walk: &mut Walk<'_>, window: Option<&Window>) -> Vec<UnitId> {
    let mut arguments = json!({"query": walk.asked.question, "limit": LIMIT});
    if let Some(window) = window {
        arguments["start_time"] = json!(window.from);
        arguments["end_time"] = json!(window.until);
    }
    let calls = vec![
        ("semantic_retrieve", arguments.clone()),
        ("lexical_retrieve", arguments),
    ];
    let results: Vec<Value> = walk.tools("retrieve", calls).await.into_iter().flatten().collect();
    fused(&results)
}

/// Joins the lists of gists and facts by reciprocal rank; ties by id.
fn fused(results: &[Value]) -> Vec<UnitId> {
    let mut shares: BTreeMap<UnitId, f32> = BTreeMap::new();
    for list in results.iter().flat_map(|it| [&it["gists"], &it["facts"]]) {
        for (rank, it) in units(list).into_iter().enumerate() {
            *shares.entry(it.unit).or_default() += 1.0 / (DAMPING + rank as f32);
        }
    }
    let mut all: Vec<(UnitId, f32)> = shares.into_iter().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.into_iter().map(|it| it.0).take(KEPT_MAX).collect()
}

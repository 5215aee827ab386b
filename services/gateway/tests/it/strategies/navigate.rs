use std::sync::atomic::{AtomicUsize, Ordering};

use domain::message::{PlanV1, ToolV1, ToolledV1};
use serde_json::{Value, json};

use super::{about, argument, ask, focused, gathered, gave, path, planned, unit};
use crate::harness::Gateway;

const QUESTION: &str = "What colour is the kayak that Mira painted?";

async fn gateway(tool: fn(ToolV1) -> ToolledV1) -> Gateway {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(|it| planned(&[&it.question], &["kayak", "Mira", "painted"]));
    gateway.start_router(focused);
    gateway.serve::<ToolV1>(tool);
    gateway.start_reader();
    gateway.settled().await;
    gateway
}

fn page(id: &str, title: &str, line: (&str, &str), links: &[(String, String)]) -> ToolledV1 {
    let linked = links
        .iter()
        .map(|it| json!({"type": "related_to", "page": it.0, "title": it.1, "weight": 1.0}));
    gave(json!({
        "page": id, "title": title,
        "sections": [{"title": "x", "lines": [{"text": "Unheard of.", "unit": unit("z")}, {"text": line.1, "unit": unit(line.0)}]}],
        "structure": {"siblings": [], "links": linked.collect::<Vec<Value>>()}
    }))
}

fn pages(call: ToolV1) -> ToolledV1 {
    match call.name.as_str() {
        "list_dimensions" => gave(json!({"dimensions": [
            {"dimension": "topic", "pages": 3}, {"dimension": "figure", "pages": 2}, {"dimension": "place", "pages": 0}]})),
        "browse_dimension" if argument(&call, "dimension") == "figure" => gave(json!({"pages": [
            {"page": "p1", "title": "Jonas", "summary": "A neighbour.", "tags": ["cats"]},
            {"page": "p2", "title": "Mira", "summary": "", "tags": []}]})),
        "read_page" if argument(&call, "page") == "p2" => page(
            "p2",
            "Mira",
            ("a", "Mira painted a boat"),
            &[("p3".into(), "Boats".into()), ("p4".into(), "The kayak".into())],
        ),
        "follow_link" if argument(&call, "link") == "p4" => page("p4", "The kayak", ("b", "The kayak is green"), &[]),
        _ => gave(json!({})),
    }
}

#[tokio::test]
async fn it_goes_from_page_to_page_until_every_cue_is_met() {
    let gateway = gateway(pages).await;
    let body = ask(&gateway, "navigate", QUESTION).await;
    assert_eq!(
        path(&body),
        ["dimensions", "browse", "read", "follow", "stop"],
        "{body}"
    );
    assert_eq!(about(&body, "browse"), "figure");
    assert_eq!((about(&body, "read"), about(&body, "follow")), ("Mira", "The kayak"));
    assert_eq!(about(&body, "stop"), "every cue was met");
    assert_eq!(gathered(&body), [unit("a"), unit("b")]);
    assert_eq!(body["degraded"], json!([]));
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Every page links to others that promise as much.
fn endless(call: ToolV1) -> ToolledV1 {
    let made = CALLS.fetch_add(1, Ordering::Relaxed);
    match call.name.as_str() {
        "list_dimensions" => gave(json!({"dimensions": [{"dimension": "figure", "pages": 1}]})),
        "browse_dimension" => gave(json!({"pages": [{"page": "p", "title": "kayak", "summary": "", "tags": []}]})),
        _ => {
            let links: Vec<(String, String)> = (0..5)
                .map(|it| (format!("{made}-{it}"), format!("kayak {it}")))
                .collect();
            page("p", "kayak", (&made.to_string(), "a kayak"), &links)
        }
    }
}

#[tokio::test]
async fn without_an_end_it_makes_six_calls() {
    let gateway = gateway(endless).await;
    let body = ask(&gateway, "navigate", QUESTION).await;
    assert_eq!(
        path(&body),
        ["dimensions", "browse", "read", "follow", "follow", "follow"],
        "{body}"
    );
    assert_eq!(CALLS.load(Ordering::Relaxed), 6);
    assert_eq!(gathered(&body).len(), 4, "a line of each page read");
}

#[tokio::test]
async fn a_memory_without_pages_is_answered_from_the_route() {
    let gateway = gateway(|_| gave(json!({"dimensions": []}))).await;
    let body = ask(&gateway, "navigate", QUESTION).await;
    assert_eq!(path(&body), ["dimensions"]);
    assert!(gathered(&body).is_empty());
    assert_eq!(body["verdict"]["status"], "supported");
}

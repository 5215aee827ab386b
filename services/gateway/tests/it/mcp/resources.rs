//! Pages and facts as resources.

use domain::derived::Derived;
use domain::page::Dimension;
use serde_json::{Value, json};

use super::{asked, whole};
use crate::access::KEYS;
use crate::facts::{facts, put};
use crate::harness::Gateway;
use crate::pages::page;

/// Returns a space with five facts and two pages.
async fn filled() -> Gateway {
    let gateway = whole(KEYS).await;
    let pages = [
        page("Ann\nVerdict: supported", Dimension::Figure, &[1]),
        page("Oslo", Dimension::Place, &[2, 3]),
    ];
    put(&gateway, facts().into_iter().map(Derived::Fact)).await;
    put(&gateway, pages.map(Derived::Page)).await;
    gateway
}

async fn listed(gateway: &Gateway) -> Vec<Value> {
    let message = asked(gateway, "reader", "resources/list", json!({})).await;
    let listed = message["result"]["resources"].as_array();
    listed.unwrap_or_else(|| panic!("{message}")).clone()
}

/// Reads a resource and returns its contents.
async fn read(gateway: &Gateway, uri: &str) -> Value {
    let message = asked(gateway, "reader", "resources/read", json!({"uri": uri})).await;
    let content = &message["result"]["contents"][0];
    assert_eq!(
        (&content["uri"], &content["mimeType"]),
        (&json!(uri), &json!("application/json")),
        "{message}"
    );
    serde_json::from_str(content["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn facts_and_pages_are_listed_and_read() {
    let gateway = filled().await;
    let resources = listed(&gateway).await;
    assert_eq!(resources.len(), 3, "{resources:?}");
    assert_eq!(resources[0]["uri"], "mnemic://s/facts");
    let found = read(&gateway, "mnemic://s/facts").await;
    assert_eq!(found["items"].as_array().unwrap().len(), 5);
    let first = found["items"][0]["id"].as_str().unwrap();
    let one = read(&gateway, &format!("mnemic://s/facts/{first}")).await;
    assert_eq!(one, found["items"][0]);
    for resource in &resources[1..] {
        let page = read(&gateway, resource["uri"].as_str().unwrap()).await;
        let title = page["title"].as_str().unwrap().replace('\n', " ");
        assert_eq!(resource["title"], title.as_str());
        assert_eq!(page["sections"][0]["title"], "Trips");
    }
    let templates = asked(&gateway, "reader", "resources/templates/list", json!({})).await;
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap().clone();
    let addresses: Vec<&str> = templates.iter().map(|it| it["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(
        addresses,
        [
            "mnemic://s/pages/{id}",
            "mnemic://s/facts/{id}",
            "mnemic://s/facts{?after}"
        ]
    );
}

#[tokio::test]
async fn a_long_list_has_a_cursor() {
    let gateway = filled().await;
    let many: Vec<Derived> = (0..150)
        .map(|it| Derived::Page(page(&format!("Place {it}"), Dimension::Place, &[4])))
        .collect();
    put(&gateway, many).await;
    let first = asked(&gateway, "reader", "resources/list", json!({})).await;
    let cursor = first["result"]["nextCursor"].as_str().unwrap();
    let second = asked(&gateway, "reader", "resources/list", json!({"cursor": cursor})).await;
    let count = |message: &Value| message["result"]["resources"].as_array().unwrap().len();
    // The list of facts comes first, and only once.
    assert_eq!((count(&first), count(&second)), (101, 52), "{second}");
    assert_eq!(second["result"]["nextCursor"], Value::Null);
    let forged = asked(&gateway, "reader", "resources/list", json!({"cursor": "x"})).await;
    assert_eq!(forged["error"]["code"], -32602, "{forged}");
}

/// An address is checked like a path of the API: it has no target in another space, and none that does not exist.
#[tokio::test]
async fn an_address_without_a_target_is_refused() {
    let gateway = filled().await;
    for (uri, why) in [
        ("mnemic://other/facts", "use one from resources/list"),
        ("mnemic://s/units", "use one from resources/list"),
        ("file:///etc/passwd", "use one from resources/list"),
        ("mnemic://s/facts/7", "there is no fact with this id in `s`"),
        (
            "mnemic://s/pages/00000000-0000-0000-0000-000000000000",
            "there is no page with this id in `s`",
        ),
    ] {
        let refused = asked(&gateway, "reader", "resources/read", json!({"uri": uri})).await;
        let error = &refused["error"];
        assert!(error["message"].as_str().unwrap().contains(why), "{uri}: {refused}");
        assert!(
            [-32002, -32602].contains(&error["code"].as_i64().unwrap()),
            "{uri}: {refused}"
        );
        assert!(!error["message"].as_str().unwrap().contains("/v1/"), "{uri}: {refused}");
    }
    assert_eq!(read(&gateway, "mnemic://s/facts").await["next"], Value::Null);
}

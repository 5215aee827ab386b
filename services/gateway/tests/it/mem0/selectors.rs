//! Parameters that select memories for a list or an erasure, and the pages of a list.

use serde_json::{Value, json};

use super::{ENABLED, add, call, error, memories, start};

const ALL: &str = "GET /mem0/memories?user_id=ann";

/// No memory has a category, so these parameters select nothing.
#[tokio::test]
async fn categories_in_a_query_string_select_nothing_instead_of_everything() {
    let gateway = start(ENABLED).await;
    for text in ["One.", "Two."] {
        add(&gateway, text, "ann").await;
    }
    for selector in [
        "categories=food",
        "categories=%5B%22food%22%5D",
        "category=food",
        "keywords=three",
        "memory_id=00000000-0000-4000-8000-000000000000",
    ] {
        for path in ["/mem0/v1/memories/", "/mem0/memories"] {
            let list = format!("GET {path}?user_id=ann&{selector}");
            assert_eq!(call(&gateway, &list, Value::Null).await["count"], 0, "{list}");
            let erasure = format!("DELETE {path}?user_id=ann&{selector}");
            assert_eq!(call(&gateway, &erasure, Value::Null).await["deleted"], 0, "{erasure}");
        }
        assert_eq!(call(&gateway, ALL, Value::Null).await["count"], 2, "{selector}");
    }
    for categories in [json!("food"), json!(["food"]), json!({"in": ["food"]})] {
        let body = json!({"filters": {"user_id": "ann"}, "categories": categories});
        let listed = call(&gateway, "POST /mem0/v3/memories/", body).await;
        assert_eq!(listed["count"], 0, "{categories}");
    }
    let body = json!({"filters": {"user_id": "ann"}, "categories": [], "keywords": null});
    assert_eq!(
        call(&gateway, "POST /mem0/v3/memories/", body).await["count"],
        2,
        "none are named"
    );
}

#[tokio::test]
async fn keywords_select_the_memories_that_contain_them() {
    let gateway = start(ENABLED).await;
    for text in ["I moved to Oslo.", "I like tea."] {
        add(&gateway, text, "ann").await;
    }
    let found = call(&gateway, &format!("{ALL}&keywords=oslo"), Value::Null).await;
    assert_eq!(memories(&found).len(), 1, "{found}");
    assert!(memories(&found)[0].ends_with("I moved to Oslo."), "{found}");
    let erasure = "DELETE /mem0/v1/memories/?user_id=ann&keywords=oslo";
    assert_eq!(call(&gateway, erasure, Value::Null).await["deleted"], 1);
    let left = call(&gateway, ALL, Value::Null).await;
    assert_eq!(memories(&left).len(), 1, "{left}");
    assert!(memories(&left)[0].ends_with("I like tea."), "{left}");
}

/// An erasure never ignores a parameter that the caller may have meant as a restriction.
#[tokio::test]
async fn an_erasure_with_a_parameter_that_restricts_nothing_is_refused() {
    let gateway = start(ENABLED).await;
    add(&gateway, "One.", "ann").await;
    for (selector, expected) in [
        ("metadata=%7B%22keep%22:null%7D", "400 metadata: has a null"),
        ("metadata=%7B%7D", "400 metadata: has a null or an empty part"),
        ("filters=%7B%22created_at%22:null%7D", "400 filters: has a null"),
        ("categories=food&categories=", "400 categories: is empty"),
        ("limit=1", "400 limit: does not restrict"),
        ("text=One", "400 text: does not restrict"),
    ] {
        let erasure = format!("DELETE /mem0/v1/memories/?user_id=ann&{selector}");
        let refused = error(&gateway.send(&erasure, "").await);
        assert!(refused.starts_with(expected), "{selector}: {refused}");
    }
    let erasure = "DELETE /mem0/v1/memories/?user_id=ann";
    let refused = error(&gateway.send(erasure, r#"{"filters":{"run_id":"r"}}"#).await);
    assert!(refused.starts_with("400 this request takes no body"), "{refused}");
    let list = format!("{ALL}&metadata=%7B%22keep%22:null%7D");
    let refused = error(&gateway.send(&list, "").await);
    assert!(refused.starts_with("400 metadata.keep: is null"), "{refused}");
    assert_eq!(call(&gateway, ALL, Value::Null).await["count"], 1);
    assert_eq!(call(&gateway, erasure, Value::Null).await["deleted"], 1);
}

#[tokio::test]
async fn the_next_page_of_a_list_repeats_the_path_and_the_query() {
    let gateway = start(ENABLED).await;
    for text in ["One.", "Two.", "Three."] {
        add(&gateway, text, "Ann Lee").await;
    }
    for path in ["/mem0/v1/memories/", "/mem0/memories"] {
        let address = format!("{path}?user_id=Ann%20Lee&page_size=2");
        let first = call(&gateway, &format!("GET {address}"), Value::Null).await;
        assert_eq!((memories(&first).len(), &first["previous"]), (2, &Value::Null));
        assert_eq!(first["next"], format!("{address}&page=2"));
        let next = format!("GET {}", first["next"].as_str().unwrap());
        let second = call(&gateway, &next, Value::Null).await;
        let mut all = memories(&first);
        all.extend(memories(&second));
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), memories(&second).len()), (3, 1), "{second}");
        assert_eq!(second["next"], Value::Null);
        assert_eq!(second["previous"], format!("{address}&page=1"));
    }
}

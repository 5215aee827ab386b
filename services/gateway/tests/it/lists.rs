use crate::harness::Gateway;

/// Walks all pages and returns the field of every item.
pub(crate) async fn walk(gateway: &Gateway, path: &str, field: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let sign = if path.contains('?') { '&' } else { '?' };
    let mut call = format!("GET {path}{sign}limit=2");
    loop {
        let page = gateway.send(&call, "").await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        seen.extend(items.iter().map(|it| it[field].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { return seen };
        call = format!("GET {path}{sign}limit=2&after={next}");
    }
}

#[tokio::test]
async fn every_list_can_be_walked_to_its_end() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    for name in ["b", "a", "c"] {
        gateway.send(&format!("PUT /v1/spaces/{name}"), "").await;
    }
    assert_eq!(walk(&gateway, "/v1/spaces", "space").await, ["a", "b", "c", "s"]);
    let records: Vec<String> = (0..5).map(|it| format!(r#"{{"id":"{it}","text":"x"}}"#)).collect();
    let body = format!(r#"{{"records":[{}]}}"#, records.join(","));
    let mark = gateway.send("POST /v1/spaces/s/records", &body).await.json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/records", "id").await,
        ["0", "1", "2", "3", "4"]
    );
}

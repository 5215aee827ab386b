use axum::http::StatusCode;

use crate::harness::Gateway;

#[tokio::test]
async fn requests_without_a_body_refuse_a_body() {
    let gateway = Gateway::new().await;
    for call in [
        "PUT /v1/spaces/t",
        "POST /v1/spaces/s/rebuild",
        "POST /v1/admin/dead-letters/1/replay",
    ] {
        for body in [r#"{"retention":"1d"}"#, "[]", "null", "x"] {
            let problem_text = gateway.send(call, body).await.problem();
            assert!(
                problem_text.starts_with("422 this request takes no body"),
                "{call} {body}: {problem_text}"
            );
        }
    }
    assert_eq!(gateway.send("GET /v1/spaces/t", "").await.status, StatusCode::NOT_FOUND);
    for (body, expected) in [(" {\n} ", StatusCode::CREATED), ("", StatusCode::OK)] {
        assert_eq!(gateway.send("PUT /v1/spaces/t", body).await.status, expected);
    }
}

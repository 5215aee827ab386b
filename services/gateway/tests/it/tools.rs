use domain::message::{ToolErrorV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1};
use serde_json::{Value, json};

use crate::harness::Gateway;

const ECHO: &str = "POST /v1/spaces/s/tools/echo";

/// Returns a catalogue of one tool.
pub(crate) fn echo() -> Vec<ToolSpecV1> {
    vec![ToolSpecV1 {
        name: "echo".into(),
        description: "Says how it was called.".into(),
        input_schema: json!({"type": "object", "properties": {"query": {"type": "string"}}}),
    }]
}

/// Returns a gateway whose router has one tool, which returns its arguments.
async fn tooled() -> Gateway {
    let gateway = Gateway::new().await;
    gateway.serve::<ToolsV1>(|_| echo());
    gateway.serve::<ToolV1>(|call| {
        if call.name == "echo" {
            let echoed_call = json!({"space": call.space, "arguments": call.arguments, "as_of": call.as_of});
            return ToolledV1 {
                result: Some(echoed_call),
                error: None,
            };
        }
        ToolledV1 {
            result: None,
            error: Some(ToolErrorV1 {
                code: "unknown_tool".into(),
                message: "there is no such tool; the tools are: echo".into(),
            }),
        }
    });
    gateway.settled().await;
    gateway
}

async fn call(gateway: &Gateway, call: &str, arguments: &Value) -> Value {
    let reply = gateway.send(call, &arguments.to_string()).await;
    assert_eq!(reply.status.as_u16(), 200, "{reply:?}");
    reply.json()
}

#[tokio::test]
async fn the_gateway_lists_the_tools_of_the_router() {
    let gateway = tooled().await;
    let listed = gateway.send("GET /v1/tools", "").await.json();
    assert_eq!(listed["tools"][0]["name"], "echo");
    assert_eq!(listed["tools"][0]["input_schema"]["type"], "object");
    assert_eq!(gateway.send("GET /v1/spaces/s/tools", "").await.json(), listed);
    let nobody = gateway.send("GET /v1/spaces/nobody/tools", "").await.problem();
    assert!(nobody.starts_with("404 there is no space `nobody`"), "{nobody}");
}

#[tokio::test]
async fn a_call_reaches_the_space_in_its_path() {
    let gateway = tooled().await;
    let arguments = json!({"query": "the harbour", "space": "another"});
    let response = call(&gateway, ECHO, &arguments).await;
    assert_eq!(response["result"]["space"], "s");
    assert_eq!(response["result"]["arguments"], arguments);
    assert_eq!(response["result"]["as_of"], Value::Null);
    assert!(response.get("error").is_none(), "{response}");
    assert!(response["cost"]["ms"].as_f64().is_some_and(|it| it > 0.0), "{response}");
    assert_eq!(response["cost"]["model_calls"], 0);
    let then = format!("{ECHO}?as_of=2026-02-01");
    let response = call(&gateway, &then, &arguments).await;
    assert_eq!(response["result"]["as_of"], "2026-02-01T00:00:00Z");
    let nobody = gateway.send("POST /v1/spaces/nobody/tools/echo", "{}").await.problem();
    assert!(nobody.starts_with("404 there is no space `nobody`"), "{nobody}");
}

#[tokio::test]
async fn an_invalid_call_returns_an_error_for_the_model() {
    let gateway = tooled().await;
    let response = call(&gateway, "POST /v1/spaces/s/tools/rm", &json!({})).await;
    let unknown = json!({"code": "unknown_tool", "message": "there is no such tool; the tools are: echo"});
    assert_eq!(response["error"], unknown);
    assert!(response.get("result").is_none(), "{response}");
    let response = call(&gateway, ECHO, &json!({"query": "x".repeat(70_000)})).await;
    assert_eq!(response["error"]["code"], "bad_arguments");
    let message = response["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the arguments have 70012 bytes, more than 65536"),
        "{message}"
    );
    let then = gateway.send(&format!("{ECHO}?as_of=then"), "{}").await.problem();
    assert!(then.starts_with("422 as_of: is not a time like"), "{then}");
}

#[tokio::test]
async fn a_call_without_a_router_can_be_retried() {
    let gateway = Gateway::new().await;
    for call in ["GET /v1/tools", "GET /v1/spaces/s/tools", ECHO] {
        let body = if call == ECHO { "{}" } else { "" };
        let reply = gateway.send(call, body).await;
        assert_eq!(reply.status.as_u16(), 503, "{reply:?}");
        assert_eq!(reply.headers["retry-after"], "1");
        reply.problem();
    }
}

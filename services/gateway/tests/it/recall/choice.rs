//! Recall with a language model: the input of the model, and the result of its choice.

use domain::id::{HintId, RecordId, UnitId};
use domain::message::{
    ExplorationStrategy, LookV1, RecallV1, RecalledV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1, TurnV1, TurnedV1,
};
use domain::port::{ModelCost, Usage};
use domain::recall::Hint;
use serde_json::{Value, json};

use super::{RECALL, ask, hint};
use crate::harness::Gateway;

const NOTHING: &str = "the language model found nothing worth saying";

fn unit(name: &str) -> UnitId {
    UnitId::of_turn(RecordId::from_external_id(&"s".parse().unwrap(), name))
}

fn about(request: &RecallV1, unit: UnitId, text: &str) -> Hint {
    Hint {
        id: HintId::from_subject_and_trigger(unit.uuid(), "topic"),
        units: vec![unit],
        ..hint(request, text)
    }
}

/// A router with two candidates for a model and one hint by rule. It returns chosen units unless they were already
/// given or are named `secret`.
fn router(request: RecallV1) -> RecalledV1 {
    let named_unit = |name: &str| about(&request, unit(name), name);
    let all: Vec<Hint> = match (request.wide, request.chosen.is_empty()) {
        (true, _) => {
            assert_eq!((request.limit, request.chosen.len()), (20, 0));
            vec![named_unit("fish"), named_unit("steak")]
        }
        (false, true) => vec![named_unit("rule")],
        (false, false) => {
            let chosen = request.chosen.iter().filter(|it| **it != unit("secret"));
            chosen.map(|it| about(&request, *it, "chosen")).collect()
        }
    };
    let mut hints: Vec<Hint> = all.into_iter().filter(|it| !request.silent.contains(&it.id)).collect();
    hints.truncate(request.limit as usize);
    RecalledV1 {
        hints,
        considered: 7,
        ..RecalledV1::default()
    }
}

fn catalogue(_: ToolsV1) -> Vec<ToolSpecV1> {
    let tool = |name: &str| ToolSpecV1 {
        name: name.to_owned(),
        description: "Looks.".to_owned(),
        input_schema: json!({"type": "object", "properties": {}}),
    };
    ["query_event_context", "list_dimensions", "semantic_retrieve"]
        .map(tool)
        .into()
}

fn tool(call: ToolV1) -> ToolledV1 {
    assert_eq!(call.space.as_str(), "s");
    let as_of = call.as_of.unwrap().to_rfc3339();
    assert_eq!(as_of, "2026-05-07T11:59:59.999999+00:00", "just before the message");
    let name = call.arguments["query"].as_str().unwrap_or("page");
    ToolledV1 {
        result: Some(json!({"found": [{"unit": unit(name), "text": format!("Eve: {name}")}]})),
        error: None,
    }
}

fn spent() -> ModelCost {
    ModelCost {
        calls: 1,
        usage: Usage {
            prompt_tokens: 30,
            completion_tokens: 10,
        },
        ms: 1.0,
    }
}

fn end(lines: &[u32]) -> TurnedV1 {
    TurnedV1 {
        lines: lines.to_vec(),
        spent: spent(),
        ..TurnedV1::default()
    }
}

fn search(query: &str) -> TurnedV1 {
    TurnedV1 {
        calls: vec![LookV1 {
            name: "semantic_retrieve".to_owned(),
            arguments: json!({"query": query}),
        }],
        spent: spent(),
        ..TurnedV1::default()
    }
}

async fn started(decide: fn(TurnV1) -> TurnedV1) -> Gateway {
    let gateway = Gateway::new().await;
    gateway.serve::<RecallV1>(router);
    gateway.serve::<ToolsV1>(catalogue);
    gateway.serve::<ToolV1>(tool);
    gateway.serve::<TurnV1>(decide);
    gateway.settled().await;
    gateway
}

async fn recall_with_calls(gateway: &Gateway, calls: u32) -> Value {
    let body = json!({"message": "Dinner on Friday?", "actor": "Ann", "at": "2026-05-07T12:00:00Z", "limit": 2,
        "budget": {"model_calls": calls}});
    ask(gateway, &body).await
}

fn units(body: &Value) -> Vec<UnitId> {
    let hints = body["hints"].as_array().unwrap();
    hints
        .iter()
        .map(|it| it["units"][0].as_str().unwrap().parse().unwrap())
        .collect()
}

/// A model that searches once, and then chooses a result, a line that does not exist, and a candidate.
fn curious(turn: TurnV1) -> TurnedV1 {
    assert_eq!((turn.walk, turn.lines_max), (ExplorationStrategy::Recall, Some(2)));
    assert_eq!(turn.question, "Ann: Dinner on Friday?");
    if turn.lookups.is_empty() {
        let names: Vec<&str> = turn.tools.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["list_dimensions", "semantic_retrieve"]);
        return search("allergy");
    }
    let line = |text: &str| (1..).zip(&turn.lines).find(|(_, it)| *it == text).map(|it| it.0);
    let lines = [line("Eve: allergy"), Some(99), line("steak")];
    end(&lines.into_iter().flatten().collect::<Vec<u32>>())
}

#[tokio::test]
async fn hints_that_a_model_chooses_are_returned_in_its_order() {
    let gateway = started(curious).await;
    let body = recall_with_calls(&gateway, 5).await;
    assert_eq!(units(&body), [unit("allergy"), unit("steak")], "{body}");
    assert_eq!((&body["degraded"], body.get("silent")), (&json!([]), None), "{body}");
    let cost = &body["cost"];
    assert_eq!(
        (&cost["model_calls"], &cost["candidates"]),
        (&json!(2), &json!(7)),
        "{body}"
    );
    assert_eq!(
        cost["usage"],
        json!({"prompt_tokens": 60, "completion_tokens": 20}),
        "{body}"
    );
    assert_eq!(cost["roles"]["recall"]["calls"], 2, "{body}");
    let steps = cost["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["step"].as_str().unwrap());
    let steps: Vec<&str> = steps.collect();
    assert_eq!(steps, ["ledger", "candidates", "choice", "recall", "note"]);
    // Both hints were given, so the repeated choice of the model is withheld.
    let again = recall_with_calls(&gateway, 5).await;
    assert_eq!(again["hints"], json!([]), "{again}");
    let silent = "the hints that the language model chose were already said or dismissed, or may not be said here";
    assert_eq!(
        (&again["silent"], &again["degraded"]),
        (&json!(silent), &json!([])),
        "{again}"
    );
}

#[tokio::test]
async fn a_message_has_no_hints_if_the_model_chooses_none() {
    let gateway = started(|_| end(&[])).await;
    let body = recall_with_calls(&gateway, 1).await;
    assert_eq!(
        (&body["hints"], &body["silent"]),
        (&json!([]), &json!(NOTHING)),
        "{body}"
    );
    assert_eq!(
        (&body["degraded"], &body["cost"]["candidates"]),
        (&json!([]), &json!(7)),
        "{body}"
    );
    let rule = recall_with_calls(&gateway, 0).await;
    assert_eq!(units(&rule), [unit("rule")], "no call is allowed: {rule}");
    assert_eq!(
        (&rule["cost"]["model_calls"], rule["cost"].get("roles")),
        (&json!(0), None),
        "{rule}"
    );
}

#[tokio::test]
async fn hints_by_rule_are_returned_if_a_model_makes_no_choice() {
    let away = |_| TurnedV1 {
        degraded: vec!["its endpoint answers 500".to_owned()],
        spent: spent(),
        ..TurnedV1::default()
    };
    let body = recall_with_calls(&started(away).await, 5).await;
    let expected = "recall: no decision of the language model: its endpoint answers 500";
    assert_eq!(
        (units(&body), &body["degraded"]),
        (vec![unit("rule")], &json!([expected])),
        "{body}"
    );
    assert_eq!(body["cost"]["roles"]["recall"]["calls"], 1, "{body}");

    // A model that also uses its last call for a search.
    let restless = |turn: TurnV1| search(&turn.lookups.len().to_string());
    let body = recall_with_calls(&started(restless).await, 9).await;
    let expected = "recall: ended without a choice";
    assert_eq!(
        (units(&body), &body["degraded"]),
        (vec![unit("rule")], &json!([expected])),
        "{body}"
    );
    assert_eq!(body["cost"]["model_calls"], 3, "three turns: {body}");
}

#[tokio::test]
async fn hints_that_the_conditions_withhold_are_not_returned_although_a_model_chose_them() {
    let body = recall_with_calls(
        &started(|turn| match turn.lookups.is_empty() {
            true => search("secret"),
            false => end(&[3]),
        })
        .await,
        3,
    )
    .await;
    assert_eq!((&body["hints"], &body["degraded"]), (&json!([]), &json!([])), "{body}");
    assert!(
        body["silent"]
            .as_str()
            .unwrap()
            .starts_with("the hints that the language model chose"),
        "{body}"
    );
}

#[tokio::test]
async fn the_budget_of_a_message_has_the_limits_of_a_question() {
    let gateway = started(|_| end(&[])).await;
    for (budget, expected) in [
        (json!({"model_calls": 65}), "422 budget.model_calls: is more than 64"),
        (
            json!({"model_calls": 1, "model_tokens": 10_000_001}),
            "422 budget.model_tokens: is more than 10000000",
        ),
        (
            json!({"model_calls": 1, "ms": 600_001}),
            "422 budget.ms: is more than 600000",
        ),
        (json!({"ms": 30_001}), "422 budget.ms: is more than 30000"),
    ] {
        let body = json!({"message": "Dinner?", "budget": budget});
        assert_eq!(gateway.send(RECALL, &body.to_string()).await.problem(), expected);
    }
    let long = json!({"message": "Dinner?", "budget": {"model_calls": 1, "ms": 600_000}});
    assert_eq!(ask(&gateway, &long).await["silent"], json!(NOTHING));
}

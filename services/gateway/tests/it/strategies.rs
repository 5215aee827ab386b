//! Strategies over a memory and a language model with prepared answers: when loops end, what they report, and what they
//! may cost.

mod auto;
mod looking;
mod parts;
mod short;

use axum::http::StatusCode;
use domain::evidence::{EvidencePack, PackItem, RankedUnit, Scene, Scores, Turn};
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::{PlannedV1, RouteV1, RoutedV1};
use domain::port::ModelCost;
use serde_json::{Value, json};

use crate::harness::{Gateway, nothing};

fn space() -> SpaceId {
    "s".parse().unwrap()
}

fn unit(name: &str) -> UnitId {
    UnitId::of_turn(RecordId::from_external_id(&space(), name))
}

/// Asks a question with an explanation and with calls of a language model.
async fn ask(gateway: &Gateway, strategy: &str, calls: u32, question: &str) -> Value {
    let body = json!({"question": question, "strategy": strategy, "explain": 1,
        "budget": {"model_calls": calls, "ms": 20_000}});
    let reply = gateway.send("POST /v1/spaces/s/query", &body.to_string()).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    reply.json()
}

/// Returns the names of the steps.
fn path(body: &Value) -> Vec<&str> {
    let steps = body["path"].as_array().unwrap();
    steps.iter().map(|it| it["step"].as_str().unwrap()).collect()
}

/// Returns the object of the last step of a kind.
fn about<'a>(body: &'a Value, step: &str) -> &'a str {
    let steps = body["path"].as_array().unwrap();
    let last = steps.iter().rfind(|it| it["step"] == step).unwrap();
    last["what"].as_str().unwrap()
}

/// Returns the units in the pack: those that were passed to the router, in its order.
fn gathered(body: &Value) -> Vec<UnitId> {
    let items = body["pack"]["items"].as_array().unwrap();
    items
        .iter()
        .map(|it| it["unit"].as_str().unwrap().parse().unwrap())
        .collect()
}

fn planned(subgoals: &[&str], calls: u32) -> PlannedV1 {
    PlannedV1 {
        subgoals: subgoals.iter().map(|&it| it.to_owned()).collect(),
        cues: Vec::new(),
        spent: spent(calls),
        degraded: Vec::new(),
    }
}

fn spent(calls: u32) -> ModelCost {
    ModelCost {
        calls,
        ..ModelCost::default()
    }
}

/// Returns an answer of the router: units by name with score and text, the first with the given probability; its pack
/// is the focus.
fn ranked(request: RouteV1, units: &[(&str, f32, &str)], probability: f32) -> RoutedV1 {
    let scene = |&(name, score, text): &(&str, f32, &str)| Scene {
        score,
        probability,
        center: 0,
        turns: vec![Turn {
            unit: unit(name),
            external_ids: vec![name.into()],
            session: SessionId::from_name(&request.space, name),
            observed_at: "2026-05-07T18:30:00+02:00".parse().unwrap(),
            actor: "Ann".into(),
            addressee: String::new(),
            text: text.into(),
            question: String::new(),
            caption: String::new(),
            times: Vec::new(),
            amended: Vec::new(),
        }],
        packed: false,
    };
    let listed = |&(name, score, text): &(&str, f32, &str)| RankedUnit {
        unit: unit(name),
        external_ids: vec![name.into()],
        text: text.into(),
        score,
        topic: None,
    };
    RoutedV1 {
        scenes: units.iter().take(request.scenes as usize).map(scene).collect(),
        ranked: units.iter().take(request.ranked as usize).map(listed).collect(),
        ..focused(request)
    }
}

/// Returns an answer of the router that packs the gathered units.
fn focused(request: RouteV1) -> RoutedV1 {
    let item = |&unit: &UnitId| PackItem {
        unit,
        records: Vec::new(),
        external_ids: Vec::new(),
        session: SessionId::from_name(&request.space, "x"),
        observed_at: "2026-05-07T18:30:00+02:00".parse().unwrap(),
        actor: String::new(),
        text: "x".into(),
        tokens: 1,
        scores: Scores::default(),
        probability: 0.5,
        channels: Vec::new(),
    };
    let pack = EvidencePack {
        items: request.focus.iter().map(item).collect(),
        tokens: request.focus.len().try_into().unwrap(),
        budget: request.tokens,
    };
    RoutedV1 {
        pack,
        ..nothing(request)
    }
}

//! Published messages are frozen: their stored bytes can be parsed, and serialise to the same bytes.

use std::fs;
use std::path::Path;

use domain::evidence::AnswerStyle;
use domain::message::{
    AnswerV1, AnsweredV1, Message, PlanV1, PlannedV1, RankV1, RankedV1, RecallV1, RecalledV1, RecordsAcceptedV1,
    Request, RouteV1, RoutedV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1, TurnV1, TurnedV1, UnitsOrganisedV1,
    UnitsWrittenV1,
};
use domain::unit::Unit;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn check_frozen<T: Serialize + DeserializeOwned>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    let bytes = fs::read_to_string(&path).unwrap();
    let value: T = serde_json::from_str(&bytes).unwrap_or_else(|error| panic!("{name} does not parse: {error}"));
    assert_eq!(
        serde_json::to_string_pretty(&value).unwrap() + "\n",
        bytes,
        "{name} prints differently"
    );
    value
}

#[test]
fn records_accepted_v1_is_frozen() {
    let message: RecordsAcceptedV1 = check_frozen("records_accepted.v1.json");
    assert_eq!(RecordsAcceptedV1::SUBJECT, "records-accepted.v1");
    assert_eq!(message.dedup_key(), "ann/0f1e2d");
    for record in &message.records {
        assert_eq!(
            record.id,
            domain::id::RecordId::from_external_id(&message.space, &record.external_id)
        );
        assert_eq!(
            record.session,
            domain::id::SessionId::from_name(&message.space, &record.session_name)
        );
    }
}

/// The batch of records above was frozen before curations existed, and curations did not change it.
#[test]
fn curations_do_not_change_records_accepted_v1() {
    let message: RecordsAcceptedV1 = check_frozen("curations_accepted.v1.json");
    assert!(message.records.is_empty());
    assert_eq!(message.curations.len(), 7, "one of each act");
    let records: RecordsAcceptedV1 = check_frozen("records_accepted.v1.json");
    assert!(records.curations.is_empty());
}

#[test]
fn units_organised_v1_is_frozen() {
    let message: UnitsOrganisedV1 = check_frozen("units_organised.v1.json");
    assert_eq!(UnitsOrganisedV1::SUBJECT, "units-organised.v1");
    assert_eq!(message.dedup_key(), "ann/7");
}

#[test]
fn tools_v1_and_tool_v1_are_frozen() {
    check_frozen::<ToolsV1>("tools.v1.json");
    assert_eq!(ToolsV1::SUBJECT, "tools.v1");
    let tools: Vec<ToolSpecV1> = check_frozen("tool_specs.v1.json");
    let call: ToolV1 = check_frozen("tool.v1.json");
    assert_eq!(ToolV1::SUBJECT, "tool.v1");
    assert_eq!(call.name, tools[0].name);
    let reply: ToolledV1 = check_frozen("tooled.v1.json");
    assert!(reply.result.is_some() && reply.error.is_none());
    let refused: ToolledV1 = check_frozen("tool_error.v1.json");
    assert_eq!(refused.error.unwrap().code, "not_found");
}

/// The call above was frozen before calls had the filter of a question, and the filter did not change it.
#[test]
fn filters_do_not_change_tool_v1() {
    let call: ToolV1 = check_frozen("tool_with_filter.v1.json");
    assert!(!call.filter.is_empty() && !call.labels.is_empty());
    let call: ToolV1 = check_frozen("tool.v1.json");
    assert!(call.filter.is_empty());
}

#[test]
fn recall_v1_is_frozen() {
    let request: RecallV1 = check_frozen("recall.v1.json");
    assert_eq!(RecallV1::SUBJECT, "recall.v1");
    let reply: RecalledV1 = check_frozen("recalled.v1.json");
    assert!(!request.silent.contains(&reply.hints[0].id));
}

#[test]
fn plan_v1_is_frozen() {
    let request: PlanV1 = check_frozen("plan.v1.json");
    assert_eq!(PlanV1::SUBJECT, "plan.v1");
    let reply: PlannedV1 = check_frozen("planned.v1.json");
    assert_eq!(reply.subgoals[0], request.question);
}

#[test]
fn units_written_v1_is_frozen() {
    let message: UnitsWrittenV1 = check_frozen("units_written.v1.json");
    assert_eq!(UnitsWrittenV1::SUBJECT, "units-written.v1");
    let records: RecordsAcceptedV1 = check_frozen("records_accepted.v1.json");
    assert_eq!(message.units[0], domain::id::UnitId::of_turn(records.records[0].id));
    assert_eq!(message.dedup_key(), "ann/7");
}

#[test]
fn route_v1_is_frozen() {
    let request: RouteV1 = check_frozen("route.v1.json");
    assert_eq!(RouteV1::SUBJECT, "route.v1");
    assert_eq!(request.tokens, 512);
    let reply: RoutedV1 = check_frozen("routed.v1.json");
    assert_eq!(
        reply.pack.items.iter().map(|it| it.tokens).sum::<u32>(),
        reply.pack.tokens
    );
}

#[test]
fn answer_v1_is_frozen() {
    let request: AnswerV1 = check_frozen("answer.v1.json");
    assert_eq!(AnswerV1::SUBJECT, "answer.v1");
    let reply: AnsweredV1 = check_frozen("answered.v1.json");
    let answer = reply.answer.unwrap();
    assert!(answer.supports.contains(&request.pack.items[0].unit));
}

/// The request above was frozen before readings of questions existed, and they did not change it.
#[test]
fn readings_do_not_change_answer_v1() {
    let request: AnswerV1 = check_frozen("answer_with_reading.v1.json");
    assert!(request.reading.is_some());
    let request: AnswerV1 = check_frozen("answer.v1.json");
    assert!(request.reading.is_none());
}

/// The request above was frozen before answer styles existed, and they did not change it.
#[test]
fn styles_do_not_change_answer_v1() {
    let request: AnswerV1 = check_frozen("answer_with_style.v1.json");
    assert_eq!(request.style, AnswerStyle::Free);
    let request: AnswerV1 = check_frozen("answer.v1.json");
    assert_eq!(request.style, AnswerStyle::Short);
}

#[test]
fn rank_v1_is_frozen() {
    let request: RankV1 = check_frozen("rank.v1.json");
    assert_eq!(RankV1::SUBJECT, "rank.v1");
    let reply: RankedV1 = check_frozen("ranked.v1.json");
    assert_eq!(reply.units, [request.candidates[0].unit]);
}

#[test]
fn turn_v1_is_frozen() {
    let request: TurnV1 = check_frozen("turn.v1.json");
    assert_eq!(TurnV1::SUBJECT, "turn.v1");
    let reply: TurnedV1 = check_frozen("turned.v1.json");
    assert_eq!(reply.calls[0].name, request.tools[0].name);
}

#[test]
fn the_stored_form_of_a_unit_is_frozen() {
    let unit: Unit = check_frozen("unit.json");
    assert_eq!(unit.id, domain::id::UnitId::of_turn(unit.records[0]));
}

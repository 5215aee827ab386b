//! Statements that were corrected or retired by hand.

use domain::curation::{Act, Curation};
use domain::id::{CurationId, FactId};
use domain::port::Position;
use serde_json::{Value, json};

use super::{call, opened};
use crate::derived::{at, turn};
use crate::talk::space;

#[tokio::test]
async fn a_statement_is_quoted_with_its_correction() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir).await;
    let decide = |id: &str, act: Act| Curation {
        id: CurationId::from_external_id(&space(), id),
        at: at("2024-06-01T00:00:00Z"),
        by: String::new(),
        act,
        reason: String::new(),
    };
    let correct = Act::CorrectFact {
        fact: FactId::from_statement(turn(4), "Omar", "lives in", "Bergen"),
        object: "Trondheim".to_owned(),
    };
    let retire = Act::RetireFact {
        fact: FactId::from_statement(turn(6), "Omar", "likes", "kilns"),
    };
    let curations = [decide("1", correct), decide("2", retire)];
    let records = &ctx.backends.records;
    records.put_curations(&space(), Position(1), &curations).await.unwrap();
    let quote = async |number: usize, as_of: Option<&str>| {
        let arguments = json!({"unit": turn(number), "before": 0, "after": 0});
        let reply: Value =
            serde_json::from_str(&call(&router, "query_event_context", &arguments, as_of).await).unwrap();
        reply["result"]["units"][0]["text"].as_str().unwrap().to_owned()
    };
    let corrected = quote(4, None).await;
    assert!(
        corrected.ends_with(" [corrected since: \"Bergen\" is \"Trondheim\"]"),
        "{corrected}"
    );
    let retired = quote(6, None).await;
    assert!(retired.ends_with(" [taken back since: \"kilns\"]"), "{retired}");
    for number in [4, 6] {
        let before = quote(number, Some("2024-05-01T00:00:00Z")).await;
        assert!(!before.contains("since:"), "{before}");
    }
}

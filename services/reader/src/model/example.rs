//! A line of a pack and a request, for the tests.

use domain::anchor::Anchors;
use domain::evidence::{AnswerStyle, EvidencePack, PackItem, Scores};
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::AnswerV1;
use domain::port::ModelAllowance;

pub(super) fn sample_item(number: u32, text: &str) -> PackItem {
    let space: SpaceId = "talk".parse().unwrap();
    let record = RecordId::from_external_id(&space, &number.to_string());
    PackItem {
        unit: UnitId::of_turn(record),
        records: vec![record],
        external_ids: vec![number.to_string()],
        session: SessionId::from_name(&space, "monday"),
        observed_at: "2026-03-02T18:00:00+01:00".parse().unwrap(),
        actor: "Ann".to_owned(),
        text: text.to_owned(),
        tokens: 9,
        scores: Scores::default(),
        probability: 0.5,
        channels: Vec::new(),
    }
}

pub(super) fn sample_request(question: &str, texts: &[&str]) -> AnswerV1 {
    let numbered = (1..).zip(texts).map(|(number, text)| sample_item(number, text));
    AnswerV1 {
        space: "talk".parse().unwrap(),
        question: question.to_owned(),
        anchors: Anchors {
            asked_at: Some("2026-03-09T09:30:00+01:00".parse().unwrap()),
            ..Anchors::default()
        },
        reading: None,
        speakers: vec!["Ann".to_owned()],
        words: Vec::new(),
        pack: EvidencePack {
            items: numbered.collect(),
            tokens: 27,
            budget: 64,
        },
        scenes: Vec::new(),
        style: AnswerStyle::default(),
        allow: ModelAllowance::default(),
    }
}

//! A line of a pack, for the tests.

use domain::evidence::{PackItem, Scores};
use domain::id::{RecordId, SessionId, SpaceId, UnitId};

pub(super) fn item(number: u32, text: &str) -> PackItem {
    let space: SpaceId = "talk".parse().unwrap();
    let record = RecordId::derive(&space, &number.to_string());
    PackItem {
        unit: UnitId::turn(record),
        records: vec![record],
        external_ids: vec![number.to_string()],
        session: SessionId::derive(&space, "monday"),
        observed_at: "2026-03-02T18:00:00+01:00".parse().unwrap(),
        actor: "Ann".to_owned(),
        text: text.to_owned(),
        tokens: 9,
        scores: Scores::default(),
        probability: 0.5,
        channels: Vec::new(),
    }
}

use domain::reading::{Reading, ReadingKind};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::Metrics;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Made {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Derived {
    kind: &'static str,
}

/// The metrics of readings.
#[derive(Default)]
pub(super) struct Readings {
    made: Family<Made, Counter>,
    derived: Family<Derived, Counter>,
    left_out: Counter,
}

impl Readings {
    pub(super) fn register(&self, it: &mut Registry) {
        it.register(
            "mnemic_readings",
            "Readings that a language model made of records",
            self.made.clone(),
        );
        it.register(
            "mnemic_readings_derived",
            "Gists, facts and relations derived from readings when they were made",
            self.derived.clone(),
        );
        it.register(
            "mnemic_readings_left_out",
            "Items of replies that the records do not bear out",
            self.left_out.clone(),
        );
    }
}

impl Metrics {
    /// Counts one stored reading and the objects derived from it.
    pub fn reading(&self, reading: &Reading) {
        let readings = &self.0.readings;
        let made = Made {
            kind: match reading.kind {
                ReadingKind::Passage => "passage",
                ReadingKind::Picture => "picture",
                ReadingKind::Events => "events",
                ReadingKind::Label => "label",
                ReadingKind::Page => "page",
                ReadingKind::People => "people",
            },
            outcome: match reading.failure {
                Some(_) => "failed",
                None => "done",
            },
        };
        readings.made.get_or_create(&made).inc();
        let outcome = &reading.outcome;
        for (kind, count) in [
            ("gist", outcome.gists),
            ("fact", outcome.facts),
            ("relation", outcome.relations),
        ] {
            readings.derived.get_or_create(&Derived { kind }).inc_by(count.into());
        }
        let left_out = u64::try_from(outcome.left_out.len()).unwrap_or(u64::MAX);
        readings.left_out.inc_by(left_out);
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use domain::id::{ReadingId, RecordId, SessionId, SpaceId};
    use domain::port::ModelCost;
    use domain::reading::{LeftOut, ReadingOutcome};

    use super::*;

    fn reading(failure: Option<&str>, outcome: ReadingOutcome) -> Reading {
        let space: SpaceId = "private-space".parse().unwrap();
        let record = RecordId::derive(&space, "1");
        Reading {
            id: ReadingId::derive(record),
            kind: ReadingKind::Passage,
            session: SessionId::derive(&space, "friday"),
            records: vec![record],
            beside: Vec::new(),
            earlier: Vec::new(),
            digest: String::new(),
            prompt: "read/1".to_owned(),
            model: "parrot".to_owned(),
            at: DateTime::<Utc>::UNIX_EPOCH,
            output: "a secret fern".to_owned(),
            failure: failure.map(str::to_owned),
            outcome,
            spent: ModelCost::default(),
        }
    }

    #[test]
    fn readings_are_counted_by_outcome_and_metrics_hold_no_text() {
        let metrics = Metrics::default();
        let left_out = LeftOut {
            what: "a secret fern".to_owned(),
            why: "its line does not exist".to_owned(),
        };
        let outcome = ReadingOutcome {
            gists: 3,
            facts: 2,
            relations: 1,
            events: 0,
            left_out: vec![left_out.clone(), left_out],
        };
        metrics.reading(&reading(None, outcome));
        metrics.reading(&reading(Some("a secret fern"), ReadingOutcome::default()));
        let text = metrics.text().unwrap();
        for line in [
            "mnemic_readings_total{kind=\"passage\",outcome=\"done\"} 1",
            "mnemic_readings_total{kind=\"passage\",outcome=\"failed\"} 1",
            "mnemic_readings_derived_total{kind=\"gist\"} 3",
            "mnemic_readings_derived_total{kind=\"fact\"} 2",
            "mnemic_readings_derived_total{kind=\"relation\"} 1",
            "mnemic_readings_left_out_total 2",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        for said in ["fern", "private-space", "parrot"] {
            assert!(!text.contains(said), "{said}: {text}");
        }
    }
}

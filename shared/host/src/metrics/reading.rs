use domain::reading::{Reading, ReadingKind};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::Metrics;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReadingLabels {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DerivedLabels {
    kind: &'static str,
}

/// The metrics of readings.
#[derive(Default)]
pub(super) struct Readings {
    readings_by_outcome: Family<ReadingLabels, Counter>,
    derived: Family<DerivedLabels, Counter>,
    left_out: Counter,
}

impl Readings {
    pub(super) fn register_in(&self, it: &mut Registry) {
        it.register(
            "mnemic_readings",
            "Readings that a language model made of records",
            self.readings_by_outcome.clone(),
        );
        it.register(
            "mnemic_readings_derived",
            "Gists, facts and relations derived from readings when they were made",
            self.derived.clone(),
        );
        it.register(
            "mnemic_readings_left_out",
            "Items of replies that the records do not support",
            self.left_out.clone(),
        );
    }
}

impl Metrics {
    /// Counts one stored reading and the objects derived from it.
    pub fn count_reading(&self, reading: &Reading) {
        let readings = &self.0.readings;
        let labels = ReadingLabels {
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
        readings.readings_by_outcome.get_or_create(&labels).inc();
        let outcome = &reading.outcome;
        for (kind, count) in [
            ("gist", outcome.gists),
            ("fact", outcome.facts),
            ("relation", outcome.relations),
        ] {
            readings
                .derived
                .get_or_create(&DerivedLabels { kind })
                .inc_by(count.into());
        }
        let left_out = u64::try_from(outcome.left_out.len()).unwrap_or(u64::MAX);
        readings.left_out.inc_by(left_out);
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{RecordId, SpaceId};
    use domain::reading::{LeftOut, ReadingOutcome};

    use super::*;

    fn sample_reading(failure: Option<&str>, outcome: ReadingOutcome) -> Reading {
        let space: SpaceId = "private-space".parse().unwrap();
        let record = RecordId::from_external_id(&space, "1");
        Reading {
            prompt: "read/1".to_owned(),
            output: "a secret fern".to_owned(),
            failure: failure.map(str::to_owned),
            outcome,
            ..fixtures::sample_reading(&space, record)
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
            waits_for_second_look: false,
        };
        metrics.count_reading(&sample_reading(None, outcome));
        metrics.count_reading(&sample_reading(Some("a secret fern"), ReadingOutcome::default()));
        let text = metrics.to_openmetrics_text().unwrap();
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
        for private_word in ["fern", "private-space", "parrot"] {
            assert!(!text.contains(private_word), "{private_word}: {text}");
        }
    }
}

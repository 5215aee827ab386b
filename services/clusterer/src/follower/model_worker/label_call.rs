//! Labels one topic with one call of the language model.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use host::{Backends, UnstoredCosts, clock};

use crate::Error;
use crate::follower::lookups::coreference_readings::units_by_id;
use crate::follower::model_worker::ask_model::Reply;
use crate::follower::model_worker::coreference_worker::{AWAY, AskOutcome, CoreferenceWorker, Model};
use crate::judgements::labels::prompt::{PROMPT, build_prompt, shown_of};
use crate::judgements::labels::reply::UncheckedLabel;
use crate::judgements::labels::{LabelQuestion, TopicLabel, is_current_event, label_digest};

impl CoreferenceWorker {
    /// Asks the model to label the topic of a question, and stores its reply.
    pub(crate) async fn label_topic(
        &self,
        model: &Model,
        space: &SpaceId,
        question: &LabelQuestion,
    ) -> Result<AskOutcome, Error> {
        let backends = &self.context.backends;
        let ids: Vec<UnitId> = question.others.iter().copied().chain([question.founder]).collect();
        let mut events = units_by_id(backends, space, &ids).await?;
        events.retain(|_, it| is_current_event(it) && !it.records.is_empty());
        let Some(founder) = events.remove(&question.founder) else {
            return Ok(AskOutcome::Later(clock::now() + AWAY));
        };
        let shown = shown_of(&founder, question.others.iter().filter_map(|it| events.get(it)));
        let former = FormerLabel::find(backends, space, question).await?;
        if former.as_ref().is_some_and(|it| it.is_answer_to(question)) {
            // Another process has labelled the topic.
            return Ok(AskOutcome::Done);
        }
        let (id, chat) = (question.place.reading, build_prompt(&shown));
        let reply = self
            .ask_within_budget(model, space, id, &chat, UncheckedLabel::extract_stored_form)
            .await?;
        match reply {
            Reply::Later(at) => Ok(AskOutcome::Later(at)),
            Reply::Content(content, spent) => {
                let now = clock::now();
                let replaced = former.as_ref().map(|it| &it.reading);
                let mut total = spent;
                total.add_cost(UnstoredCosts::cost_of_replaced_reading(replaced, now));
                let reading = match former.filter(|it| content.is_err() && it.is_usable()) {
                    Some(former) => former.into_unanswered(question, total, now),
                    None => build_reading(model, question, &shown, &content, total),
                };
                self.store_readings(space, &[reading], spent).await
            }
        }
    }
}

/// The stored reading of a topic.
struct FormerLabel {
    reading: Reading,
    /// The label in the reading. None if an event that the model was shown no longer exists or is hidden now.
    label: Option<TopicLabel>,
}

impl FormerLabel {
    /// Returns the stored reading of the topic of a question.
    async fn find(
        backends: &Backends,
        space: &SpaceId,
        question: &LabelQuestion,
    ) -> Result<Option<FormerLabel>, PortError> {
        let Some(reading) = backends.readings.get(space, &[question.place.reading]).await?.pop() else {
            return Ok(None);
        };
        let ids: Vec<UnitId> = reading.records_seen_by_model().map(UnitId::of_event).collect();
        let events = units_by_id(backends, space, &ids).await?;
        let label = TopicLabel::from_reading(&reading, &events).filter(|_| question.outdated != Some(reading.at));
        Ok(Some(FormerLabel { reading, label }))
    }

    /// Returns true if the reading still answers a question: the topic has not grown, and the prompt is the same.
    fn is_answer_to(&self, question: &LabelQuestion) -> bool {
        self.label.is_some() && self.reading.outcome.events >= question.size && self.reading.prompt == PROMPT
    }

    fn is_usable(&self) -> bool {
        self.label.as_ref().is_some_and(TopicLabel::is_usable)
    }

    /// Returns the reading to store if the model did not answer the question: the former label stays. The current size
    /// and prompt keep the model from being asked again before the topic has doubled.
    fn into_unanswered(self, question: &LabelQuestion, spent: ModelCost, now: DateTime<Utc>) -> Reading {
        let outcome = ReadingOutcome {
            events: question.size,
            ..self.reading.outcome
        };
        Reading {
            prompt: PROMPT.to_owned(),
            at: now,
            outcome,
            spent,
            ..self.reading
        }
    }
}

/// Returns the reading that stores the reply about a topic; `shown` are the events that the model was shown.
fn build_reading(
    model: &Model,
    question: &LabelQuestion,
    shown: &[&Unit],
    reply: &Result<String, String>,
    spent: ModelCost,
) -> Reading {
    let mut seen = BTreeSet::new();
    let mut records = |events: &[&Unit]| -> Vec<RecordId> {
        let all = events.iter().flat_map(|it| it.records.iter().copied());
        all.filter(|it| seen.insert(*it)).collect()
    };
    let (founder, others) = shown.split_at(1);
    let (own, beside) = (records(founder), records(others));
    let checked = reply
        .as_ref()
        .ok()
        .and_then(|it| UncheckedLabel::parse_stored(it))
        .map(|it| it.check_cited_events(shown));
    Reading {
        id: question.place.reading,
        kind: ReadingKind::Label,
        session: shown[0].session,
        records: own,
        beside,
        earlier: Vec::new(),
        digest: label_digest(shown),
        prompt: PROMPT.to_owned(),
        model: model.name.clone(),
        at: clock::now(),
        output: reply.clone().unwrap_or_default(),
        failure: reply.as_ref().err().cloned(),
        outcome: ReadingOutcome {
            events: question.size,
            left_out: checked.map(|it| it.left_out).unwrap_or_default(),
            ..ReadingOutcome::default()
        },
        spent,
    }
}

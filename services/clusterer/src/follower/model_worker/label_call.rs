//! Labels one topic with one call of the language model.

use std::collections::BTreeSet;

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use host::{Backends, clock};

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
        let id = question.place.reading;
        let former = backends.readings.get(space, &[id]).await?.pop();
        if let Some(former) = &former
            && is_answer_to(question, former, backends, space).await?
        {
            // Another process has labelled the topic.
            return Ok(AskOutcome::Done);
        }
        match self
            .ask_within_budget(
                model,
                space,
                id,
                &build_prompt(&shown),
                UncheckedLabel::extract_stored_form,
            )
            .await?
        {
            Reply::Later(at) => Ok(AskOutcome::Later(at)),
            Reply::Content(content, mut spent) => {
                spent.add_cost(former.map(|it| it.spent).unwrap_or_default());
                let reading = build_reading(model, question, &shown, &content, spent);
                self.store_readings(space, &[reading]).await
            }
        }
    }
}

/// Returns true if a reading labels the topic of a question in its current state and all events that the model was
/// shown still exist.
async fn is_answer_to(
    question: &LabelQuestion,
    reading: &Reading,
    backends: &Backends,
    space: &SpaceId,
) -> Result<bool, Error> {
    if reading.outcome.events < question.size || reading.prompt != PROMPT {
        return Ok(false);
    }
    let ids: Vec<UnitId> = reading.records_seen_by_model().map(UnitId::of_event).collect();
    let events = units_by_id(backends, space, &ids).await?;
    Ok(TopicLabel::from_reading(reading, &events).is_some())
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

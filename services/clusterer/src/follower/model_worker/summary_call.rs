//! Summarises one page with one call of the language model.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use host::{UnstoredCosts, clock};

use crate::Error;
use crate::follower::lookups::coreference_readings::units_by_id;
use crate::follower::model_worker::ask_model::Reply;
use crate::follower::model_worker::coreference_worker::{AWAY, AskOutcome, CoreferenceWorker, Model};
use crate::judgements::summaries::prompt::{PROMPT, build_prompt};
use crate::judgements::summaries::reply::StoredSummary;
use crate::judgements::summaries::{PageSummary, ShownSection, SummaryQuestion, page_output, unanswered_output};

impl CoreferenceWorker {
    /// Asks the model to summarise the page of a question, and stores its reply.
    pub(crate) async fn sum_up(
        &self,
        model: &Model,
        space: &SpaceId,
        question: &SummaryQuestion,
    ) -> Result<AskOutcome, Error> {
        let backends = &self.context.backends;
        let lines = question.shown.iter().flat_map(|it| &it.lines);
        let ids: Vec<UnitId> = lines.map(|it| it.unit).collect();
        let told_by = units_by_id(backends, space, &ids).await?;
        let Some(sources) = Sources::from_units(&ids, &told_by) else {
            return Ok(AskOutcome::Later(clock::now() + AWAY));
        };
        let id = question.place.reading;
        let former = backends.readings.get(space, &[id]).await?.pop();
        if former.as_ref().is_some_and(|it| is_answer_to(question, it)) {
            // Another process has summarised the page.
            return Ok(AskOutcome::Done);
        }
        let chat = build_prompt(&question.title, &question.shown);
        let read = |reply: &str| page_output(question, reply);
        match self.ask_within_budget(model, space, id, &chat, read).await? {
            Reply::Later(at) => Ok(AskOutcome::Later(at)),
            Reply::Content(output, spent) => {
                let now = clock::now();
                let mut total = spent;
                total.add_cost(UnstoredCosts::cost_of_replaced_reading(former.as_ref(), now));
                let former = former.filter(|_| output.is_err());
                let reading = match former.and_then(|it| unanswered_reading(question, it)) {
                    Some(unanswered) => Reading {
                        at: now,
                        spent: total,
                        ..unanswered
                    },
                    None => build_reading(model, question, sources, output, total),
                };
                self.store_readings(space, &[reading], spent).await
            }
        }
    }
}

/// The records of the units that the lines of a page come from.
struct Sources<'a> {
    first: &'a Unit,
    /// The records of the other units.
    beside: Vec<RecordId>,
}

impl<'a> Sources<'a> {
    /// Returns the records of these units, in order. Returns none if one of the units is missing or has no record.
    fn from_units(ids: &[UnitId], told_by: &'a BTreeMap<UnitId, Unit>) -> Option<Sources<'a>> {
        let units: Option<Vec<&Unit>> = ids.iter().map(|it| told_by.get(it)).collect();
        let units = units?;
        let first = *units.first()?;
        if units.iter().any(|it| it.records.is_empty()) {
            return None;
        }
        let mut seen: BTreeSet<RecordId> = first.records.iter().copied().collect();
        let others = units.iter().flat_map(|it| it.records.iter().copied());
        Some(Sources {
            first,
            beside: others.filter(|it| seen.insert(*it)).collect(),
        })
    }
}

/// Returns true if a reading summarises the page of a question in its current state.
fn is_answer_to(question: &SummaryQuestion, reading: &Reading) -> bool {
    let lines = question.shown.iter().flat_map(ShownSection::line_digests).collect();
    PageSummary::from_reading(reading).is_some_and(|it| it.covers_lines(&lines))
}

/// Returns the reading to store if the model did not answer the question: the former summary stays. Returns none if
/// nothing of that summary can be used. The current prompt and lines keep the model from being asked again before the
/// page has changed.
fn unanswered_reading(question: &SummaryQuestion, former: Reading) -> Option<Reading> {
    Some(Reading {
        prompt: PROMPT.to_owned(),
        output: unanswered_output(question, &former)?,
        ..former
    })
}

/// Returns the reading that stores the reply about a page.
fn build_reading(
    model: &Model,
    question: &SummaryQuestion,
    sources: Sources<'_>,
    output: Result<String, String>,
    spent: ModelCost,
) -> Reading {
    let failure = output.as_ref().err().cloned();
    // The digests of the shown lines are stored even after a failure, so that the model is not asked again until the
    // page has changed.
    let output = output.unwrap_or_else(|_| StoredSummary::from_reply(None, &question.shown).to_json());
    let checked =
        StoredSummary::parse_stored(&output).map(|it| it.check_against_page(&question.title, &question.shown));
    Reading {
        id: question.place.reading,
        kind: ReadingKind::Page,
        session: sources.first.session,
        records: sources.first.records.clone(),
        beside: sources.beside,
        earlier: Vec::new(),
        digest: question.digest.clone(),
        prompt: PROMPT.to_owned(),
        model: model.name.clone(),
        at: clock::now(),
        output,
        failure,
        outcome: ReadingOutcome {
            left_out: checked.map(|it| it.left_out).unwrap_or_default(),
            ..ReadingOutcome::default()
        },
        spent,
    }
}

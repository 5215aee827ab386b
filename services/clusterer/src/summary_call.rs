//! Summarises one page with one call of the language model.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use host::clock;

use crate::Error;
use crate::ask_model::Reply;
use crate::coreference_readings::units;
use crate::coreference_worker::{AWAY, Answered, CoreferenceWorker, Model};
use crate::summaries::prompt::{PROMPT, prompt};
use crate::summaries::reply::Stored;
use crate::summaries::{PageSummary, ShownSection, SummaryQuestion, page_output};

impl CoreferenceWorker {
    /// Asks the model to summarise the page of a question, and stores its reply.
    pub(crate) async fn sum_up(
        &self,
        model: &Model,
        space: &SpaceId,
        question: &SummaryQuestion,
    ) -> Result<Answered, Error> {
        let backends = &self.context.backends;
        let lines = question.shown.iter().flat_map(|it| &it.lines);
        let ids: Vec<UnitId> = lines.map(|it| it.unit).collect();
        let told_by = units(backends, space, &ids).await?;
        let Some(sources) = Sources::of(&ids, &told_by) else {
            return Ok(Answered::Later(clock::now() + AWAY));
        };
        let id = question.place.reading;
        let former = backends.readings.get(space, &[id]).await?.pop();
        if former.as_ref().is_some_and(|it| is_answer_to(question, it)) {
            // Another process has summarised it.
            return Ok(Answered::Done);
        }
        let chat = prompt(&question.title, &question.shown);
        let read = |reply: &str| page_output(question, reply);
        match self.ask(model, space, id, &chat, read).await? {
            Reply::Later(at) => Ok(Answered::Later(at)),
            Reply::Said(output, mut spent) => {
                spent.add(former.map(|it| it.spent).unwrap_or_default());
                let reading = reading(model, question, sources, output, spent);
                self.store(space, &[reading]).await
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
    fn of(ids: &[UnitId], told_by: &'a BTreeMap<UnitId, Unit>) -> Option<Sources<'a>> {
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
    let lines = question.shown.iter().flat_map(ShownSection::digests).collect();
    PageSummary::of(reading).is_some_and(|it| it.covers(&lines))
}

/// Returns the reading that stores the reply about a page.
fn reading(
    model: &Model,
    question: &SummaryQuestion,
    sources: Sources<'_>,
    output: Result<String, String>,
    spent: ModelCost,
) -> Reading {
    let failure = output.as_ref().err().cloned();
    // The digests of the shown lines are stored even after a failure, so that the model is not asked again until the
    // page has changed.
    let output = output.unwrap_or_else(|_| Stored::of(None, &question.shown).output());
    let checked = Stored::read(&output).map(|it| it.check(&question.title, &question.shown));
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

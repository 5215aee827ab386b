//! Compares a name with others in one call of the language model.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use host::clock;

use crate::Error;
use crate::ask_model::{Reply, shares};
use crate::coreference_readings::units;
use crate::coreference_worker::{AWAY, Answered, CoreferenceWorker, Model};
use crate::model_sentence::left_out;
use crate::people::prompt::{PROMPT, ShownName, prompt};
use crate::people::reply::{Numbers, Said, entries};
use crate::people::{AskedName, MentionedName, PeopleQuestion, PeopleVerdict};

/// Failure of a pair that the reply does not judge usably.
const NOT_JUDGED: &str = "its reply does not judge the names";

/// One of the other names, to ask about.
struct OpenName<'a> {
    asked: &'a AskedName,
    units: Vec<&'a Unit>,
    /// Cost of the former reading, made with another prompt.
    former: ModelCost,
}

impl CoreferenceWorker {
    /// Asks the model whether the names of a question belong to one person, and stores its judgement of each pair.
    pub(crate) async fn judge_names(
        &self,
        model: &Model,
        space: &SpaceId,
        question: &PeopleQuestion,
    ) -> Result<Answered, Error> {
        let backends = &self.context.backends;
        let all = question.others.iter().map(|it| &it.named).chain([&question.shorter]);
        let ids: Vec<UnitId> = all.flat_map(|it| it.units.iter().copied()).collect();
        let told = units(backends, space, &ids).await?;
        let Some(first) = units_of(&question.shorter, &told) else {
            return Ok(Answered::Later(clock::now() + AWAY));
        };
        let mut open = Vec::new();
        for asked in &question.others {
            let Some(units) = units_of(&asked.named, &told) else {
                return Ok(Answered::Later(clock::now() + AWAY));
            };
            let former = backends.readings.get(space, &[asked.place.reading]).await?.pop();
            // Another process may have asked about it.
            if former
                .as_ref()
                .and_then(PeopleVerdict::of)
                .is_none_or(|it| !it.is_current())
            {
                let former = former.map(|it| it.spent).unwrap_or_default();
                open.push(OpenName { asked, units, former });
            }
        }
        let Some(reading) = open.first().map(|it| it.asked.place.reading) else {
            return Ok(Answered::Done);
        };
        let shown = ShownName::of(&question.shorter.name, &first);
        let others: Vec<ShownName> = open
            .iter()
            .map(|it| ShownName::of(&it.asked.named.name, &it.units))
            .collect();
        let numbers = Numbers::of(shown.len(), others.iter().map(ShownName::len));
        let chat = prompt(&shown, &others);
        let read = |reply: &str| entries(reply, &numbers);
        match self.ask(model, space, reading, &chat, read).await? {
            Reply::Later(at) => Ok(Answered::Later(at)),
            Reply::Said(said, spent) => {
                let readings = readings(model, &first, &open, &said, spent);
                self.store(space, &readings).await
            }
        }
    }
}

/// Returns the units of a name, or none if one of them no longer exists or has no record.
fn units_of<'a>(named: &MentionedName, told: &'a BTreeMap<UnitId, Unit>) -> Option<Vec<&'a Unit>> {
    let units: Option<Vec<&Unit>> = named.units.iter().map(|it| told.get(it)).collect();
    units.filter(|it| !it.is_empty() && it.iter().all(|it| !it.records.is_empty()))
}

/// Returns the readings of the pairs of one call. They share its cost.
fn readings(
    model: &Model,
    first: &[&Unit],
    open: &[OpenName<'_>],
    said: &Result<Vec<Option<String>>, String>,
    spent: ModelCost,
) -> Vec<Reading> {
    let now = clock::now();
    let shares = shares(spent, open.len()).into_iter();
    let reading = |(at, (name, mut spent)): (usize, (&OpenName<'_>, ModelCost))| {
        spent.add(name.former);
        let output = match said {
            Ok(entries) => entries.get(at).cloned().flatten().ok_or(NOT_JUDGED),
            Err(why) => Err(why.as_str()),
        };
        let records = first[0].records.clone();
        let others = first[1..].iter().chain(&name.units);
        let mut seen: BTreeSet<RecordId> = records.iter().copied().collect();
        let beside = others.flat_map(|it| it.records.iter().copied());
        Reading {
            id: name.asked.place.reading,
            kind: ReadingKind::People,
            session: first[0].session,
            beside: beside.filter(|it| seen.insert(*it)).collect(),
            records,
            earlier: Vec::new(),
            digest: name.asked.place.of.digest(),
            prompt: PROMPT.to_owned(),
            model: model.name.clone(),
            at: now,
            outcome: output.as_ref().map(|it| outcome(it)).unwrap_or_default(),
            failure: output.as_ref().err().map(|it| (*it).to_owned()),
            output: output.unwrap_or_default(),
            spent,
        }
    };
    open.iter().zip(shares).enumerate().map(reading).collect()
}

/// Returns the outcome of an entry: the rejected parts.
fn outcome(entry: &str) -> ReadingOutcome {
    let said = Said::read(entry);
    let left_out = said.and_then(|it| Some(left_out(&it.reasoning, it.flaw()?)));
    ReadingOutcome {
        left_out: Vec::from_iter(left_out),
        ..ReadingOutcome::default()
    }
}

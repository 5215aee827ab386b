//! Compares a name with others in one call of the language model.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use host::{UnstoredCosts, clock};

use crate::Error;
use crate::follower::lookups::coreference_readings::units_by_id;
use crate::follower::model_worker::ask_model::{Reply, split_cost};
use crate::follower::model_worker::coreference_worker::{AWAY, AskOutcome, CoreferenceWorker, Model};
use crate::judgements::model_sentence::left_out;
use crate::judgements::people::prompt::{PROMPT, ShownName, build_prompt};
use crate::judgements::people::reply::{LineNumbers, StoredJudgement, parse_entries};
use crate::judgements::people::{AskedName, MentionedName, PeopleJudgement, PeopleQuestion};

/// Failure of a pair that the reply does not judge usably.
const NOT_JUDGED: &str = "its reply does not judge the names";

/// One of the other names, to ask about.
struct OpenName<'a> {
    other_name: &'a AskedName,
    units: Vec<&'a Unit>,
    /// The former reading, made with another prompt.
    former: Option<Reading>,
}

impl CoreferenceWorker {
    /// Asks the model whether the names of a question belong to one person, and stores its judgement of each pair.
    pub(crate) async fn judge_names(
        &self,
        model: &Model,
        space: &SpaceId,
        question: &PeopleQuestion,
    ) -> Result<AskOutcome, Error> {
        let backends = &self.context.backends;
        let all = question.others.iter().map(|it| &it.named).chain([&question.shorter]);
        let ids: Vec<UnitId> = all.flat_map(|it| it.units.iter().copied()).collect();
        let known_units = units_by_id(backends, space, &ids).await?;
        let Some(first) = units_of(&question.shorter, &known_units) else {
            return Ok(AskOutcome::Later(clock::now() + AWAY));
        };
        let mut open = Vec::new();
        for other_name in &question.others {
            let Some(units) = units_of(&other_name.named, &known_units) else {
                return Ok(AskOutcome::Later(clock::now() + AWAY));
            };
            let former = backends.readings.get(space, &[other_name.place.reading]).await?.pop();
            // Another process may have asked about the name.
            if former
                .as_ref()
                .and_then(PeopleJudgement::from_reading)
                .is_none_or(|it| !it.is_current())
            {
                open.push(OpenName {
                    other_name,
                    units,
                    former,
                });
            }
        }
        let Some(reading) = open.first().map(|it| it.other_name.place.reading) else {
            return Ok(AskOutcome::Done);
        };
        let shown = ShownName::from_units(&question.shorter.name, &first);
        let others: Vec<ShownName> = open
            .iter()
            .map(|it| ShownName::from_units(&it.other_name.named.name, &it.units))
            .collect();
        let numbers = LineNumbers::from_line_counts(shown.count_lines(), others.iter().map(ShownName::count_lines));
        let chat = build_prompt(&shown, &others);
        let read = |reply: &str| parse_entries(reply, &numbers);
        match self.ask_within_budget(model, space, reading, &chat, read).await? {
            Reply::Later(at) => Ok(AskOutcome::Later(at)),
            Reply::Content(entries, spent) => {
                let readings = build_readings(model, &first, &open, &entries, spent);
                self.store_readings(space, &readings, spent).await
            }
        }
    }
}

/// Returns the units of a name, or none if one of them no longer exists or has no record.
fn units_of<'a>(named: &MentionedName, known_units: &'a BTreeMap<UnitId, Unit>) -> Option<Vec<&'a Unit>> {
    let units: Option<Vec<&Unit>> = named.units.iter().map(|it| known_units.get(it)).collect();
    units.filter(|it| !it.is_empty() && it.iter().all(|it| !it.records.is_empty()))
}

/// Returns the readings of the pairs of one call. They share its cost.
fn build_readings(
    model: &Model,
    first: &[&Unit],
    open: &[OpenName<'_>],
    reply_entries: &Result<Vec<Option<String>>, String>,
    spent: ModelCost,
) -> Vec<Reading> {
    let now = clock::now();
    let shares = split_cost(spent, open.len()).into_iter();
    let reading = |(at, (name, mut spent)): (usize, (&OpenName<'_>, ModelCost))| {
        spent.add_cost(UnstoredCosts::cost_of_replaced_reading(name.former.as_ref(), now));
        let output = match reply_entries {
            Ok(entries) => entries.get(at).cloned().flatten().ok_or(NOT_JUDGED),
            Err(why) => Err(why.as_str()),
        };
        let records = first[0].records.clone();
        let others = first[1..].iter().chain(&name.units);
        let mut seen: BTreeSet<RecordId> = records.iter().copied().collect();
        let beside = others.flat_map(|it| it.records.iter().copied());
        Reading {
            id: name.other_name.place.reading,
            kind: ReadingKind::People,
            session: first[0].session,
            beside: beside.filter(|it| seen.insert(*it)).collect(),
            records,
            earlier: Vec::new(),
            digest: name.other_name.place.of.names_digest(),
            prompt: PROMPT.to_owned(),
            model: model.name.clone(),
            at: now,
            outcome: output.as_ref().map(|it| build_outcome(it)).unwrap_or_default(),
            failure: output.as_ref().err().map(|it| (*it).to_owned()),
            output: output.unwrap_or_default(),
            spent,
        }
    };
    open.iter().zip(shares).enumerate().map(reading).collect()
}

/// Returns the outcome of an entry: the rejected parts.
fn build_outcome(entry: &str) -> ReadingOutcome {
    let stored_judgement = StoredJudgement::parse_entry(entry);
    let left_out = stored_judgement.and_then(|it| Some(left_out(&it.reasoning, it.explain_flaw()?)));
    ReadingOutcome {
        left_out: Vec::from_iter(left_out),
        ..ReadingOutcome::default()
    }
}

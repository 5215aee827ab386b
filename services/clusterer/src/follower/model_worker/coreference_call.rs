//! Compares an event with earlier ones in one call of the language model.

use domain::id::{ReadingId, SpaceId, UnitId};
use domain::port::ModelCost;
use domain::reading::{LeftOut, Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use host::{Backends, UnstoredCosts, clock};

use crate::Error;
use crate::follower::lookups::coreference_readings::units_by_id;
use crate::follower::model_worker::ask_model::{Reply, split_cost};
use crate::follower::model_worker::coreference_worker::{AWAY, AskOutcome, CoreferenceWorker, Model};
use crate::judgements::coreference::prompt::{PROMPT, build_prompt};
use crate::judgements::coreference::reply::{UncheckedJudgement, parse_entries};
use crate::judgements::coreference::{PairJudgement, Question, left_out, pair_digest};

/// Maximum length of the quoted beginning of rejected text, in bytes.
const LEFT_OUT_BYTES: usize = 120;
/// Failure of a pair that the reply does not judge usably.
const NOT_JUDGED: &str = "its reply does not judge the pair";

/// A pair to ask about.
struct OpenPair {
    reading: ReadingId,
    earlier: Unit,
    /// The former reading of the pair, made with other texts or another prompt.
    former: Option<Reading>,
}

/// The model's judgements in the order of the pairs, `None` for a pair that the reply does not judge; or the reason why
/// the call failed.
type Entries = Result<Vec<Option<String>>, String>;

impl CoreferenceWorker {
    /// Asks the model to compare an event with the earlier ones of a question, and stores its judgement of each pair.
    pub(crate) async fn compare_events(
        &self,
        model: &Model,
        space: &SpaceId,
        question: &Question,
    ) -> Result<AskOutcome, Error> {
        let backends = &self.context.backends;
        let ids: Vec<UnitId> = question.earlier.iter().copied().chain([question.later]).collect();
        let mut events = units_by_id(backends, space, &ids).await?;
        let Some(later) = events.remove(&question.later) else {
            return Ok(AskOutcome::Later(clock::now() + AWAY));
        };
        let earlier = question.earlier.iter().filter_map(|it| events.remove(it)).collect();
        let pairs = open_pairs(backends, space, &later, earlier).await?;
        let Some(first) = pairs.first().map(|it| it.reading) else {
            // Another process has asked about all events.
            return Ok(AskOutcome::Done);
        };
        let shown: Vec<&Unit> = pairs.iter().map(|it| &it.earlier).collect();
        let chat = build_prompt(&later, &shown);
        let read = |text: &str| parse_entries(text, pairs.len());
        match self.ask_within_budget(model, space, first, &chat, read).await? {
            Reply::Later(at) => Ok(AskOutcome::Later(at)),
            Reply::Content(judgement_reply, spent) => {
                let readings = build_readings(model, &later, pairs, &judgement_reply, spent);
                self.store_readings(space, &readings, spent).await
            }
        }
    }
}

/// Returns the pairs of an event that have no current reading.
async fn open_pairs(
    backends: &Backends,
    space: &SpaceId,
    later: &Unit,
    earlier: Vec<Unit>,
) -> Result<Vec<OpenPair>, Error> {
    let mut open = Vec::new();
    for earlier in earlier {
        let Some(id) = events_reading(&earlier, later) else {
            continue;
        };
        let former = backends.readings.get(space, &[id]).await?.pop();
        let verdict = former
            .as_ref()
            .and_then(|it| PairJudgement::from_reading(it, &earlier, later));
        if !verdict.is_some_and(|it| it.is_current) {
            open.push(OpenPair {
                reading: id,
                earlier,
                former,
            });
        }
    }
    Ok(open)
}

/// Returns the id of the reading of two events, or `None` if one of them has no record.
fn events_reading(earlier: &Unit, later: &Unit) -> Option<ReadingId> {
    Some(ReadingId::of_events(*earlier.records.first()?, *later.records.first()?))
}

/// Returns the readings of the pairs of one call. They share its cost.
fn build_readings(
    model: &Model,
    later: &Unit,
    pairs: Vec<OpenPair>,
    reply: &Entries,
    spent: ModelCost,
) -> Vec<Reading> {
    let shares = split_cost(spent, pairs.len());
    let now = clock::now();
    let reading = |(at, (pair, mut spent)): (usize, (OpenPair, ModelCost))| {
        spent.add_cost(UnstoredCosts::cost_of_replaced_reading(pair.former.as_ref(), now));
        let output = match reply {
            Ok(entries) => entries.get(at).cloned().flatten().ok_or(NOT_JUDGED),
            Err(why) => Err(why.as_str()),
        };
        Reading {
            id: pair.reading,
            kind: ReadingKind::Events,
            session: later.session,
            records: later.records.clone(),
            beside: pair.earlier.records.clone(),
            earlier: Vec::new(),
            digest: pair_digest(&pair.earlier, later),
            prompt: PROMPT.to_owned(),
            model: model.name.clone(),
            at: now,
            outcome: output
                .as_ref()
                .map(|it| build_outcome(it, &pair.earlier, later))
                .unwrap_or_default(),
            failure: output.as_ref().err().map(|it| (*it).to_owned()),
            output: output.unwrap_or_default(),
            spent,
        }
    };
    pairs.into_iter().zip(shares).enumerate().map(reading).collect()
}

/// Returns the outcome of the entry of one pair, with the rejected parts.
fn build_outcome(entry: &str, earlier: &Unit, later: &Unit) -> ReadingOutcome {
    let Some(judgement_reply) = UncheckedJudgement::parse_entry(entry) else {
        return ReadingOutcome::default();
    };
    let reason = left_out(&judgement_reply, earlier, later).map(|why| LeftOut {
        what: judgement_reply.reasoning[..judgement_reply.reasoning.floor_char_boundary(LEFT_OUT_BYTES)].to_owned(),
        why: why.to_owned(),
    });
    ReadingOutcome {
        relations: u32::from(judgement_reply.same_event || judgement_reply.relation_kind().is_some()),
        left_out: Vec::from_iter(reason),
        ..ReadingOutcome::default()
    }
}

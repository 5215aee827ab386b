//! Searches every store for erased data. It reads the stores themselves, not the receipts.

use std::collections::{BTreeMap, BTreeSet};

use domain::curation::Act;
use domain::erasure::{Erased, ErasureKind, Receipt};
use domain::id::{RecordId, SpaceId, UnitId};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::Position;
use domain::unit::{Status, Unit};
use domain::{Classify, ErrorKind, PortError};
use host::{Backends, clock};
use serde::Serialize;
use tracing::warn;
use uuid::Uuid;

use crate::api::problem::Problem;
use crate::api::{Erasure, ErasureCheck, Presence, StoreCheck};
use crate::app::state::App;

/// Number of items read in one step.
const AT_ONCE: usize = 1_000;

/// Number of items found in a store, by kind.
type CountsByKind = BTreeMap<String, u64>;

/// The data to search for: records by their ids, and the units that derive from them.
struct ErasedIds {
    records: BTreeSet<RecordId>,
    units: BTreeSet<UnitId>,
    /// Ids of the records and of the units.
    ids: BTreeSet<Uuid>,
}

impl ErasedIds {
    /// Returns true if the id is one of these, or is the id of a further part of one of the records.
    fn contains_id(&self, id: Uuid) -> bool {
        let first = self.ids.range(..=id).next_back();
        first.is_some_and(|it| id.as_u128() - it.as_u128() <= u16::MAX.into())
    }
}

/// Checks an erasure.
pub(crate) async fn check_erasure(app: &App, receipt: Receipt) -> Result<ErasureCheck, Problem> {
    let stores = app.stores();
    let (checks, accepted_again) = match receipt.kind {
        ErasureKind::Records => {
            let again = stores.records.claimed(&receipt.space, &receipt.records).await?;
            let again = BTreeSet::from_iter(again);
            let erased_ids = ErasedIds::from_records(receipt.records.iter().copied().filter(|it| !again.contains(it)));
            (of_records(stores, &receipt, &erased_ids).await, again.len() as u64)
        }
        ErasureKind::Space => (of_space(stores, &receipt).await, 0),
    };
    Ok(ErasureCheck {
        checked_at: clock::now(),
        absent: checks.iter().all(|it| it.outcome == Presence::Absent),
        accepted_again,
        stores: checks,
        erasure: Erasure::from(receipt),
    })
}

async fn of_records(stores: &Backends, receipt: &Receipt, erased_ids: &ErasedIds) -> Vec<StoreCheck> {
    let space = &receipt.space;
    vec![
        store_check("records", search_records(stores, space, erased_ids).await),
        store_check("graph", search_graph(stores, space, erased_ids).await),
        store_check("index", search_points(stores, space, erased_ids).await),
        store_check(
            "messages",
            count_waiting_messages(stores, space, receipt.position).await,
        ),
        store_check(
            "dead_letters",
            dead_letters(stores, space, |it| mentions_any_id(it, erased_ids)).await,
        ),
    ]
}

async fn of_space(stores: &Backends, receipt: &Receipt) -> Vec<StoreCheck> {
    let space = &receipt.space;
    let erased = Erased::Space {
        created_at: receipt.created_at,
    };
    let mut checks = vec![store_check(
        "records",
        stores.receipts.count_remaining_data(space, &erased).await,
    )];
    let others = match stores.records.space(space).await {
        Ok(None) => vec![
            store_check(
                "index",
                stores.index.count(space).await.map(|it| found_count("points", it)),
            ),
            store_check("messages", count_backlog(stores, space).await),
            store_check("dead_letters", dead_letters(stores, space, |_| true).await),
        ],
        Ok(Some(info)) if info.created_at == receipt.created_at => {
            vec![not_checked(
                "index",
                "the space is not deleted: repeat the DELETE request",
            )]
        }
        Ok(Some(_)) => {
            let why =
                "a space with the same name was created since, and this store cannot distinguish the data of the two";
            ["index", "messages", "dead_letters"]
                .map(|it| not_checked(it, why))
                .into()
        }
        Err(error) => ["index", "messages", "dead_letters"]
            .map(|it| {
                store_check(
                    it,
                    Err(PortError::new("check", error.kind(), "the store does not answer")),
                )
            })
            .into(),
    };
    checks.extend(others);
    checks
}

/// Searches for the records, for responses that name them, and for texts of acts about their units.
async fn search_records(stores: &Backends, space: &SpaceId, erased_ids: &ErasedIds) -> Result<CountsByKind, PortError> {
    let ids: Vec<RecordId> = erased_ids.records.iter().copied().collect();
    let stored = stores.records.get(space, &ids).await?.len() as u64;
    let mut found = stores
        .receipts
        .count_remaining_data(space, &Erased::Records(ids.clone()))
        .await?;
    found.insert("records".to_owned(), stored);
    let readings = stores.readings.of_records(space, &ids).await?.len() as u64;
    found.insert("readings".to_owned(), readings);
    let (mut acts, mut after) = (0, None);
    loop {
        let page = stores.records.curations(space, after, AT_ONCE).await?;
        let about = |act: &Act| match act {
            Act::PinUnit { unit } | Act::ForgetUnit { unit } => erased_ids.contains_id(unit.uuid()),
            Act::CorrectFact { .. }
            | Act::RetireFact { .. }
            | Act::UndoMerge { .. }
            | Act::UndoLabel { .. }
            | Act::UndoSummary { .. }
            | Act::EraseRecord { .. }
            | Act::Undo { .. } => false,
        };
        acts += page.iter().filter(|it| it.has_words() && about(&it.act)).count() as u64;
        match page.last() {
            Some(last) if page.len() == AT_ONCE => after = Some(last.id),
            Some(_) | None => break,
        }
    }
    found.insert("words_of_acts".to_owned(), acts);
    Ok(found)
}

/// Reads all units and all derived items, and counts those that name one of the records or of their units.
async fn search_graph(stores: &Backends, space: &SpaceId, erased_ids: &ErasedIds) -> Result<CountsByKind, PortError> {
    let graph = &stores.graph;
    let ids: Vec<UnitId> = erased_ids.units.iter().copied().collect();
    let relations = graph.relations(space, &ids, AT_ONCE).await?.len() as u64;
    let (mut units, mut derived) = (0, 0);
    let mut sequence = 0;
    loop {
        let page = graph.changes(space, sequence, AT_ONCE).await?;
        let Some(last) = page.last() else { break };
        sequence = last.sequence;
        let holds = |unit: &Unit| !is_emptied(unit) && mentions_any_id(unit, erased_ids);
        units += page.iter().filter(|it| holds(&it.unit)).count() as u64;
    }
    sequence = 0;
    loop {
        let page = graph.derived_changes(space, sequence, AT_ONCE).await?;
        let Some(last) = page.last() else { break };
        sequence = last.sequence;
        let items = page.iter().filter_map(|it| it.item.as_ref());
        derived += items.filter(|it| mentions_any_id(*it, erased_ids)).count() as u64;
    }
    let counts = [("units", units), ("relations", relations), ("derived", derived)];
    Ok(counts.map(|(kind, count)| (kind.to_owned(), count)).into())
}

/// Returns true if a removed unit is only a change entry without text; its id shows that it existed.
fn is_emptied(unit: &Unit) -> bool {
    unit.status == Status::Superseded && unit.text.is_empty() && unit.summary.is_empty() && unit.records.is_empty()
}

/// Reads all points and counts those of the units.
async fn search_points(stores: &Backends, space: &SpaceId, erased_ids: &ErasedIds) -> Result<CountsByKind, PortError> {
    let (mut count, mut after) = (0, None);
    loop {
        let (page, next) = stores.index.points(space, after, AT_ONCE).await?;
        count += page
            .iter()
            .filter(|(unit, _)| erased_ids.contains_id(unit.uuid()))
            .count() as u64;
        match next {
            Some(_) => after = next,
            None => return Ok(found_count("points", count)),
        }
    }
}

/// Counts the batches that were accepted before the erasure and are not processed yet: they may hold a record.
async fn count_waiting_messages(
    stores: &Backends,
    space: &SpaceId,
    erased: Position,
) -> Result<CountsByKind, PortError> {
    let waiting = stores
        .bus
        .unsettled(RecordsAcceptedV1::SUBJECT, space.as_str(), AT_ONCE)
        .await?;
    let before = waiting.iter().filter(|it| **it < erased).count() as u64;
    Ok(found_count("waiting", before))
}

async fn count_backlog(stores: &Backends, space: &SpaceId) -> Result<CountsByKind, PortError> {
    let waiting = stores.bus.backlog_of_space(RecordsAcceptedV1::SUBJECT, space.as_str());
    Ok(found_count("waiting", waiting.await?))
}

/// Counts the dead letters whose payload satisfies `holds`.
async fn dead_letters(
    stores: &Backends,
    space: &SpaceId,
    holds: impl Fn(&serde_json::Value) -> bool,
) -> Result<CountsByKind, PortError> {
    let (mut count, mut after) = (0, 0);
    loop {
        let page = stores.dead_letters.of_space(space.as_str(), after, AT_ONCE).await?;
        let Some(last) = page.last() else {
            return Ok(found_count("dead_letters", count));
        };
        after = last.id;
        for letter in &page {
            // An unreadable payload may contain anything, so it counts.
            let read = serde_json::from_str(&letter.payload);
            let of_acts = read.as_ref().is_ok_and(is_of_acts);
            count += u64::from(!of_acts && read.map_or(true, |it| holds(&it)));
        }
    }
}

/// Returns true for a batch of acts. It names the records that it erases, and contains no data of them.
fn is_of_acts(payload: &serde_json::Value) -> bool {
    payload["records"].as_array().is_some_and(Vec::is_empty)
}

impl ErasedIds {
    fn from_records(records: impl Iterator<Item = RecordId>) -> ErasedIds {
        let records: BTreeSet<RecordId> = records.collect();
        let own = records
            .iter()
            .flat_map(|it| [UnitId::of_turn(*it), UnitId::of_event(*it)]);
        let units: BTreeSet<UnitId> = own.collect();
        let ids = records
            .iter()
            .map(|it| it.uuid())
            .chain(units.iter().map(|it| it.uuid()));
        ErasedIds {
            ids: ids.collect(),
            records,
            units,
        }
    }
}

/// Returns true if the JSON of a value contains one of the ids as a text.
fn mentions_any_id(value: &impl Serialize, erased_ids: &ErasedIds) -> bool {
    let text = serde_json::to_vec(value).unwrap_or_default();
    let mut texts = text.split(|it| *it == b'"');
    texts.any(|it| Uuid::try_parse_ascii(it).is_ok_and(|it| erased_ids.contains_id(it)))
}

fn found_count(kind: &str, count: u64) -> CountsByKind {
    BTreeMap::from([(kind.to_owned(), count)])
}

fn store_check(store: &str, found: Result<CountsByKind, PortError>) -> StoreCheck {
    match found {
        Ok(found) => StoreCheck {
            store: store.to_owned(),
            outcome: match found.values().all(|it| *it == 0) {
                true => Presence::Absent,
                false => Presence::Found,
            },
            found,
            detail: String::new(),
        },
        Err(error) => {
            warn!(
                store,
                error = &error as &dyn std::error::Error,
                "an erasure cannot be checked"
            );
            let detail = match error.kind() {
                ErrorKind::Unavailable | ErrorKind::Timeout => "the store cannot be reached; check again later",
                ErrorKind::NotFound
                | ErrorKind::Invalid
                | ErrorKind::Conflict
                | ErrorKind::Exhausted
                | ErrorKind::Damaged
                | ErrorKind::Internal => "the store failed; the log of the service has the reason",
            };
            not_checked(store, detail)
        }
    }
}

fn not_checked(store: &str, detail: &str) -> StoreCheck {
    StoreCheck {
        store: store.to_owned(),
        outcome: Presence::NotChecked,
        found: BTreeMap::new(),
        detail: detail.to_owned(),
    }
}

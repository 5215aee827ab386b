//! Redacts data that outlives an erased record: the words of curations about it, and the recall ledger of its
//! session.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::curation::{Act, Corrected, Curation};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{CurationId, FactId, MergeId, PageId, RecordId, SessionId, SpaceId, TopicId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::port::{Room, Selection};
use domain::reading::ReadingKind;
use domain::recall::{NOTES_MAX, Note, NoteKind, erasures_scope, session_scope};
use domain::record::Record;
use domain::unit::Grain;
use host::Backends;

use crate::erasure::{erasing_acts, orphaned_curations};

/// Number of derived objects read in one request.
const AT_ONCE: usize = 1_000;

/// Redacts the curations about units that are about to be retired, and those that take such a curation back.
pub(crate) async fn redact_curations_about_units(
    backends: &Backends,
    space: &SpaceId,
    units: &BTreeSet<UnitId>,
) -> Result<(), PortError> {
    let all = erasing_acts::read_curations(backends, space).await?;
    if !all.iter().any(|it| it.has_words() && !is_erasure(it)) {
        return Ok(());
    }
    let corrected = Corrected::from_curations(&all);
    let fact_ids: BTreeSet<FactId> = all
        .iter()
        .filter_map(|it| fact_of_act(&it.act))
        .flat_map(|it| [it, corrected.original_fact(it)])
        .collect();
    let sources = orphaned_curations::read_fact_sources(backends, space, &fact_ids).await?;
    let is_stated = |fact: &FactId| sources.get(fact).is_some_and(|it| units.contains(it));
    let merges = merges_of(backends, space, &all, units).await?;
    let topics = topics_of(backends, space, &all, units).await?;
    let pages = pages_of(backends, space, &all, units).await?;
    let about_units = |act: &Act| match act {
        Act::CorrectFact { fact, .. } | Act::RetireFact { fact } => {
            is_stated(fact) || is_stated(&corrected.original_fact(*fact))
        }
        Act::PinUnit { unit } | Act::ForgetUnit { unit } => units.contains(unit),
        Act::UndoMerge { merge } => merges.contains(merge),
        Act::UndoLabel { topic } => topics.contains(topic),
        Act::UndoSummary { page } => pages.contains(page),
        Act::EraseRecord { .. } | Act::Undo { .. } => false,
    };
    let mut about: BTreeSet<CurationId> = all.iter().filter(|it| about_units(&it.act)).map(|it| it.id).collect();
    // A curation that takes another back may itself be taken back.
    loop {
        let more: Vec<CurationId> = all
            .iter()
            .filter(|it| {
                matches!(it.act, Act::Undo { curation } if about.contains(&curation)) && !about.contains(&it.id)
            })
            .map(|it| it.id)
            .collect();
        if more.is_empty() {
            break;
        }
        about.extend(more);
    }
    let with_words = all.iter().filter(|it| about.contains(&it.id) && it.has_words());
    let ids: Vec<CurationId> = with_words.map(|it| it.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    backends.records.redact_curations(space, &ids).await
}

/// Deletes the recall ledger of sessions of which these are the last records. The ledger identifies a session by its
/// name.
pub(crate) async fn erase_recall_ledgers(
    backends: &Backends,
    space: &SpaceId,
    erased: &[Record],
) -> Result<(), PortError> {
    for record in emptied_sessions(backends, space, erased).await? {
        let session = record.session;
        // A gateway that is answering a message of the session checks for this note after it has stored its own
        // hints.
        let note = Note {
            subject: record.id.uuid(),
            kind: NoteKind::Erased,
            at: DateTime::<Utc>::from(record.observed_at),
        };
        let records = &backends.records;
        records
            .note(space, &erasures_scope(session), &[note], NOTES_MAX)
            .await?;
        for name in [record.session_name.clone(), session.to_string()] {
            records.forget_notes(space, &session_scope(&name)).await?;
        }
    }
    Ok(())
}

/// Returns one record of each session whose stored records are all in `erased`.
pub(crate) async fn emptied_sessions<'a>(
    backends: &Backends,
    space: &SpaceId,
    erased: &'a [Record],
) -> Result<Vec<&'a Record>, PortError> {
    let ids: BTreeSet<RecordId> = erased.iter().map(|it| it.id).collect();
    let mut sessions: BTreeMap<SessionId, &Record> = BTreeMap::new();
    for record in erased {
        sessions.entry(record.session).or_insert(record);
    }
    let mut emptied = Vec::new();
    for (session, record) in sessions {
        let of = Selection {
            session: Some(session),
            ..Selection::default()
        };
        let room = Room::of_items(ids.len() + 1);
        let (left, _) = backends.records.select(space, &of, 0, room).await?;
        if left.iter().all(|it| ids.contains(&it.id)) {
            emptied.push(record);
        }
    }
    Ok(emptied)
}

/// Returns the merges that curations undo and that involve one of the units, or an entity that one of the units
/// names.
async fn merges_of(
    backends: &Backends,
    space: &SpaceId,
    all: &[Curation],
    units: &BTreeSet<UnitId>,
) -> Result<BTreeSet<MergeId>, PortError> {
    let kind = DerivedKind::Merge;
    let undone = all.iter().filter_map(|it| match it.act {
        Act::UndoMerge { merge } => it.has_words().then(|| DerivedId { kind, id: merge.uuid() }),
        Act::CorrectFact { .. }
        | Act::RetireFact { .. }
        | Act::UndoLabel { .. }
        | Act::UndoSummary { .. }
        | Act::PinUnit { .. }
        | Act::ForgetUnit { .. }
        | Act::EraseRecord { .. }
        | Act::Undo { .. } => None,
    });
    let undone: Vec<DerivedId> = undone.collect();
    if undone.is_empty() {
        return Ok(BTreeSet::new());
    }
    let ids: Vec<UnitId> = units.iter().copied().collect();
    let mut going = backends.graph.units(space, &ids).await?;
    // Events are skipped, because they contain words of records that stay.
    going.retain(|it| it.grain == Grain::Turn);
    let records: BTreeSet<RecordId> = going.iter().flat_map(|it| it.records.iter().copied()).collect();
    let erased_texts: Vec<String> = going.iter().map(|it| it.text.to_lowercase()).collect();
    let is_about = |merge: &Merge| match merge.of {
        MergeOf::Units => {
            let sides = [merge.kept, merge.merged].map(UnitId::from_uuid);
            sides.iter().any(|it| units.contains(it)) || merge.records.iter().any(|it| records.contains(it))
        }
        // The author of the reason may have seen the erased words.
        MergeOf::Entities => {
            let mut names = merge.names.iter().map(|it| it.to_lowercase());
            names.any(|name| erased_texts.iter().any(|it| it.contains(&name)))
        }
    };
    let mut found = BTreeSet::new();
    for some in undone.chunks(AT_ONCE) {
        for it in backends.graph.derived(space, some).await? {
            if let Derived::Merge(merge) = it
                && is_about(&merge)
            {
                found.insert(merge.id);
            }
        }
    }
    Ok(found)
}

/// Returns the topics that the units belong to or that a model labelled from their records, if some curation with a
/// reason rejected a label.
async fn topics_of(
    backends: &Backends,
    space: &SpaceId,
    all: &[Curation],
    units: &BTreeSet<UnitId>,
) -> Result<BTreeSet<TopicId>, PortError> {
    let takes_back = |it: &Curation| it.has_words() && matches!(it.act, Act::UndoLabel { .. });
    let mut found = BTreeSet::new();
    if !all.iter().any(takes_back) {
        return Ok(found);
    }
    let records: Vec<RecordId> = records_of(backends, space, units).await?.into_iter().collect();
    let mut readings = backends.readings.of_records(space, &records).await?;
    readings.retain(|it| it.kind == ReadingKind::Label);
    let founders = readings.iter().filter_map(|it| it.records.first());
    found.extend(founders.map(|it| TopicId::from_founding_unit(UnitId::of_event(*it))));
    let kind = DerivedKind::Member;
    let members: Vec<DerivedId> = units.iter().map(|it| DerivedId { kind, id: it.uuid() }).collect();
    for some in members.chunks(AT_ONCE) {
        for it in backends.graph.derived(space, some).await? {
            if let Derived::Member(member) = it {
                found.insert(member.topic);
            }
        }
    }
    Ok(found)
}

/// Returns the pages whose summary a curation with a reason rejected and that have a line from one of the units or
/// their records.
async fn pages_of(
    backends: &Backends,
    space: &SpaceId,
    all: &[Curation],
    units: &BTreeSet<UnitId>,
) -> Result<BTreeSet<PageId>, PortError> {
    let kind = DerivedKind::Page;
    let taken_back = all
        .iter()
        .filter(|it| it.has_words())
        .filter_map(|it| rejected_page(&it.act));
    let ids: Vec<DerivedId> = taken_back.map(|it| DerivedId { kind, id: it.uuid() }).collect();
    let mut found = BTreeSet::new();
    if ids.is_empty() {
        return Ok(found);
    }
    let records = records_of(backends, space, units).await?;
    for id in ids {
        for it in backends.graph.derived(space, &[id]).await? {
            let Derived::Page(page) = it else { continue };
            let sections = page.sections.iter();
            let lines = sections.flat_map(|it| it.lines.iter().chain(it.former.iter().map(|it| &it.line)));
            let told_by: Vec<UnitId> = lines.map(|it| it.unit).collect();
            let sources = backends.graph.units(space, &told_by).await?;
            let mut told_from = sources.iter().flat_map(|it| &it.records);
            if told_by.iter().any(|it| units.contains(it)) || told_from.any(|it| records.contains(it)) {
                found.insert(page.id);
            }
        }
    }
    Ok(found)
}

/// Returns the records of those units that are turns. Events are skipped, because they contain words of records that
/// stay.
async fn records_of(
    backends: &Backends,
    space: &SpaceId,
    units: &BTreeSet<UnitId>,
) -> Result<BTreeSet<RecordId>, PortError> {
    let ids: Vec<UnitId> = units.iter().copied().collect();
    let mut going = backends.graph.units(space, &ids).await?;
    going.retain(|it| it.grain == Grain::Turn);
    Ok(going.into_iter().flat_map(|it| it.records).collect())
}

/// Returns the page whose summary a curation rejects, or none for other curations.
fn rejected_page(act: &Act) -> Option<PageId> {
    match act {
        Act::UndoSummary { page } => Some(*page),
        Act::CorrectFact { .. }
        | Act::RetireFact { .. }
        | Act::UndoMerge { .. }
        | Act::UndoLabel { .. }
        | Act::PinUnit { .. }
        | Act::ForgetUnit { .. }
        | Act::EraseRecord { .. }
        | Act::Undo { .. } => None,
    }
}

fn fact_of_act(act: &Act) -> Option<FactId> {
    match act {
        Act::CorrectFact { fact, .. } | Act::RetireFact { fact } => Some(*fact),
        Act::UndoMerge { .. }
        | Act::UndoLabel { .. }
        | Act::UndoSummary { .. }
        | Act::PinUnit { .. }
        | Act::ForgetUnit { .. }
        | Act::EraseRecord { .. }
        | Act::Undo { .. } => None,
    }
}

/// Returns true for an erasure. Its own reason is kept, because it states why something no longer exists.
fn is_erasure(curation: &Curation) -> bool {
    matches!(curation.act, Act::EraseRecord { .. })
}

//! Asks a language model to describe the pictures of a session before its passages are read, and writes units again
//! whose captions changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::{ReadingId, RecordId, SpaceId, UnitId};
use domain::message::{UnitsOrganisedV1, UnitsWrittenV1};
use domain::port::Position;
use domain::reading::{Reading, ReadingKind, ScheduledSession};
use domain::record::Record;
use domain::unit::Status;
use host::clock;

use crate::Error;
use crate::intake::batch_intake;
use crate::pictures::picture_prompt::{PROMPT, picture_digest};
use crate::pictures::picture_store::{has_uncaptioned_picture, with_captions};
use crate::reading::passage::Brief;
use crate::session_reading::reading_worker::{ReadOutcome, ReadingWorker};

/// Maximum number of pictures described before another session gets its turn.
const PICTURES_A_TURN: usize = 4;
/// Number of records with pictures checked in one step.
const AT_ONCE: usize = 64;

/// The result of a look at the pictures of a session.
#[derive(Debug, Default)]
pub(crate) struct PicturesSeen {
    /// The time at which the pictures have to be looked at again, if any; the passages wait until then.
    pub(crate) later: Option<DateTime<Utc>>,
    /// True if a caption was added, changed or removed.
    pub(crate) has_changed: bool,
}

impl ReadingWorker {
    /// Describes some pictures of a session that have no description yet, and updates its units to the captions from
    /// readings.
    pub(crate) async fn describe_session_pictures(
        &self,
        wanted: &ScheduledSession,
        briefs: &[Brief],
        readings: &[Reading],
    ) -> Result<PicturesSeen, Error> {
        let of_pictures = readings.iter().filter(|it| it.kind == ReadingKind::Picture);
        let known: BTreeMap<ReadingId, &Reading> = of_pictures.map(|it| (it.id, it)).collect();
        let open = briefs.iter().filter(|it| it.has_uncaptioned_picture).map(|it| it.id);
        let mut met = BTreeSet::new();
        let described = known.values().flat_map(|it| it.records.iter().copied());
        let all: Vec<RecordId> = open.chain(described).filter(|it| met.insert(*it)).collect();
        let (mut left, mut pictures_seen) = (PICTURES_A_TURN, PicturesSeen::default());
        for some in all.chunks(AT_ONCE) {
            let mut records = self.context.backends.records.get(&wanted.space, some).await?;
            records.retain(has_uncaptioned_picture);
            pictures_seen.later = self.describe_records(wanted, &records, &known, &mut left).await?;
            pictures_seen.has_changed |= self.caption_units(wanted, &records).await?;
            if pictures_seen.later.is_some() {
                break;
            }
        }
        Ok(pictures_seen)
    }

    /// Describes at most `left` pictures without a description. Returns the time at which to continue, if some remain.
    async fn describe_records(
        &self,
        wanted: &ScheduledSession,
        records: &[Record],
        known: &BTreeMap<ReadingId, &Reading>,
        left: &mut usize,
    ) -> Result<Option<DateTime<Utc>>, Error> {
        let Some(seer) = &self.pictures.seer else {
            return Ok(None);
        };
        for record in records {
            let former = known.get(&ReadingId::of_picture(record.id)).copied();
            if former.is_some_and(|it| it.prompt == PROMPT && it.digest == picture_digest(record)) {
                continue;
            }
            if *left == 0 || self.context.shutdown.is_cancelled() {
                return Ok(Some(clock::now()));
            }
            *left -= 1;
            match self.describe_picture(seer, &wanted.space, record, former).await? {
                ReadOutcome::Done => {}
                ReadOutcome::Later(at) => return Ok(Some(at)),
            }
        }
        Ok(None)
    }

    /// Writes the units again whose caption differs from the caption in readings, with the events around them. Returns
    /// true if there were any.
    async fn caption_units(&self, wanted: &ScheduledSession, records: &[Record]) -> Result<bool, Error> {
        let (backends, space) = (&self.context.backends, &wanted.space);
        let captioned = with_captions(backends, space, records.to_vec()).await?;
        let caption = |it: &Record| {
            it.image_caption
                .as_deref()
                .map(text::shorten_caption)
                .unwrap_or_default()
        };
        let expected: BTreeMap<UnitId, String> = captioned
            .iter()
            .map(|it| (UnitId::of_turn(it.id), caption(it)))
            .collect();
        let ids: Vec<UnitId> = expected.keys().copied().collect();
        let units = backends.graph.units(space, &ids).await?;
        let differs =
            |unit: &domain::unit::Unit| unit.status == Status::Active && expected.get(&unit.id) != Some(&unit.caption);
        let stale: BTreeSet<UnitId> = units.into_iter().filter(differs).map(|it| it.id).collect();
        let is_open = |it: &&Record| {
            stale.contains(&UnitId::of_turn(it.id))
                || self.pictures.lock_unorganised().contains(&(space.clone(), it.id))
        };
        let open: Vec<Record> = records.iter().filter(is_open).cloned().collect();
        if open.is_empty() {
            return Ok(false);
        }
        let keys: Vec<(SpaceId, RecordId)> = open.iter().map(|it| (space.clone(), it.id)).collect();
        self.pictures.lock_unorganised().extend(keys.iter().cloned());
        batch_intake::replace_units(backends, space, &open).await?;
        self.organise_again(wanted, &open).await?;
        let mut unorganised = self.pictures.lock_unorganised();
        keys.iter().for_each(|it| {
            unorganised.remove(it);
        });
        Ok(true)
    }

    /// Derives the events and relations of rewritten units again, and notifies the clusterer.
    async fn organise_again(&self, wanted: &ScheduledSession, records: &[Record]) -> Result<(), Error> {
        let written = UnitsWrittenV1 {
            space: wanted.space.clone(),
            position: Position(0),
            sessions: vec![wanted.session],
            units: records.iter().map(|it| UnitId::of_turn(it.id)).collect(),
            acts: false,
        };
        Arc::clone(&self.pictures.organiser).organise_message(written).await?;
        let organised = UnitsOrganisedV1 {
            space: wanted.space.clone(),
            position: Position(0),
            acts: false,
            reading: format!(
                "{}/{}",
                ReadingId::of_picture(records[0].id),
                clock::now().timestamp_micros()
            ),
        };
        self.context.publish_message(&organised).await?;
        Ok(())
    }
}

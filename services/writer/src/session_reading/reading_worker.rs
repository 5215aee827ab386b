//! Lets a language model read sessions, independently of the intake and after it.
//!
//! A session is leased and divided into passages. Each closed passage without a reading is read with one call.
//! Nothing else waits for this: while the model is unavailable, or the budget of a space is spent, sessions wait in
//! the store. A reply is stored before anything is derived from it, so a process that ends half-way causes no
//! repeated call.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{ReadingId, SessionId, SpaceId};
use domain::port::ModelRole;
use domain::reading::{Reading, ReadingKind, ScheduledSession};
use domain::{Classify, ErrorKind, PortError};
use host::{Context, UnstoredCosts, clock};
use tokio::time::sleep;
use tracing::{Instrument, debug, info_span, warn};

use crate::Error;
use crate::pictures::picture_store;
use crate::reading::session_marks::{Mark, SessionMarks};
use crate::session_reading::passages::open_passage::OpenPassage;
use crate::session_reading::passages::session_briefs::read_briefs;
use crate::session_reading::passages::session_look::{SessionLook, Step};
use crate::session_reading::picture_reader::PictureReader;
use crate::session_reading::reading_config::ReadingConfig;
use crate::session_reading::reading_model::Model;
use crate::session_reading::reading_store;
use crate::store_access::unit_lookup;

/// Maximum number of passages read before another session gets its turn.
const PASSAGES_A_TURN: usize = 4;
/// Pause between two checks for a session that is due. Without a model (`LOOK_WITHOUT_MODEL`), only imported readings
/// wait.
const LOOK: Duration = Duration::from_secs(1);
const LOOK_WITHOUT_MODEL: Duration = Duration::from_secs(10);
/// Delay before a session is tried again if the host of a picture was unavailable or reading the session failed.
pub(crate) const AWAY: TimeDelta = TimeDelta::seconds(30);
/// Longest delay before the next look at a session. The store takes a session that is due much later for one that was
/// scheduled while the clock was ahead.
const LOOK_AGAIN_MAX: TimeDelta = TimeDelta::days(1);
/// Maximum number of readings whose gists are known to be stored; above it, they are checked again.
const KNOWN_MAX: usize = 100_000;

/// Derives data from readings, and makes new readings if a model is configured.
pub(crate) struct ReadingWorker {
    pub(crate) context: Context,
    model: Option<Model>,
    pub(crate) config: ReadingConfig,
    pub(crate) pictures: PictureReader,
    /// The number of gists that were stored of each reading. The time of the reading is part of the key, because an
    /// import may replace a reading.
    derived: Mutex<BTreeMap<(ReadingId, DateTime<Utc>), usize>>,
    /// The read part of each session.
    marks: SessionMarks,
    /// Cost of the calls from which nothing was stored, and the failed calls about each passage and picture.
    pub(crate) unstored: UnstoredCosts,
}

/// The time at which a session has to be looked at again, if any.
type NextLook = Option<DateTime<Utc>>;

/// The progress of a turn.
enum ReadOn {
    /// All closed passages were read; the last passage may be open.
    ToTheEnd { is_open: bool },
    /// There is more to read; continue at that moment.
    Later(DateTime<Utc>),
}

/// The outcome of reading a passage.
pub(crate) enum ReadOutcome {
    Done,
    /// Not read; try again at that moment.
    Later(DateTime<Utc>),
}

impl ReadingWorker {
    /// Returns a worker. It calls a model only if that is enabled and one is configured.
    pub(crate) fn new(context: &Context, config: &ReadingConfig, pictures: PictureReader) -> ReadingWorker {
        ReadingWorker {
            context: context.clone(),
            model: Model::from_context(context).filter(|_| config.enabled),
            config: config.clone(),
            pictures,
            derived: Mutex::default(),
            marks: SessionMarks::default(),
            unstored: UnstoredCosts::default(),
        }
    }

    /// Requests that changed sessions be read, if a model is configured.
    pub(crate) async fn schedule_sessions(&self, space: &SpaceId, sessions: &[SessionId]) -> Result<(), PortError> {
        if self.model.is_none() && self.pictures.seer.is_none() {
            return Ok(());
        }
        let now = clock::now();
        let due = now + TimeDelta::seconds(self.config.delay_seconds.into());
        match self
            .context
            .backends
            .readings
            .schedule_sessions(space, sessions, now, due)
            .await
        {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    /// Reads sessions that are due until shutdown.
    pub(crate) async fn run_workers(&self) {
        let workers = (0..self.config.in_flight_max.max(1)).map(|_| self.read_due_sessions());
        futures::future::join_all(workers).await;
    }

    async fn read_due_sessions(&self) {
        let mut last: Option<SpaceId> = None;
        let lease = TimeDelta::seconds(self.config.lease_seconds.into());
        let pause = match &self.model {
            Some(_) => LOOK,
            None => LOOK_WITHOUT_MODEL,
        };
        while !self.context.shutdown.is_cancelled() {
            if let Some(rest) = self.model_pause() {
                self.pause_unless_shutdown(rest).await;
                continue;
            }
            let now = clock::now();
            let taken = self
                .context
                .backends
                .readings
                .lease_session(now, now + lease, last.as_ref())
                .await;
            match taken {
                Ok(Some(session)) => {
                    self.read_leased_session(&session).await;
                    last = Some(session.space);
                    continue;
                }
                Ok(None) => {}
                Err(error) => debug!(
                    error = &error as &dyn std::error::Error,
                    "cannot look for sessions to read"
                ),
            }
            self.pause_unless_shutdown(pause).await;
        }
    }

    /// Returns the time for which no session should be taken, because the model would refuse each. Sessions wait in the
    /// store meanwhile: taking them one after another would cost the look at each, and a call that fails.
    fn model_pause(&self) -> Option<Duration> {
        self.model
            .as_ref()?
            .asker
            .pause_before_background_calls(ModelRole::Write)
    }

    async fn pause_unless_shutdown(&self, time: Duration) {
        tokio::select! {
            () = self.context.shutdown.cancelled() => {}
            () = sleep(time) => {}
        }
    }

    /// Reads some passages of a session and ends its lease.
    async fn read_leased_session(&self, session: &ScheduledSession) {
        let span = info_span!("read_session", space = %session.space, session = %session.session, trace_id = tracing::field::Empty);
        let next = match self.read_session(session).instrument(span).await {
            Ok(next) => next,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, space = %session.space, "a session cannot be read, will try again");
                Some(clock::now() + AWAY)
            }
        };
        if let Err(error) = self.context.backends.readings.settle(session, next).await {
            debug!(
                error = &error as &dyn std::error::Error,
                "cannot release a session; its lease will expire"
            );
        }
    }

    async fn read_session(&self, wanted: &ScheduledSession) -> Result<NextLook, Error> {
        let ScheduledSession { space, session, .. } = wanted;
        let backends = &self.context.backends;
        let mut mark = self.marks.take_mark(space, *session);
        let describes = self.pictures.seer.is_some() || self.model.is_none();
        if describes || self.has_new_descriptions(wanted, mark.as_ref()).await? {
            let stored = backends.readings.of_session(space, *session).await?;
            let all = read_briefs(backends, space, *session).await?;
            let pictures_seen = self.describe_session_pictures(wanted, &all, &stored).await?;
            if pictures_seen.later.is_some() {
                return Ok(pictures_seen.later);
            }
            if self.model.is_none() {
                return self.derive_all(space, &stored).await;
            }
            // Passages that count as read may have other captions now.
            mark = mark.filter(|_| !pictures_seen.has_changed);
        }
        let Some(model) = &self.model else {
            return Ok(None);
        };
        let quiet = TimeDelta::minutes(self.config.quiet_minutes.into());
        let (is_over, next_look) = end_of_session(wanted.wanted_at, quiet, clock::now());
        let Some(mut look) = SessionLook::begin_after_mark(backends, space, *session, mark, is_over).await? else {
            return Ok(None);
        };
        let next = self.read_on(model, space, &mut look).await;
        let (mark, records_read) = look.into_mark();
        debug!(records_read, %space, "looked at a session");
        self.marks.store_mark(space, *session, mark);
        Ok(match next? {
            ReadOn::ToTheEnd { is_open } => is_open.then_some(next_look),
            ReadOn::Later(at) => Some(at),
        })
    }

    /// Returns true if a session has descriptions of pictures that earlier looks did not see, such as imported ones.
    async fn has_new_descriptions(&self, wanted: &ScheduledSession, mark: Option<&Mark>) -> Result<bool, PortError> {
        let readings = &self.context.backends.readings;
        let versions = readings.versions(&wanted.space, wanted.session).await?;
        let is_met =
            |it: &ReadingId| mark.is_some_and(|mark| mark.readings.contains_key(it) || mark.others.contains(it));
        let new: Vec<ReadingId> = versions.iter().map(|it| it.id).filter(|it| !is_met(it)).collect();
        let new = readings.get(&wanted.space, &new).await?;
        Ok(new.iter().any(|it| it.kind == ReadingKind::Picture))
    }

    /// Reads the unread passages of a session, up to the limit of a turn.
    async fn read_on(&self, model: &Model, space: &SpaceId, look: &mut SessionLook<'_>) -> Result<ReadOn, Error> {
        let mut read = 0;
        loop {
            let unread = match look.next_step().await? {
                Step::Known(reading) => {
                    self.put_gists_once(space, &reading).await?;
                    continue;
                }
                Step::Unread(unread) => unread,
                Step::End { is_open } => return Ok(ReadOn::ToTheEnd { is_open }),
                Step::Lost => return Ok(ReadOn::Later(clock::now())),
            };
            if read == PASSAGES_A_TURN || self.context.shutdown.is_cancelled() {
                return Ok(ReadOn::Later(clock::now()));
            }
            read += 1;
            let records = picture_store::read_captioned_records(&self.context.backends, space, &unread.records).await?;
            if records.len() < unread.records.len() {
                // A record was erased in the meantime.
                return Ok(ReadOn::Later(clock::now()));
            }
            let open = OpenPassage {
                space,
                before: picture_store::read_captioned_records(&self.context.backends, space, &unread.before).await?,
                records,
                former: unread.former.as_ref(),
            };
            let span = info_span!("read_passage", records = open.records.len());
            if let ReadOutcome::Later(at) = self.read_passage(model, &open).instrument(span).await? {
                return Ok(ReadOn::Later(at));
            }
        }
    }

    /// Derives the data of all readings of a session, where no model makes new ones.
    async fn derive_all(&self, space: &SpaceId, readings: &[Reading]) -> Result<NextLook, Error> {
        for reading in readings.iter().filter(|it| it.kind.is_passage()) {
            self.put_gists_once(space, reading).await?;
        }
        Ok(None)
    }

    /// Stores the data derived from a reading, unless this process has already done so and all its gists are still
    /// there. They are not if they were removed with a record or the space, and the same reading was then imported again.
    async fn put_gists_once(&self, space: &SpaceId, reading: &Reading) -> Result<(), Error> {
        let (key, backends) = ((reading.id, reading.at), &self.context.backends);
        let known = self.lock_derived().get(&key).copied();
        if let Some(gists) = known
            && unit_lookup::gists_of(backends, space, &[reading.id]).await?.len() == gists
        {
            return Ok(());
        }
        // Gists that are stored only in part count as stored otherwise.
        self.lock_derived().remove(&key);
        let Some(gists) = reading_store::put_gists(backends, space, reading).await? else {
            return Ok(());
        };
        let mut derived = self.lock_derived();
        if derived.len() >= KNOWN_MAX {
            derived.clear();
        }
        derived.insert(key, gists);
        Ok(())
    }

    /// Returns true if a call that failed just now says nothing about its passage or picture: the endpoint cannot be
    /// reached or refuses every call, or the service is stopping.
    pub(crate) fn is_model_down(&self, model: &Model, role: ModelRole) -> bool {
        let pause = model.asker.pause_before_background_calls(role);
        pause.is_some() || self.context.shutdown.is_cancelled()
    }

    fn lock_derived(&self) -> std::sync::MutexGuard<'_, BTreeMap<(ReadingId, DateTime<Utc>), usize>> {
        self.derived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a session that was last wanted at `wanted_at` is over, and when to look at it again if it is not. It
/// is over when nothing was written to it for the time `quiet`, or if `wanted_at` lies further ahead than that: it was
/// stored while a clock was ahead, and waiting for it could take months.
fn end_of_session(wanted_at: DateTime<Utc>, quiet: TimeDelta, now: DateTime<Utc>) -> (bool, DateTime<Utc>) {
    let quiet_at = wanted_at + quiet;
    let is_over = now >= quiet_at || wanted_at > now + quiet;
    (is_over, quiet_at.min(now + LOOK_AGAIN_MAX))
}

#[cfg(test)]
mod tests;

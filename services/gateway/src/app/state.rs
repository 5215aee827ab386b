mod memory_places;
mod permit_shares;
mod quota_meters;
mod rebuilds;
mod session_order;
mod upstream;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use domain::id::SpaceId;
use domain::message::{Message, RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use domain::port::SpaceInfo;
use domain::{Classify, ErrorKind, PortError};
use host::{Backends, Context, clock};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::api::problem::Problem;
use crate::app::config::Config;
use crate::app::keys::keyring::Keyring;
use crate::app::seal::{Seal, Sealer};
use memory_places::MemoryPlaces;
use permit_shares::Shares;
use quota_meters::Meters;
use rebuilds::Rebuilds;
use session_order::Sessions;

pub(crate) use permit_shares::{Refused, Share};
pub(crate) use upstream::Upstream;

/// Maximum number of spaces erased at once.
const ERASING_MAX: u32 = 16;

/// State that all handlers share.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) context: Context,
    pub(crate) config: Config,
    pub(crate) keys: Keyring,
    /// Encrypts positions and cursors.
    seal: Seal,
    pub(crate) rebuilds: Rebuilds,
    /// Locks that serialize the messages of a session for recall.
    pub(crate) sessions: Sessions,
    /// One permit for each request in flight.
    pub(crate) in_flight: Shares,
    /// One permit for each request whose body is still arriving.
    pub(crate) receiving: Shares,
    /// One permit for each question.
    pub(crate) questions: Shares,
    /// One permit for each stream of events.
    streams: Shares,
    /// Wakes the sender of events when this gateway changes webhooks in the store.
    pub(crate) webhooks_changed: Notify,
    /// Use of the quotas of each key.
    pub(crate) meters: Meters,
    /// The language model that chats are forwarded to; `None` if the proxy is off.
    pub(crate) upstream: Option<Upstream>,
    /// One permit for each space that is being erased; an erasure continues after its request has ended.
    pub(crate) erasing: Arc<Semaphore>,
    /// Wakes the task for unfinished erasures.
    pub(crate) unfinished: Notify,
    /// The OpenAPI document, created at the first request for it.
    pub(crate) description: OnceLock<Bytes>,
    /// Cache of the spaces of memories that the API of mem0 showed recently.
    pub(crate) mem0_places: MemoryPlaces,
    last_batch_us: AtomicU64,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    pub(crate) fn new(context: Context, config: Config) -> anyhow::Result<App> {
        let keys = Keyring::new(&config)?;
        let seal = Seal::new(&config.seal_key)?;
        let shares = |total, each| Shares::new(total, each, &config.keys);
        let in_flight = shares(config.in_flight_max, config.in_flight_per_key_max);
        let receiving = shares(config.in_flight_max, config.in_flight_per_key_max);
        let questions = shares(config.questions_max, config.questions_per_key());
        let streams = shares(config.events.streams_max, config.events.streams_per_key_max);
        let upstream = Upstream::open_endpoint(&context, &config)?;
        Ok(App(Arc::new(Parts {
            context,
            config,
            keys,
            seal,
            rebuilds: Rebuilds::default(),
            sessions: Sessions::default(),
            in_flight,
            receiving,
            questions,
            streams,
            webhooks_changed: Notify::new(),
            meters: Meters::default(),
            upstream,
            erasing: Arc::new(Semaphore::new(ERASING_MAX as usize)),
            unfinished: Notify::new(),
            description: OnceLock::new(),
            mem0_places: MemoryPlaces::default(),
            last_batch_us: AtomicU64::new(0),
        })))
    }
}

impl Parts {
    pub(crate) fn stores(&self) -> &Backends {
        &self.context.backends
    }

    /// Returns the sealer of positions and cursors.
    pub(crate) async fn sealer(&self) -> Result<&Sealer, Problem> {
        self.seal.load_sealer(&*self.stores().records).await
    }

    /// Returns the longest time for a request that allows these calls of a language model, in milliseconds.
    pub(crate) fn question_ms_max(&self, model_calls: u32) -> u64 {
        match model_calls {
            0 => self.config.request_ms_max,
            _ => self.config.model_request_ms_max,
        }
    }

    /// Waits until a key has a free slot for a question.
    ///
    /// # Errors
    /// `exhausted` if too many questions of all keys are in progress, `timeout` if the key gets no slot within the time
    /// left.
    pub(crate) async fn question_turn(&self, by: &str, time_left: Duration) -> Result<Share, Problem> {
        match timeout(time_left, self.questions.acquire_permit(by)).await {
            Ok(share) => share.map_err(too_many_questions),
            Err(_) => Err(Problem::timeout(
                "the time limit was reached while other questions of this key were in progress",
            )),
        }
    }

    /// Waits until there is a free slot for a further step of a request of a key. Earlier steps may have made calls of a
    /// language model, which a refusal would waste.
    ///
    /// # Errors
    /// `timeout` if the key gets no slot within the time left.
    pub(crate) async fn later_question_turn(&self, by: &str, time_left: Duration) -> Result<Share, Problem> {
        match timeout(time_left, self.questions.wait_for_permit(by)).await {
            Ok(share) => share.map_err(too_many_questions),
            Err(_) => Err(Problem::timeout(
                "the time limit was reached while other questions were in progress",
            )),
        }
    }

    /// Takes a permit for a stream of events to the key `by`.
    ///
    /// # Errors
    /// `exhausted` and `share_exhausted`.
    pub(crate) fn stream_share(&self, by: &str) -> Result<Share, Problem> {
        self.streams.try_acquire_permit(by).map_err(|refused| match refused {
            Refused::All(most) => Problem::server_exhausted(format!(
                "{most} streams of events are open, which is the maximum; try again later"
            )),
            Refused::Own(most) => Problem::share_exhausted(format!(
                "{most} streams of events of this key are open, which is its maximum; close one, or try again later"
            )),
        })
    }

    pub(crate) fn note_in_flight(&self) {
        self.context
            .metrics
            .http_in_flight(self.in_flight.count_permits_in_use());
    }

    /// Waits until no erasure of a space is in progress.
    pub(crate) async fn all_erased(&self) {
        drop(self.erasing.acquire_many(ERASING_MAX).await);
    }

    /// Returns the space as stored, or the problem that it does not exist.
    pub(crate) async fn require_space(&self, space: &SpaceId) -> Result<SpaceInfo, Problem> {
        self.stores()
            .records
            .space(space)
            .await?
            .ok_or_else(|| Problem::unknown_space(space))
    }

    /// Returns the number of accepted batches of a space that the writer has not settled.
    pub(crate) async fn backlog_of_space(&self, space: &SpaceId) -> Result<u64, Problem> {
        let bus = &self.stores().bus;
        let waiting = bus.backlog_of_space(RecordsAcceptedV1::SUBJECT, space.as_str()).await;
        Ok(waiting?)
    }

    /// Returns the number of written batches of a space with incomplete derived data. The queues are read in the order
    /// in which a batch passes through them, so no batch is missed.
    pub(crate) async fn count_deriving_batches(&self, space: &SpaceId) -> Result<u64, PortError> {
        let bus = &self.stores().bus;
        let units = bus.backlog_of_space(UnitsWrittenV1::SUBJECT, space.as_str()).await?;
        let organised = bus.backlog_of_space(UnitsOrganisedV1::SUBJECT, space.as_str()).await?;
        Ok(units + organised)
    }

    /// Fails if the space does not exist. While the record store is not available, this succeeds, because the router
    /// may still have the space in memory.
    pub(crate) async fn may_ask(&self, space: &SpaceId) -> Result<(), Problem> {
        match self.stores().records.space(space).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Problem::unknown_space(space)),
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns microseconds since 1970; each call of this process returns a greater value.
    pub(crate) fn batch_clock_us(&self) -> u64 {
        let now = u64::try_from(clock::now().timestamp_micros()).unwrap_or(0);
        let previous = self
            .last_batch_us
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
        now.max(previous.unwrap_or(0) + 1)
    }
}

fn too_many_questions(refused: Refused) -> Problem {
    let (Refused::All(most) | Refused::Own(most)) = refused;
    Problem::server_exhausted(format!(
        "{most} questions are in progress, which is the maximum; try again"
    ))
}

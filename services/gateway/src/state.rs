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

use crate::auth::Keyring;
use crate::config::Config;
use crate::edge::{Meters, Refused, Share, Shares};
use crate::events::{Hook, open_hooks};
use crate::mem0::Places;
use crate::problem::Problem;
use crate::proxy::Upstream;
use crate::rebuild::Rebuilds;
use crate::seal::{Seal, Sealer};
use crate::sessions::Sessions;

/// Spaces erased at once.
const ERASING_MAX: u32 = 16;

/// What every handler sees.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) context: Context,
    pub(crate) config: Config,
    pub(crate) keys: Keyring,
    /// What hides positions and cursors.
    seal: Seal,
    pub(crate) rebuilds: Rebuilds,
    /// Whose turn it is to hear what a message wakes.
    pub(crate) sessions: Sessions,
    /// One permit a request in flight.
    pub(crate) in_flight: Shares,
    /// One permit a request whose body is coming.
    pub(crate) receiving: Shares,
    /// One permit a question.
    pub(crate) questions: Shares,
    /// One permit a stream of events.
    streams: Shares,
    /// Receivers of events that the settings name.
    pub(crate) hooks: Vec<Arc<Hook>>,
    /// Wakes whoever sends events when this gateway changes the webhooks of the store.
    pub(crate) webhooks_changed: Notify,
    /// What each key has used of its quotas.
    pub(crate) meters: Meters,
    /// The language model that chats are passed on to, if that is switched on.
    pub(crate) upstream: Option<Upstream>,
    /// One permit a space that is being erased; an erasure outlives the request that asked for it.
    pub(crate) erasing: Arc<Semaphore>,
    /// Wakes the work on unfinished erasures.
    pub(crate) unfinished: Notify,
    /// The description of the API, once somebody asked for it.
    pub(crate) description: OnceLock<Bytes>,
    /// Where the memories are that the API of mem0 showed lately.
    pub(crate) mem0_places: Places,
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
        let hooks = open_hooks(&config.webhooks)?;
        let upstream = Upstream::open(&context, &config)?;
        Ok(App(Arc::new(Parts {
            context,
            config,
            keys,
            seal,
            rebuilds: Rebuilds::default(),
            sessions: Sessions::new(),
            in_flight,
            receiving,
            questions,
            streams,
            hooks,
            webhooks_changed: Notify::new(),
            meters: Meters::default(),
            upstream,
            erasing: Arc::new(Semaphore::new(ERASING_MAX as usize)),
            unfinished: Notify::new(),
            description: OnceLock::new(),
            mem0_places: Places::default(),
            last_batch_us: AtomicU64::new(0),
        })))
    }
}

impl Parts {
    pub(crate) fn stores(&self) -> &Backends {
        &self.context.backends
    }

    /// Returns what seals positions and cursors.
    pub(crate) async fn sealer(&self) -> Result<&Sealer, Problem> {
        self.seal.sealer(&*self.stores().records).await
    }

    /// Returns the longest time for a request that allows these calls of a language model, in milliseconds.
    pub(crate) fn question_ms_max(&self, model_calls: u32) -> u64 {
        match model_calls {
            0 => self.config.request_ms_max,
            _ => self.config.model_request_ms_max,
        }
    }

    /// Waits until few enough questions of a key are being answered.
    ///
    /// # Errors
    /// `exhausted` if too many questions of all keys are, `timeout` if the key has no turn within the time left.
    pub(crate) async fn question_turn(&self, by: &str, left: Duration) -> Result<Share, Problem> {
        match timeout(left, self.questions.wait(by)).await {
            Ok(Ok(share)) => Ok(share),
            Ok(Err(Refused::All(most) | Refused::Own(most))) => Err(Problem::exhausted(format!(
                "{most} questions are being answered; try again"
            ))),
            Err(_) => Err(Problem::timeout(
                "other questions of this key were answered for all the time this one may take",
            )),
        }
    }

    /// Takes a permit for a stream of events to the key `by`.
    ///
    /// # Errors
    /// `exhausted` and `share_exhausted`.
    pub(crate) fn stream_share(&self, by: &str) -> Result<Share, Problem> {
        self.streams.take(by).map_err(|refused| match refused {
            Refused::All(most) => Problem::exhausted(format!("{most} streams of events are open; try again later")),
            Refused::Own(most) => Problem::share_exhausted(format!(
                "{most} streams of events of this key are open, which is its share; close one, or try again later"
            )),
        })
    }

    pub(crate) fn note_in_flight(&self) {
        self.context.metrics.http_in_flight(self.in_flight.held());
    }

    /// Returns when no space is being erased any more.
    pub(crate) async fn all_erased(&self) {
        drop(self.erasing.acquire_many(ERASING_MAX).await);
    }

    /// Returns the space as stored, or the problem that there is none.
    pub(crate) async fn space(&self, space: &SpaceId) -> Result<SpaceInfo, Problem> {
        self.stores()
            .records
            .space(space)
            .await?
            .ok_or_else(|| Problem::unknown_space(space))
    }

    /// Returns how many accepted batches of a space the writer has not settled.
    pub(crate) async fn backlog(&self, space: &SpaceId) -> Result<u64, Problem> {
        let bus = &self.stores().bus;
        let waiting = bus.backlog_of_space(RecordsAcceptedV1::SUBJECT, space.as_str()).await;
        Ok(waiting?)
    }

    /// Returns how many written batches of a space wait for something that is derived from them. Looked at in the order
    /// in which a batch goes from one to the next: none is overlooked.
    pub(crate) async fn deriving(&self, space: &SpaceId) -> Result<u64, PortError> {
        let bus = &self.stores().bus;
        let units = bus.backlog_of_space(UnitsWrittenV1::SUBJECT, space.as_str()).await?;
        let organised = bus.backlog_of_space(UnitsOrganisedV1::SUBJECT, space.as_str()).await?;
        Ok(units + organised)
    }

    /// Fails if there is no such space. While the records are away nobody knows, and the router may hold it from before.
    pub(crate) async fn may_ask(&self, space: &SpaceId) -> Result<(), Problem> {
        match self.stores().records.space(space).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Problem::unknown_space(space)),
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns microseconds since 1970, greater with every call of this process.
    pub(crate) fn batch_clock_us(&self) -> u64 {
        let now = u64::try_from(clock::now().timestamp_micros()).unwrap_or(0);
        let previous = self
            .last_batch_us
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
        now.max(previous.unwrap_or(0) + 1)
    }
}

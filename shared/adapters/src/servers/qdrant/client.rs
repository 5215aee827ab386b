use std::time::Duration;

use domain::PortError;
use qdrant_client::qdrant::{
    CountPoints, CountResponse, DeletePoints, GetPoints, GetResponse, QueryBatchPoints, QueryBatchResponse,
    ScrollPoints, ScrollResponse, SetPayloadPoints, UpsertPoints,
};
use qdrant_client::{Qdrant, QdrantError};
use tokio::time::{sleep, timeout};
use tracing::Instrument;

use super::error::{Meaning, is_other_protocol, meaning_of_error, of_port, retry_pause, timeout_error};
use super::{Options, SetupError};

/// Pause before the first retry; each later one is four times as long.
const PAUSE_FIRST: Duration = Duration::from_millis(50);

/// The driver, with a timeout for every call. The first call connects.
pub(super) struct Client {
    driver: Qdrant,
    pub(super) url: String,
    call_time: Duration,
    tries: u32,
}

impl Client {
    pub(super) fn new(options: &Options) -> Result<Client, SetupError> {
        Ok(Client {
            driver: options.build_driver()?,
            url: options.url.clone(),
            call_time: options.call_time(),
            tries: options.tries.max(1),
        })
    }

    pub(super) async fn upsert_points(&self, operation: &'static str, request: &UpsertPoints) -> Result<(), PortError> {
        let send = || self.driver.upsert_points(request.clone());
        self.send_with_retries(operation, send).await.map(drop)
    }

    pub(super) async fn delete_points(&self, operation: &'static str, request: &DeletePoints) -> Result<(), PortError> {
        let send = || self.driver.delete_points(request.clone());
        self.send_with_retries(operation, send).await.map(drop)
    }

    pub(super) async fn set_payload(
        &self,
        operation: &'static str,
        request: &SetPayloadPoints,
    ) -> Result<(), PortError> {
        let send = || self.driver.set_payload(request.clone());
        self.send_with_retries(operation, send).await.map(drop)
    }

    pub(super) async fn get_points(
        &self,
        operation: &'static str,
        request: &GetPoints,
    ) -> Result<GetResponse, PortError> {
        self.send_with_retries(operation, || self.driver.get_points(request.clone()))
            .await
    }

    pub(super) async fn count_points(
        &self,
        operation: &'static str,
        request: &CountPoints,
    ) -> Result<CountResponse, PortError> {
        self.send_with_retries(operation, || self.driver.count(request.clone()))
            .await
    }

    pub(super) async fn scroll_points(
        &self,
        operation: &'static str,
        request: &ScrollPoints,
    ) -> Result<ScrollResponse, PortError> {
        self.send_with_retries(operation, || self.driver.scroll(request.clone()))
            .await
    }

    pub(super) async fn query_points(
        &self,
        operation: &'static str,
        request: &QueryBatchPoints,
    ) -> Result<QueryBatchResponse, PortError> {
        self.send_with_retries(operation, || self.driver.query_batch(request.clone()))
            .await
    }

    /// Runs one step of the setup. Returns `None` if the requested object is missing.
    pub(super) async fn run_setup_step<T, F>(
        &self,
        step: &str,
        send: impl Fn(Qdrant) -> F + Send,
    ) -> Result<Option<T>, SetupError>
    where
        T: Send,
        F: Future<Output = Result<T, QdrantError>> + Send,
    {
        let url = || self.url.clone();
        let sent = timeout(self.call_time, send(self.driver.clone()));
        let error = match sent.await {
            Ok(Ok(value)) => return Ok(Some(value)),
            Ok(Err(error)) => error,
            Err(_) => {
                return Err(SetupError::Unavailable {
                    url: url(),
                    source: None,
                });
            }
        };
        let (meaning, other_protocol) = (meaning_of_error(&error), is_other_protocol(&error));
        let source = Box::new(error);
        match meaning {
            Meaning::Missing => Ok(None),
            Meaning::Away if other_protocol => Err(SetupError::Protocol { url: url(), source }),
            Meaning::Away | Meaning::Busy(_) => Err(SetupError::Unavailable {
                url: url(),
                source: Some(source),
            }),
            Meaning::Refused => Err(SetupError::Credentials { url: url(), source }),
            Meaning::Full | Meaning::Exists | Meaning::Damaged | Meaning::Defect => Err(SetupError::Refused {
                url: url(),
                step: step.to_owned(),
                source: Some(source),
            }),
        }
    }

    /// Sends a request until an answer comes, a retry makes no sense, or time or tries are used up.
    async fn send_with_retries<T, F>(
        &self,
        operation: &'static str,
        mut send: impl FnMut() -> F + Send,
    ) -> Result<T, PortError>
    where
        T: Send,
        F: Future<Output = Result<T, QdrantError>> + Send,
    {
        let tries = async {
            let (mut left, mut own) = (self.tries, PAUSE_FIRST);
            loop {
                let error = match send().await {
                    Ok(value) => return Ok(value),
                    Err(error) => error,
                };
                left -= 1;
                match retry_pause(&error, own).filter(|_| left > 0) {
                    Some(pause) => sleep(pause).await,
                    None => return Err(of_port(operation, error)),
                }
                tracing::debug!(operation, left, "sent to qdrant again");
                own *= 4;
            }
        };
        let late = |_| Err(timeout_error(operation, self.call_time));
        let tries = timeout(self.call_time, tries).instrument(tracing::info_span!("qdrant", operation));
        tries.await.unwrap_or_else(late)
    }
}

//! Requests between services of one process: they travel as values, so that nothing is written as JSON to be read again in the
//! same process. Whoever serves in another process is asked over the bus.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::message::Request;
use domain::{ErrorKind, PortError};
use futures::Stream;
use futures::stream;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

/// Requests that may wait for one server.
const WAITING_MAX: usize = 256;
const OPERATION: &str = "bus.request";

/// A request that waits for its reply.
pub(super) struct LocalRequest<R: Request> {
    pub(super) request: R,
    /// Trace context and deadline.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) reply: oneshot::Sender<Result<R::Reply, PortError>>,
    /// Cancelled once its asker waits no longer.
    pub(super) abandoned: CancellationToken,
}

/// A request that nobody serves in this process.
pub(super) struct Unserved<R> {
    pub(super) request: R,
    pub(super) headers: BTreeMap<String, String>,
}

type Server<R> = mpsc::Sender<LocalRequest<R>>;
type Reply<R> = Result<<R as Request>::Reply, PortError>;

/// Who answers requests in this process, by subject; servers of one subject take turns.
#[derive(Clone, Default)]
pub(crate) struct InProcess(Arc<Mutex<HashMap<&'static str, Box<dyn Any + Send>>>>);

impl InProcess {
    /// Adds a server of `R` and returns what it is asked; the server leaves when that is dropped.
    pub(super) fn serve<R: Request>(&self) -> impl Stream<Item = LocalRequest<R>> + use<R> {
        let (server, asked) = mpsc::channel(WAITING_MAX);
        self.with_servers(|servers: &mut Vec<Server<R>>| servers.push(server));
        stream::unfold(
            asked,
            |mut asked| async move { asked.recv().await.map(|it| (it, asked)) },
        )
    }

    /// Asks a server of this process and waits for the reply as long as `patience` lasts.
    ///
    /// # Errors
    /// The request with its headers if nobody serves it here.
    pub(super) async fn ask<R: Request>(
        &self,
        request: Unserved<R>,
        patience: Duration,
    ) -> Result<Reply<R>, Unserved<R>> {
        let Some(server) = self.next::<R>() else {
            return Err(request);
        };
        let late = format!("no reply from {} in time", R::SUBJECT);
        let span = info_span!("bus.request", subject = R::SUBJECT);
        timeout(patience, asked(&server, request))
            .instrument(span)
            .await
            .unwrap_or_else(|_| Ok(Err(PortError::new(OPERATION, ErrorKind::Timeout, late))))
    }

    /// Returns the living server whose turn it is.
    fn next<R: Request>(&self) -> Option<Server<R>> {
        self.with_servers(|servers: &mut Vec<Server<R>>| {
            servers.retain(|it| !it.is_closed());
            if servers.len() > 1 {
                servers.rotate_left(1);
            }
            servers.first().cloned()
        })
    }

    fn with_servers<R: Request, T>(&self, work: impl FnOnce(&mut Vec<Server<R>>) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let servers = all
            .entry(R::SUBJECT)
            .or_insert_with(|| Box::new(Vec::<Server<R>>::new()));
        match servers.downcast_mut() {
            Some(servers) => work(servers),
            // Of two types with one subject the first is served here, the other over the bus.
            None => work(&mut Vec::new()),
        }
    }
}

/// Hands a request to a server, which may be busy, and waits for the reply.
async fn asked<R: Request>(server: &Server<R>, request: Unserved<R>) -> Result<Reply<R>, Unserved<R>> {
    let (reply, answer) = oneshot::channel();
    // Cancelled with this future, which is dropped when nobody waits for it any more.
    let waits = CancellationToken::new();
    let asked = LocalRequest {
        request: request.request,
        headers: request.headers,
        reply,
        abandoned: waits.clone(),
    };
    let _guard = waits.drop_guard();
    let sent = match server.try_send(asked) {
        Ok(()) => Ok(()),
        Err(TrySendError::Full(asked)) => server.send(asked).await.map_err(|it| it.0),
        Err(TrySendError::Closed(asked)) => Err(asked),
    };
    if let Err(LocalRequest { request, headers, .. }) = sent {
        return Err(Unserved { request, headers });
    }
    let gave_up = || format!("{} gave up the request", R::SUBJECT);
    let gone = |_| Err(PortError::new(OPERATION, ErrorKind::Unavailable, gave_up()));
    Ok(answer.await.unwrap_or_else(gone))
}

#[cfg(test)]
mod tests {
    use domain::Classify;
    use domain::message::{ToolSpecV1, ToolsV1};
    use futures::StreamExt;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn tools() -> Unserved<ToolsV1> {
        Unserved {
            request: ToolsV1 {},
            headers: BTreeMap::from([("name".to_owned(), "value".to_owned())]),
        }
    }

    fn spec(name: &str) -> ToolSpecV1 {
        ToolSpecV1 {
            name: name.to_owned(),
            description: String::new(),
            input_schema: serde_json::Value::Null,
        }
    }

    /// Answers as many requests as are asked with a list of one tool.
    async fn answer(mut requests: impl Stream<Item = LocalRequest<ToolsV1>> + Unpin, name: &str, count: usize) {
        for _ in 0..count {
            let request = requests.next().await.unwrap();
            assert_eq!(request.headers["name"], "value");
            assert!(!request.abandoned.is_cancelled());
            request.reply.send(Ok(vec![spec(name)])).unwrap();
        }
    }

    async fn name_from(in_process: &InProcess) -> String {
        let Ok(reply) = in_process.ask(tools(), PATIENCE).await else {
            panic!("nobody serves");
        };
        reply.unwrap()[0].name.clone()
    }

    #[tokio::test]
    async fn servers_of_one_subject_take_turns() {
        let in_process = InProcess::default();
        let [first, second] = [(); 2].map(|()| Box::pin(in_process.serve::<ToolsV1>()));
        let asking = async {
            let mut names = Vec::new();
            for _ in 0..3 {
                names.push(name_from(&in_process).await);
            }
            names
        };
        let (names, (), ()) = tokio::join!(asking, answer(first, "first", 1), answer(second, "second", 2));
        assert_eq!(names, ["second", "first", "second"]);
    }

    #[tokio::test]
    async fn without_a_server_the_request_comes_back() {
        let in_process = InProcess::default();
        let back = in_process.ask(tools(), PATIENCE).await.err().unwrap();
        assert_eq!(back.headers, tools().headers);
        drop(in_process.serve::<ToolsV1>());
        assert!(in_process.ask(tools(), PATIENCE).await.is_err());
        let served = Box::pin(in_process.serve::<ToolsV1>());
        let (name, ()) = tokio::join!(name_from(&in_process), answer(served, "there", 1));
        assert_eq!(name, "there");
    }

    #[tokio::test]
    async fn a_server_hears_that_its_asker_has_left() {
        let in_process = InProcess::default();
        let mut requests = Box::pin(in_process.serve::<ToolsV1>());
        let late = in_process.ask(tools(), Duration::from_millis(1)).await;
        assert_eq!(late.ok().unwrap().unwrap_err().kind(), ErrorKind::Timeout);
        let request = requests.next().await.unwrap();
        assert!(request.abandoned.is_cancelled());
    }
}

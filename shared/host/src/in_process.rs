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
pub(crate) struct LocalRequest<R: Request> {
    pub(crate) request: R,
    /// Trace context and deadline.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) reply: oneshot::Sender<Result<R::Reply, PortError>>,
    /// Cancelled once the sender stops waiting.
    pub(crate) abandoned: CancellationToken,
}

/// A request that no server in this process accepts.
pub(crate) struct Unserved<R> {
    pub(crate) request: R,
    pub(crate) headers: BTreeMap<String, String>,
}

type Server<R> = mpsc::Sender<LocalRequest<R>>;
type Reply<R> = Result<<R as Request>::Reply, PortError>;

/// The servers of requests in this process, by subject; servers of one subject take turns.
#[derive(Clone, Default)]
pub(crate) struct InProcess(Arc<Mutex<HashMap<&'static str, Box<dyn Any + Send>>>>);

impl InProcess {
    /// Adds a server of `R` and returns its stream of requests; the server is removed when the stream is dropped.
    pub(crate) fn add_server<R: Request>(&self) -> impl Stream<Item = LocalRequest<R>> + use<R> {
        let (server, requests) = mpsc::channel(WAITING_MAX);
        self.with_servers(|servers: &mut Vec<Server<R>>| servers.push(server));
        stream::unfold(requests, |mut requests| async move {
            requests.recv().await.map(|it| (it, requests))
        })
    }

    /// Asks a server of this process and waits for the reply as long as `patience` lasts.
    ///
    /// # Errors
    /// The request with its headers if nobody serves it here.
    pub(crate) async fn ask_server<R: Request>(
        &self,
        request: Unserved<R>,
        patience: Duration,
    ) -> Result<Reply<R>, Unserved<R>> {
        let Some(server) = self.next_server::<R>() else {
            return Err(request);
        };
        let late = format!("no reply from {} in time", R::SUBJECT);
        let span = info_span!("bus.request", subject = R::SUBJECT);
        timeout(patience, pass_to_server(&server, request))
            .instrument(span)
            .await
            .unwrap_or_else(|_| Ok(Err(PortError::new(OPERATION, ErrorKind::Timeout, late))))
    }

    /// Returns the living server whose turn it is.
    fn next_server<R: Request>(&self) -> Option<Server<R>> {
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
async fn pass_to_server<R: Request>(server: &Server<R>, request: Unserved<R>) -> Result<Reply<R>, Unserved<R>> {
    let (reply, answer) = oneshot::channel();
    // Cancelled with this future, which is dropped when nobody waits for it any more.
    let waits = CancellationToken::new();
    let request_for_server = LocalRequest {
        request: request.request,
        headers: request.headers,
        reply,
        abandoned: waits.clone(),
    };
    let _guard = waits.drop_guard();
    let sent = match server.try_send(request_for_server) {
        Ok(()) => Ok(()),
        Err(TrySendError::Full(request_for_server)) => server.send(request_for_server).await.map_err(|it| it.0),
        Err(TrySendError::Closed(request_for_server)) => Err(request_for_server),
    };
    if let Err(LocalRequest { request, headers, .. }) = sent {
        return Err(Unserved { request, headers });
    }
    let gave_up = || format!("{} dropped the request", R::SUBJECT);
    let no_answer = |_| Err(PortError::new(OPERATION, ErrorKind::Unavailable, gave_up()));
    Ok(answer.await.unwrap_or_else(no_answer))
}

#[cfg(test)]
mod tests {
    use domain::Classify;
    use domain::message::{ToolSpecV1, ToolsV1};
    use futures::StreamExt;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn tools_request() -> Unserved<ToolsV1> {
        Unserved {
            request: ToolsV1 {},
            headers: BTreeMap::from([("name".to_owned(), "value".to_owned())]),
        }
    }

    fn tool_spec(name: &str) -> ToolSpecV1 {
        ToolSpecV1 {
            name: name.to_owned(),
            description: String::new(),
            input_schema: serde_json::Value::Null,
        }
    }

    /// Answers as many requests as are asked with a list of one tool.
    async fn answer_requests(
        mut requests: impl Stream<Item = LocalRequest<ToolsV1>> + Unpin,
        name: &str,
        count: usize,
    ) {
        for _ in 0..count {
            let request = requests.next().await.unwrap();
            assert_eq!(request.headers["name"], "value");
            assert!(!request.abandoned.is_cancelled());
            request.reply.send(Ok(vec![tool_spec(name)])).unwrap();
        }
    }

    async fn name_from(in_process: &InProcess) -> String {
        let Ok(reply) = in_process.ask_server(tools_request(), PATIENCE).await else {
            panic!("no service handles");
        };
        reply.unwrap()[0].name.clone()
    }

    #[tokio::test]
    async fn servers_of_one_subject_take_turns() {
        let in_process = InProcess::default();
        let [first, second] = [(); 2].map(|()| Box::pin(in_process.add_server::<ToolsV1>()));
        let asking = async {
            let mut names = Vec::new();
            for _ in 0..3 {
                names.push(name_from(&in_process).await);
            }
            names
        };
        let (names, (), ()) = tokio::join!(
            asking,
            answer_requests(first, "first", 1),
            answer_requests(second, "second", 2)
        );
        assert_eq!(names, ["second", "first", "second"]);
    }

    #[tokio::test]
    async fn a_request_without_a_server_is_returned_to_the_caller() {
        let in_process = InProcess::default();
        let back = in_process.ask_server(tools_request(), PATIENCE).await.err().unwrap();
        assert_eq!(back.headers, tools_request().headers);
        drop(in_process.add_server::<ToolsV1>());
        assert!(in_process.ask_server(tools_request(), PATIENCE).await.is_err());
        let served = Box::pin(in_process.add_server::<ToolsV1>());
        let (name, ()) = tokio::join!(name_from(&in_process), answer_requests(served, "there", 1));
        assert_eq!(name, "there");
    }

    #[tokio::test]
    async fn a_server_learns_that_its_caller_has_disconnected() {
        let in_process = InProcess::default();
        let mut requests = Box::pin(in_process.add_server::<ToolsV1>());
        let late = in_process.ask_server(tools_request(), Duration::from_millis(1)).await;
        assert_eq!(late.ok().unwrap().unwrap_err().kind(), ErrorKind::Timeout);
        let request = requests.next().await.unwrap();
        assert!(request.abandoned.is_cancelled());
    }
}

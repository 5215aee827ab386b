//! The servers of requests in this process, by subject. Servers take turns, and one whose queue is full is skipped.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::port::Inquiry;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// Maximum number of requests in the queue of one server.
const WAITING_MAX: usize = 256;

/// The servers of one subject.
#[derive(Clone, Debug)]
pub(crate) struct Serving(Vec<mpsc::Sender<Inquiry>>);

/// The servers of all subjects.
#[derive(Debug, Default)]
pub(crate) struct Servers(Mutex<HashMap<String, Serving>>);

/// Returns the queue of a server: the sender, and the stream for the server.
pub(crate) fn inquiry_queue() -> (mpsc::Sender<Inquiry>, BoxStream<'static, Inquiry>) {
    let (server, inquiries) = mpsc::channel(WAITING_MAX);
    let next = |mut inquiries: mpsc::Receiver<Inquiry>| async move { inquiries.recv().await.map(|it| (it, inquiries)) };
    (server, stream::unfold(inquiries, next).boxed())
}

impl Servers {
    /// Adds a server.
    pub(crate) fn add_server(&self, subject: &str, server: mpsc::Sender<Inquiry>) {
        let mut all = self.lock_servers();
        all.entry(subject.to_owned())
            .or_insert(Serving(Vec::new()))
            .0
            .push(server);
    }

    /// Adds a server if the subject has other live servers. Returns false if it has none.
    #[cfg(feature = "distributed")]
    pub(crate) fn add_if_served(&self, subject: &str, server: &mpsc::Sender<Inquiry>) -> bool {
        let mut all = self.lock_servers();
        let others = all.get_mut(subject).filter(|it| it.0.iter().any(|it| !it.is_closed()));
        others.map(|it| it.0.push(server.clone())).is_some()
    }

    /// Returns the live servers of a subject, the next one in turn first. Returns `None` if all are gone.
    pub(crate) fn in_turn(&self, subject: &str) -> Option<Serving> {
        let mut all = self.lock_servers();
        let serving = all.get_mut(subject)?;
        serving.0.retain(|it| !it.is_closed());
        if serving.0.is_empty() {
            all.remove(subject);
            return None;
        }
        serving.0.rotate_left(1);
        Some(serving.clone())
    }

    /// Removes the servers of a subject.
    #[cfg(feature = "distributed")]
    pub(crate) fn remove_servers(&self, subject: &str) {
        self.lock_servers().remove(subject);
    }

    fn lock_servers(&self) -> MutexGuard<'_, HashMap<String, Serving>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Serving {
    /// Passes a request to the first server with room, otherwise waits for room. Returns the request if all servers are
    /// gone.
    pub(crate) async fn pass_inquiry(&self, mut inquiry: Inquiry) -> Result<(), Inquiry> {
        for server in &self.0 {
            match server.try_send(inquiry) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(back) | TrySendError::Closed(back)) => inquiry = back,
            }
        }
        for server in &self.0 {
            match server.send(inquiry).await {
                Ok(()) => return Ok(()),
                Err(closed) => inquiry = closed.0,
            }
        }
        Err(inquiry)
    }

    /// Waits until the first server is gone.
    #[cfg(feature = "distributed")]
    pub(crate) async fn first_gone(&self) {
        if let Some(first) = self.0.first() {
            first.closed().await;
        }
    }
}

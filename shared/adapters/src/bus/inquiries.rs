use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::port::{Frame, Inquiry, Result};
use domain::{ErrorKind, PortError};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Requests that may wait for one server; an asker beyond waits, inside its patience.
const WAITING_MAX: usize = 256;
const OPERATION: &str = "bus.request";

type Servers = Vec<mpsc::Sender<Inquiry>>;

/// Requests and their servers, by subject. Servers take turns; one whose queue is full is passed over.
#[derive(Default)]
pub(super) struct Inquiries {
    servers: Mutex<HashMap<String, Servers>>,
}

impl Inquiries {
    pub(super) fn serve(&self, subject: &str) -> mpsc::Receiver<Inquiry> {
        let (sender, inquiries) = mpsc::channel(WAITING_MAX);
        self.lock().entry(subject.to_owned()).or_default().push(sender);
        inquiries
    }

    pub(super) async fn ask(&self, frame: Frame, patience: Duration) -> Result<Vec<u8>> {
        let subject = frame.subject.clone();
        let late = || {
            PortError::new(
                OPERATION,
                ErrorKind::Timeout,
                format!("no reply from {subject} in time"),
            )
        };
        timeout(patience, self.reply(frame))
            .await
            .unwrap_or_else(|_| Err(late()))
    }

    async fn reply(&self, frame: Frame) -> Result<Vec<u8>> {
        let subject = frame.subject.clone();
        let gone = || {
            PortError::new(
                OPERATION,
                ErrorKind::Unavailable,
                format!("{subject} gave up the request"),
            )
        };
        let (reply, answer) = oneshot::channel();
        // An asker that has run out of patience is gone; the reply goes nowhere.
        let reply = Box::new(move |result| drop(reply.send(result)));
        self.hand_over(Inquiry { frame, reply }).await?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    async fn hand_over(&self, mut inquiry: Inquiry) -> Result<()> {
        loop {
            let Some(servers) = self.in_turn(&inquiry.frame.subject) else {
                let detail = format!("nobody serves {}", inquiry.frame.subject);
                return Err(PortError::new(OPERATION, ErrorKind::Unavailable, detail));
            };
            for server in &servers {
                match server.try_send(inquiry) {
                    Ok(()) => return Ok(()),
                    Err(TrySendError::Full(back) | TrySendError::Closed(back)) => inquiry = back,
                }
            }
            let Some(first) = servers.first() else { continue };
            match first.send(inquiry).await {
                Ok(()) => return Ok(()),
                Err(closed) => inquiry = closed.0,
            }
        }
    }

    /// Returns the living servers of a subject, the one whose turn it is in front.
    fn in_turn(&self, subject: &str) -> Option<Servers> {
        let mut servers = self.lock();
        let of_subject = servers.get_mut(subject)?;
        of_subject.retain(|it| !it.is_closed());
        if of_subject.is_empty() {
            servers.remove(subject);
            return None;
        }
        of_subject.rotate_left(1);
        Some(of_subject.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Servers>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The rest of a request body after the response. A wrong key, an unknown space and a wrong route are answered before
//! the body is read. An unread body would precede the next request on the connection, which would then have to be
//! closed.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Error;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header;
use futures::{StreamExt, stream};
use tokio::time::timeout;

/// Longest wait for the rest; most of it has arrived or is on its way.
const PATIENCE: Duration = Duration::from_secs(1);

/// The body of a request in progress.
pub(crate) struct UnreadBody {
    body: SharedBody,
    /// Whether the client waits for `100 Continue` before it sends the body.
    waits: bool,
}

#[derive(Clone)]
struct SharedBody(Arc<Mutex<Watched>>);

struct Watched {
    body: BodyDataStream,
    begun: bool,
    ended: bool,
}

impl UnreadBody {
    /// Returns a handle on the body of a request; `None` if it has no body.
    pub(crate) fn wrap_body(request: &mut Request) -> Option<UnreadBody> {
        if request.body().is_end_stream() {
            return None;
        }
        let waits = request.headers().contains_key(header::EXPECT);
        let body = SharedBody(Arc::new(Mutex::new(Watched {
            body: mem::take(request.body_mut()).into_data_stream(),
            begun: false,
            ended: false,
        })));
        let shared_body = body.clone();
        *request.body_mut() = Body::from_stream(stream::poll_fn(move |context| shared_body.poll(context)));
        Some(UnreadBody { body, waits })
    }

    /// Reads and drops the rest of the body, up to `bytes_max` bytes and for at most [`PATIENCE`]; returns true if the
    /// body has ended. Reads nothing if the client still waits for `100 Continue`.
    pub(crate) async fn drop_rest(self, bytes_max: usize) -> bool {
        {
            let watched = self.body.lock_body();
            if watched.ended || (self.waits && !watched.begun) {
                return watched.ended;
            }
        }
        let mut rest = stream::poll_fn(|context| self.body.poll(context));
        let work = async {
            let mut bytes_left = bytes_max;
            while let Some(Ok(bytes)) = rest.next().await {
                match bytes_left.checked_sub(bytes.len()) {
                    Some(less) => bytes_left = less,
                    None => break,
                }
            }
        };
        drop(timeout(PATIENCE, work).await);
        self.body.lock_body().ended
    }
}

impl SharedBody {
    fn lock_body(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let mut watched = self.lock_body();
        if watched.ended {
            return Poll::Ready(None);
        }
        watched.begun = true;
        let polled = watched.body.poll_next_unpin(context);
        if let Poll::Ready(None) = polled {
            watched.ended = true;
        }
        polled
    }
}

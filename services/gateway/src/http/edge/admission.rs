//! Admission control (backpressure): a request reaches its handler if its body is complete, the quota of its key is not
//! used up, and the key holds less than its share.

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;
use host::clock;

use crate::api::problem::Problem;
use crate::app::keys::access::Access;
use crate::app::state::{App, Refused};

/// Waits for the body of a request, then runs the request within its caller's share of the requests in flight. Bodies
/// that are still arriving have separate shares, so slow bodies do not block other callers.
pub(crate) async fn admit_request(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    app.meters.take_request(access.name(), access.quotas(), clock::now())?;
    if !request.body().is_end_stream() {
        let _receiving = app
            .receiving
            .try_acquire_permit(access.name())
            .map_err(refusal_problem)?;
        receive_body(&mut request, app.config.body_bytes_max).await;
    }
    let _share = app
        .in_flight
        .try_acquire_permit(access.name())
        .map_err(refusal_problem)?;
    app.note_in_flight();
    Ok(next.run(request).await)
}

/// Replaces the body by the bytes that arrived. One byte over the limit, or an error, stays in it for the handler to
/// find.
async fn receive_body(request: &mut Request, bytes_max: usize) {
    let mut coming = std::mem::take(request.body_mut()).into_data_stream();
    let mut bytes = Vec::new();
    let mut error = None;
    while bytes.len() <= bytes_max {
        match coming.next().await {
            Some(Ok(more)) => bytes.extend_from_slice(&more),
            Some(Err(it)) => {
                error = Some(it);
                break;
            }
            None => break,
        }
    }
    *request.body_mut() = match error {
        None => Body::from(bytes),
        Some(error) => Body::from_stream(futures::stream::iter([Ok(Bytes::from(bytes)), Err(error)])),
    };
}

/// Returns the problem for a caller that gets no permit.
fn refusal_problem(refused: Refused) -> Problem {
    match refused {
        Refused::All(most) => Problem::server_exhausted(format!(
            "{most} requests are in progress, which is the maximum; try again"
        )),
        Refused::Own(most) => Problem::share_exhausted(format!(
            "{most} requests of this key are in progress, which is its maximum; try again"
        )),
    }
}

//! Admission of requests to a handler: the body is complete, the quota of the key is not used up, and the key holds
//! less than its share.

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;
use host::clock;

use crate::auth::Access;
use crate::edge::shares::Refused;
use crate::problem::Problem;
use crate::state::App;

/// Waits for the body of a request, then runs the request within its caller's share of the requests in flight. Bodies
/// that are still arriving have shares of their own, so slow bodies do not block other callers.
pub(crate) async fn admit(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    app.meters.take_request(access.name(), access.quotas(), clock::now())?;
    if !request.body().is_end_stream() {
        let _receiving = app.receiving.take(access.name()).map_err(refusal)?;
        receive(&mut request, app.config.body_bytes_max).await;
    }
    let _share = app.in_flight.take(access.name()).map_err(refusal)?;
    app.note_in_flight();
    Ok(next.run(request).await)
}

/// Replaces the body by the bytes that arrived. One byte over the limit, or an error, stays in it for the handler to
/// find.
async fn receive(request: &mut Request, bytes_max: usize) {
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
fn refusal(refused: Refused) -> Problem {
    match refused {
        Refused::All(most) => Problem::exhausted(format!("{most} requests are being answered; try again")),
        Refused::Own(most) => Problem::share_exhausted(format!(
            "{most} requests of this key are being received or answered, which is its share; try again"
        )),
    }
}

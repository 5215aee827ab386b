//! The clusterer's settings for a scripted model.

use std::time::Duration;

use fixtures::{ChatEndpoint, ChatReply, user_message};

/// Time in which the follower would ask the model a further question if it had one: it looks every second, and an
/// absence can only be waited for.
pub(crate) const ANOTHER_CALL: Duration = Duration::from_millis(2_500);

/// Starts an endpoint that answers the text of each question with `reply`, or with 500 if the reply is empty.
pub(crate) fn start_endpoint(reply: fn(&str) -> String) -> ChatEndpoint {
    ChatEndpoint::start(move |request| match reply(&user_message(request)) {
        text if text.is_empty() => ChatReply::Refusal("500 Internal Server Error"),
        text => ChatReply::Text(text),
    })
}

/// Returns settings that use the endpoint, with these lines about readings.
pub(crate) fn endpoint_settings(endpoint: &ChatEndpoint, readings: &str) -> String {
    format!("{}[clusterer.readings]\n{readings}\n", endpoint.settings())
}

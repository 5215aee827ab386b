//! Watermarks: positions in the stream of accepted records, sealed and bound to their space.

use domain::id::SpaceId;
use domain::port::Position;

use crate::api::problem::Problem;
use crate::app::seal::Sealer;
use crate::app::state::App;

/// Length of an old watermark that is not sealed.
const OPEN_LENGTH: usize = 32;

/// Returns the watermark of a position.
pub(crate) async fn from_position(app: &App, space: &SpaceId, position: Position) -> Result<String, Problem> {
    app.sealer().await?.seal_watermark(space, position)
}

/// Returns the position of a watermark; a watermark of another space, or a forged one, is refused.
pub(crate) async fn to_position(app: &App, space: &SpaceId, text: &str) -> Result<Position, Problem> {
    app.sealer().await?.open_watermark(space, text)
}

/// Returns the position of the watermark in a request, if it has one.
pub(crate) async fn position_in_request(
    app: &App,
    space: &SpaceId,
    text: Option<&str>,
) -> Result<Option<Position>, Problem> {
    match text {
        Some(text) => to_position(app, space, text).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the position of an old watermark that is not sealed, as it is found in the store.
pub(crate) fn parse_unsealed(text: &str) -> Option<Position> {
    let position = text.get(..16).filter(|_| text.len() == OPEN_LENGTH)?;
    u64::from_str_radix(position, 16).ok().map(Position)
}

impl Sealer {
    /// Returns the watermark of a position.
    pub(crate) fn seal_watermark(&self, space: &SpaceId, position: Position) -> Result<String, Problem> {
        self.seal_value(&["watermark", space.as_str()], &position.0.to_be_bytes())
    }

    /// Returns the position of a watermark.
    fn open_watermark(&self, space: &SpaceId, text: &str) -> Result<Position, Problem> {
        let plain = self.open_value(&["watermark", space.as_str()], text);
        let position = plain.and_then(|it| it.try_into().ok()).map(u64::from_be_bytes);
        position.map(Position).ok_or_else(|| refuse_watermark(space, text))
    }
}

fn refuse_watermark(space: &SpaceId, text: &str) -> Problem {
    let detail = format!("this is not a watermark of the space `{space}`");
    Problem::invalid_watermark(if parse_unsealed(text).is_some() {
        format!(
            "{detail} any more: it is from an older release with other watermarks; leave it out, or send the write \
             again to get a new one, which is harmless with the same ids or the same Idempotency-Key"
        )
    } else {
        format!("{detail}, or it was sealed with a key that this server does not have")
    })
}

//! Watermarks: positions in the stream of accepted records, sealed and bound to their space.

use domain::id::SpaceId;
use domain::port::Position;

use crate::problem::Problem;
use crate::seal::Sealer;
use crate::state::App;

/// Length of an old watermark that is not sealed.
const OPEN_LENGTH: usize = 32;

/// Returns the watermark of a position.
pub(crate) async fn print(app: &App, space: &SpaceId, position: Position) -> Result<String, Problem> {
    app.sealer().await?.watermark(space, position)
}

/// Returns the position of a watermark; a watermark of another space, or a forged one, is refused.
pub(crate) async fn parse(app: &App, space: &SpaceId, text: &str) -> Result<Position, Problem> {
    app.sealer().await?.position(space, text)
}

/// Returns the position of the watermark in a request, if it has one.
pub(crate) async fn given(app: &App, space: &SpaceId, text: Option<&str>) -> Result<Option<Position>, Problem> {
    match text {
        Some(text) => parse(app, space, text).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the position of an old watermark that is not sealed, as it is found in the store.
pub(crate) fn open(text: &str) -> Option<Position> {
    let position = text.get(..16).filter(|_| text.len() == OPEN_LENGTH)?;
    u64::from_str_radix(position, 16).ok().map(Position)
}

impl Sealer {
    /// Returns the watermark of a position.
    pub(crate) fn watermark(&self, space: &SpaceId, position: Position) -> Result<String, Problem> {
        self.seal(&["watermark", space.as_str()], &position.0.to_be_bytes())
    }

    /// Returns the position of a watermark.
    fn position(&self, space: &SpaceId, text: &str) -> Result<Position, Problem> {
        let plain = self.open(&["watermark", space.as_str()], text);
        let position = plain.and_then(|it| it.try_into().ok()).map(u64::from_be_bytes);
        position.map(Position).ok_or_else(|| refused(space, text))
    }
}

fn refused(space: &SpaceId, text: &str) -> Problem {
    let detail = format!("this is not a watermark of the space `{space}`");
    Problem::watermark(if open(text).is_some() {
        format!(
            "{detail} any more: it is of a release whose watermarks were not sealed; leave it out, or send the write again, \
             which is harmless with the same ids or the same Idempotency-Key, for a new one"
        )
    } else {
        format!("{detail}, or it was sealed with a key that this server does not have")
    })
}

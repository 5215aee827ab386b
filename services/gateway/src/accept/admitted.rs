//! The result of a batch as stored under its `Idempotency-Key`. It contains the position and not the watermark, because
//! another key may seal watermarks when the request is repeated.

use domain::id::SpaceId;
use domain::port::Position;
use serde::{Deserialize, Serialize};

use crate::api::{Accepted, Item};
use crate::problem::Problem;
use crate::state::App;
use crate::watermark;

/// A batch whose records are published, now or earlier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Admitted {
    pub(super) position: Position,
    pub(super) items: Vec<Item>,
}

/// The stored form of [`Admitted`]. Entries from before watermarks were sealed contain a watermark.
#[derive(Deserialize)]
struct Stored {
    #[serde(default)]
    position: Option<Position>,
    #[serde(default)]
    watermark: String,
    items: Vec<Item>,
}

impl Admitted {
    /// Parses the stored form.
    pub(super) fn remembered(response: &[u8]) -> Result<Admitted, Problem> {
        let stored: Stored = serde_json::from_slice(response).map_err(|_| Problem::internal())?;
        let position = stored.position.or_else(|| watermark::open(&stored.watermark));
        Ok(Admitted {
            position: position.ok_or_else(Problem::internal)?,
            items: stored.items,
        })
    }

    /// Returns the response to the caller.
    pub(super) async fn response(self, app: &App, space: &SpaceId) -> Result<Accepted, Problem> {
        Ok(Accepted {
            watermark: watermark::print(app, space, self.position).await?,
            items: self.items,
            left_out: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_from_before_watermarks_were_sealed_are_read() {
        let items = r#"[{"index":0,"id":"a","status":"accepted"}]"#;
        let open = format!(r#"{{"watermark":"000000000000000b0123456789abcdef","items":{items}}}"#);
        let admitted = Admitted::remembered(open.as_bytes()).unwrap();
        assert_eq!((admitted.position, admitted.items.len()), (Position(11), 1));
        let stored = serde_json::to_vec(&admitted).unwrap();
        assert_eq!(Admitted::remembered(&stored).unwrap(), admitted);
        for wrong in ["{}", r#"{"items":[]}"#, r#"{"watermark":"7","items":[]}"#] {
            assert!(Admitted::remembered(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}

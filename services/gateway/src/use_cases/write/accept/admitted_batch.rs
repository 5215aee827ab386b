//! The result of a batch as stored under its `Idempotency-Key`. It contains the position and not the watermark, because
//! another key may seal watermarks when the request is repeated.

use domain::id::SpaceId;
use domain::port::Position;
use serde::{Deserialize, Serialize};

use crate::api::problem::Problem;
use crate::api::{Accepted, Item};
use crate::app::state::App;
use crate::app::watermark;

/// A batch whose records are published, now or earlier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Admitted {
    pub(super) position: Position,
    pub(super) items: Vec<Item>,
}

/// The stored form of [`Admitted`]. Entries from before watermarks were sealed contain a watermark.
#[derive(Deserialize)]
struct StoredBatch {
    #[serde(default)]
    position: Option<Position>,
    #[serde(default)]
    watermark: String,
    items: Vec<Item>,
}

impl Admitted {
    /// Parses the stored form.
    pub(super) fn from_stored_response(response: &[u8]) -> Result<Admitted, Problem> {
        let stored: StoredBatch = serde_json::from_slice(response).map_err(|_| Problem::internal_error())?;
        let position = stored.position.or_else(|| watermark::parse_unsealed(&stored.watermark));
        Ok(Admitted {
            position: position.ok_or_else(Problem::internal_error)?,
            items: stored.items,
        })
    }

    /// Returns the response to the caller.
    pub(super) async fn into_accepted(self, app: &App, space: &SpaceId) -> Result<Accepted, Problem> {
        Ok(Accepted {
            watermark: watermark::from_position(app, space, self.position).await?,
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
        let admitted = Admitted::from_stored_response(open.as_bytes()).unwrap();
        assert_eq!((admitted.position, admitted.items.len()), (Position(11), 1));
        let stored = serde_json::to_vec(&admitted).unwrap();
        assert_eq!(Admitted::from_stored_response(&stored).unwrap(), admitted);
        for wrong in ["{}", r#"{"items":[]}"#, r#"{"watermark":"7","items":[]}"#] {
            assert!(Admitted::from_stored_response(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}

//! An event that was noticed in a space, and its forms for callers and receivers.

use chrono::{DateTime, Utc};
use domain::erasure::{ErasureKind, Receipt};
use domain::id::{ErasureId, SpaceId};
use domain::port::Position;
use sha2::{Digest, Sha256};

use super::stream_position::StreamPosition;
use crate::api::problem::Problem;
use crate::api::{Event, EventKind};
use crate::app::hex::to_hex;
use crate::app::seal::Sealer;

/// Number of digest bytes in the id of a message to a webhook.
const ID_BYTES: usize = 16;

/// The kind of an event with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EventData {
    Searchable(Position),
    Organised(Position),
    /// The position is `None` for the erasure of a whole space.
    Erased {
        erasure: ErasureId,
        position: Option<Position>,
    },
}

/// An event that was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpaceEvent {
    pub(super) what: EventData,
    /// Time at which the event was noticed; for an erasure, the time at which it was complete.
    pub(super) at: DateTime<Utc>,
    /// The place of a subscriber that has received this event and all earlier ones.
    pub(super) place: StreamPosition,
}

impl EventData {
    pub(super) fn from_receipt(receipt: &Receipt) -> EventData {
        EventData::Erased {
            erasure: receipt.id,
            position: match receipt.kind {
                ErasureKind::Records => Some(receipt.position),
                ErasureKind::Space => None,
            },
        }
    }

    pub(super) fn kind(&self) -> EventKind {
        match self {
            EventData::Searchable(_) => EventKind::Searchable,
            EventData::Organised(_) => EventKind::Organised,
            EventData::Erased { .. } => EventKind::Erased,
        }
    }
}

impl SpaceEvent {
    /// Returns the event in the form for callers and receivers.
    pub(super) fn to_event(&self, sealer: &Sealer, space: &SpaceId) -> Result<Event, Problem> {
        let (position, erasure) = match self.what {
            EventData::Searchable(position) | EventData::Organised(position) => (Some(position), None),
            EventData::Erased { erasure, position } => (position, Some(erasure)),
        };
        let watermark = position.map(|it| sealer.seal_watermark(space, it)).transpose()?;
        Ok(Event {
            space: space.clone(),
            kind: self.what.kind(),
            watermark,
            at: self.at,
            erasure,
        })
    }

    /// Returns the id of the message to a webhook. Every gateway over one memory gives equal events equal ids; the id
    /// reveals nothing.
    pub(super) fn message_id(&self, sealer: &Sealer, space: &SpaceId) -> Result<String, Problem> {
        let created_at = self.place.created_at.to_rfc3339();
        let plain = match &self.what {
            EventData::Searchable(position) => format!("searchable {created_at} {}", position.0),
            EventData::Organised(position) => format!("organised {created_at} {}", position.0),
            // The id is unique also for a deleted space, because another space of the same name may exist by now.
            EventData::Erased { erasure, .. } => format!("erased {erasure}"),
        };
        let sealed = sealer.seal_value(&["webhook", space.as_str()], plain.as_bytes())?;
        let digest = Sha256::digest(sealed.as_bytes());
        Ok(format!("msg_{}", to_hex(&digest[..ID_BYTES])))
    }
}

//! The ports: interfaces that the services need to the outside world. Each port has two adapters; both pass one
//! conformance suite.
//!
//! All methods are safe to repeat with the same arguments. Every failure is a [`PortError`] whose kind says whether a
//! retry may succeed ([`may_pass`](crate::ErrorKind::may_pass)).

mod bus;
mod embedder;
mod graph;
mod idempotency;
mod index;
mod keys;
mod model;
mod picture;
mod readings;
mod receipts;
mod records;
mod selection;
mod webhooks;

pub use bus::{Bus, DEADLINE, DeadLetter, DeadLetterId, DeadLetters, Delivery, Frame, Inquiry, Position, Settler};
pub use embedder::{Embedder, Embedding};
pub use graph::{Change, DerivedChange, Graph, Image, ImagedChange};
pub use idempotency::{Held, Hold};
pub use index::{Generation, Hit, Index, Place, Point, PointsPage, Search, SearchResult, Sparse};
pub use keys::{Keys, Rotation};
pub use model::{
    Chat, ChatMessage, Completion, LanguageModel, ModelAllowance, ModelCost, ModelRole, ReplyForm, ToolCall,
    ToolChoice, ToolSpec, Usage,
};
pub use picture::{Picture, PictureKind};
pub use readings::Readings;
pub use receipts::Receipts;
pub use records::{Claim, Idempotent, Records, Revision, SpaceInfo, UnfinishedErasure};
pub use selection::{Room, Selection, folded};
pub use webhooks::Webhooks;

use crate::PortError;

/// The result of a port method.
pub type Result<T> = std::result::Result<T, PortError>;

//! The ports: interfaces that the services need to the outside world. Each port has two adapters; both pass one
//! conformance suite.
//!
//! All methods are safe to repeat with the same arguments. Every failure is a [`PortError`] whose kind says whether a
//! retry may succeed ([`is_retryable`](crate::ErrorKind::is_retryable)).

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

use crate::PortError;
pub use crate::model_cost::{ModelCost, Usage};
pub use crate::position::Position;
pub use bus::{Bus, DEADLINE, DeadLetter, DeadLetterId, DeadLetters, Delivery, Frame, Inquiry, Settler};
pub use embedder::{Embedder, Embedding};
pub use graph::{
    BlockFileId, BlockGap, Change, DerivedChange, Graph, UnitBlock, UnitDigest, UnitFeed, WrittenBlockFile,
};
pub use idempotency::{Hold, KeyClaim};
pub use index::{Generation, Hit, Index, Point, PointsCursor, PointsPage, Search, SearchResult, Sparse};
pub use keys::{Keys, Rotation};
pub use model::{
    Chat, ChatMessage, Completion, LanguageModel, ModelAllowance, ModelRole, ReplyForm, RequestedToolCall, ToolChoice,
    ToolSpec,
};
pub use picture::{Picture, PictureKind};
pub use readings::Readings;
pub use receipts::Receipts;
pub use records::{Claim, Idempotent, Records, Revision, SpaceInfo, UnfinishedErasure};
pub use selection::{Room, Selection, case_folded_actor};
pub use webhooks::Webhooks;

/// The result of a port method.
pub type Result<T> = std::result::Result<T, PortError>;

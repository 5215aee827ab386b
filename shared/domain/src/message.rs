//! Versioned messages. Schema evolution: a published version is frozen byte for byte; a change needs a new type, file
//! and subject.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::id::SpaceId;

mod answer_v1;
mod plan_v1;
mod rank_v1;
mod recall_v1;
mod records_accepted_v1;
mod route_v1;
mod tool_v1;
mod turn_v1;
mod units_organised_v1;
mod units_written_v1;

pub use answer_v1::{AnswerV1, AnsweredV1};
pub use plan_v1::{PlanV1, PlannedV1};
pub use rank_v1::{RankV1, RankedV1};
pub use recall_v1::{RecallV1, RecalledV1};
pub use records_accepted_v1::RecordsAcceptedV1;
pub use route_v1::{QueryFilter, RouteV1, RoutedV1};
pub use tool_v1::{ToolErrorV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1};
pub use turn_v1::{ExplorationStrategy, LookV1, LookupV1, TurnV1, TurnedV1};
pub use units_organised_v1::UnitsOrganisedV1;
pub use units_written_v1::UnitsWrittenV1;

/// A message that is delivered at least once, until a consumer settles it.
pub trait Message: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name and version; the full subject is `mnemic.{SUBJECT}.{space}`.
    const SUBJECT: &'static str;

    /// Returns the space of the message.
    fn space(&self) -> &SpaceId;

    /// Returns a key that is equal for equal messages, so that a bus stores a repeated publish only once.
    fn dedup_key(&self) -> String;
}

/// A request whose caller waits for the reply. It is not stored: it is answered within the deadline or not at all.
pub trait Request: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name and version; the full subject is `mnemic.{SUBJECT}`.
    const SUBJECT: &'static str;
    /// The type of the reply.
    type Reply: Serialize + DeserializeOwned + Send + Sync + 'static;
}

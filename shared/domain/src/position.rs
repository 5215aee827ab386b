//! A place in a durable stream.
use serde::{Deserialize, Serialize};

/// A position in a durable stream. Later messages of the same subject have greater positions. Never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = u64))]
#[serde(transparent)]
pub struct Position(pub u64);

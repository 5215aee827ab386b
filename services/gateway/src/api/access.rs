use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::config::Right;

/// What a key opens and may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KeyAccess {
    /// Name of the key; empty on a server without keys.
    pub name: String,
    /// Spaces it opens: `*`, names, or prefixes that end in `*`.
    pub spaces: Vec<String>,
    /// What it may do there.
    pub rights: Vec<Right>,
}

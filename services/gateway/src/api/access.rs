use domain::key::Right;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Spaces that a key opens and rights that it has there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KeyAccess {
    /// Name of the key; empty on a server without keys.
    pub name: String,
    /// Spaces that the key opens: `*`, names, or prefixes that end in `*`.
    pub spaces: Vec<String>,
    /// Rights of the key in these spaces.
    pub rights: Vec<Right>,
}

//! Rules that all stores share: the form of names, notes, receipts, API keys and points, and the creation times of
//! spaces.

pub(crate) mod api_keys;
pub(crate) mod creation_times;
pub(crate) mod index_points;
pub(crate) mod notes;
pub(crate) mod receipts;
pub(crate) mod space_names;

//! Rules that all stores share: the form of names, notes, receipts, API keys and points, the creation times of spaces,
//! bounds on times in the future, and the number of deliveries of a space.

pub(crate) mod api_keys;
pub(crate) mod creation_times;
pub(crate) mod index_points;
pub(crate) mod notes;
pub(crate) mod receipts;
pub(crate) mod space_deliveries;
pub(crate) mod space_names;
pub(crate) mod times_ahead;

//! Rules that all stores share: the form of names, notes, receipts and API keys.

pub(crate) mod api_keys;
pub(crate) mod notes;
pub(crate) mod receipts;
pub(crate) mod space_names;

//! Deliveries of messages to the members of a group.

pub(super) mod delivery_settler;
pub(super) mod feed;
pub(super) mod lane;
pub(super) mod member;

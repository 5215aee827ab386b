//! Profiles of users.

pub(super) mod profile;
pub(super) mod profile_jobs;

//! Commands that work on this machine: the server, its settings, its files and its servers.

pub(crate) mod backup;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
mod drift;
#[cfg(test)]
mod generated_documents;
pub(crate) mod provision;
pub(crate) mod serve;
pub(crate) mod settings;

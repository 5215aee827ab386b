//! Calls the language model next to the follower: it asks the open questions and stores each reply as a reading.

mod ask_model;
mod coreference_call;
pub(crate) mod coreference_worker;
mod label_call;
mod people_call;
mod spaces_to_count;
mod summary_call;

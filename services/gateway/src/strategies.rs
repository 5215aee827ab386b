//! Strategies of questions and recall: the loop in which a language model explores the memory, its budget, and the
//! report of its steps.

pub(crate) mod agent;
pub(crate) mod model_budget;
pub(crate) mod request_report;

//! `mnemic-train` fits the router's heads to conversations with questions, and reports the quality of the fit.
//!
//! Nothing here runs when Mnemic serves: only the weights file is shipped. Read the modules in this order:
//!
//! - [`world`] writes conversations with the writer's rules and takes candidates and features from the router's own
//!   code.
//! - [`mod@encode`] adds the hits of a sentence encoder.
//! - [`fit`] is the objective, and [`heads`] fits one head after the other.
//! - [`measure`] scores weights, and [`interval`] gives the range of a score that chance explains.
//! - [`validate`] leaves out settings, features and heads; [`poured`] leaves out channels.
//! - [`refusal`], [`certainty`] and [`answers`] fit the weights of the reader.
//! - [`teach`] lets a language model label data to train on, and [`weak`] makes questions from state changes.

pub mod answers;
pub mod certainty;
pub mod cli;
pub mod data_digest;
pub mod encode;
pub mod fit;
pub mod heads;
pub mod interval;
pub mod logistic;
pub mod measure;
pub mod poured;
pub mod refusal;
pub mod teach;
pub mod validate;
pub mod weak;
pub mod world;

//! `mnemic-train` fits the router's heads to conversations with questions, and says what the fit is worth.
//!
//! Reading order: [`world`] writes conversations with the writer's rules and takes candidates and features from the
//! router's own code, [`mod@encode`] adds what a sentence encoder finds, [`fit`] is the objective, [`heads`] fits one head
//! after the other, [`measure`] scores weights, [`interval`] says how far that is chance, [`validate`] leaves settings,
//! features and heads out, [`poured`] channels, [`refusal`] and [`answers`] fit what the reader weighs, [`teach`] has a language model label data to
//! train on. Nothing here runs when
//! Mnemic serves: what ships is the weights file.

pub mod answers;
pub mod certainty;
pub mod cli;
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

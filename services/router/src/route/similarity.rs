//! Similarity of turns to a question, by word pieces and by a sentence encoder.

pub mod encoder_similarity;
pub(crate) mod neighbouring_pieces;
pub(crate) mod piece_similarity;

//! Similarity of meaning: the word table, vectors, nouns, everyday topics, and patterns of what a text contains.

pub(crate) mod caption;
pub(crate) mod embedding_table;
pub mod frames;
pub(crate) mod nouns;
pub mod patterns;
pub mod sparse_vectors;
pub(crate) mod vectors;

//! The index on Qdrant.

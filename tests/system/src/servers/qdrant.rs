//! A server that speaks the protocol of Qdrant.

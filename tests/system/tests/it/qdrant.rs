//! The index on Qdrant, against the conformance suites.

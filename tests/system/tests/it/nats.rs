//! The bus on NATS JetStream, against the conformance suites.

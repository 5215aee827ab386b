//! The bus on NATS JetStream.

//! A NATS server with JetStream.

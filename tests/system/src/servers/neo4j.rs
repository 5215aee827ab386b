//! A Neo4j server.

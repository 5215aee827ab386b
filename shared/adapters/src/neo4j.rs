//! Records and graph on Neo4j.

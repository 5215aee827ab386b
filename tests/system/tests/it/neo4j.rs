//! Records and graph on Neo4j, against the conformance suites.

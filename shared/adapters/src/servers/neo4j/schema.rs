//! The list of all constraints and indexes on the server, and how they are created and verified.
//!
//! Labels: `Space`, `Erasure` (a deletion that some store may not have finished), `Secret` (of no space), `Receipt` (of
//! an erasure, which outlives its space), `Key` and `Webhook` (of the API, of no space), and the labels that a space
//! owns: see [`OWNED`]. Every node has a unique `key`. The sequence numbers and places of listed nodes are unique too,
//! so that no defect can put two nodes in one place. Community Edition has no constraints on presence and type; the
//! code that writes is responsible for those.

pub(super) mod session_and_actor;

use neo4rs::{Query, Row};

use super::client::Client;
use super::node_keys::key_range_of_namespace;
use super::{Options, SetupError};
use crate::servers::neo4j::error::Drift;

/// Labels of the nodes that belong to a space.
pub(super) const OWNED: [&str; 10] = [
    "Claim",
    "Remembered",
    "Written",
    "Record",
    "Unit",
    "Derived",
    "Curation",
    "Note",
    "Reading",
    "Wanted",
];

/// Prefix of the names of all our constraints and indexes.
const OURS: &str = "mnemic_";

/// A constraint or an index.
#[derive(Clone, Copy)]
struct Rule {
    name: &'static str,
    label: &'static str,
    properties: &'static [&'static str],
    unique: bool,
}

const fn unique_rule(name: &'static str, label: &'static str, properties: &'static [&'static str]) -> Rule {
    Rule {
        name,
        label,
        properties,
        unique: true,
    }
}

const fn index_rule(name: &'static str, label: &'static str, properties: &'static [&'static str]) -> Rule {
    Rule {
        name,
        label,
        properties,
        unique: false,
    }
}

const RULES: [Rule; 29] = [
    unique_rule("mnemic_space", "Space", &["key"]),
    unique_rule("mnemic_erasure", "Erasure", &["key"]),
    unique_rule("mnemic_claim", "Claim", &["key"]),
    unique_rule("mnemic_remembered", "Remembered", &["key"]),
    unique_rule("mnemic_written", "Written", &["key"]),
    unique_rule("mnemic_record", "Record", &["key"]),
    unique_rule("mnemic_unit", "Unit", &["key"]),
    unique_rule("mnemic_derived", "Derived", &["key"]),
    unique_rule("mnemic_curation", "Curation", &["key"]),
    unique_rule("mnemic_note", "Note", &["key"]),
    unique_rule("mnemic_reading", "Reading", &["key"]),
    unique_rule("mnemic_wanted", "Wanted", &["key"]),
    unique_rule("mnemic_secret", "Secret", &["key"]),
    unique_rule("mnemic_receipt", "Receipt", &["key"]),
    unique_rule("mnemic_key", "Key", &["key"]),
    unique_rule("mnemic_key_digest", "Key", &["digest"]),
    unique_rule("mnemic_key_former", "Key", &["former"]),
    unique_rule("mnemic_webhook", "Webhook", &["key"]),
    unique_rule("mnemic_record_place", "Record", &["place"]),
    unique_rule("mnemic_record_sequence", "Record", &["space", "sequence"]),
    unique_rule("mnemic_unit_sequence", "Unit", &["space", "sequence"]),
    unique_rule("mnemic_derived_sequence", "Derived", &["space", "sequence"]),
    index_rule("mnemic_reading_session", "Reading", &["space", "session"]),
    index_rule("mnemic_reading_at", "Reading", &["space", "at"]),
    index_rule("mnemic_wanted_due", "Wanted", &["due"]),
    index_rule("mnemic_remembered_at", "Remembered", &["space", "at"]),
    index_rule("mnemic_record_actor", "Record", &["space", "actor", "sequence"]),
    index_rule("mnemic_unit_session", "Unit", &["space", "session", "sequence"]),
    index_rule("mnemic_unit_actor", "Unit", &["space", "actor", "sequence"]),
];

/// Labels of an earlier version: the statements that delete their nodes and their constraints.
const FORMER: [(&str, &str); 2] = [
    (
        "MATCH (n:Fact) WHERE n.key > $from AND n.key < $until WITH n LIMIT 1000 DETACH DELETE n RETURN count(*) AS gone",
        "DROP CONSTRAINT mnemic_fact IF EXISTS",
    ),
    (
        "MATCH (n:Entity) WHERE n.key > $from AND n.key < $until WITH n LIMIT 1000 DETACH DELETE n RETURN count(*) AS gone",
        "DROP CONSTRAINT mnemic_entity IF EXISTS",
    ),
];

const CONSTRAINTS: &str = "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties
    RETURN name, type, labelsOrTypes AS labels, properties, 'ONLINE' AS state";
/// The state of a constraint is shown by its index; the constraint itself has none.
const INDEXES: &str = "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state
    RETURN name, type, labelsOrTypes AS labels, properties, state";

/// A constraint or an index on the server.
struct FoundRule {
    name: String,
    shape: String,
    state: String,
}

impl Rule {
    fn expected_shape(&self) -> String {
        describe_shape(self.unique, &[self.label.to_owned()], &self.properties.join(", "))
    }

    fn create_statement(&self) -> String {
        let Rule { name, label, .. } = self;
        let properties: Vec<String> = self.properties.iter().map(|it| format!("n.{it}")).collect();
        let properties = properties.join(", ");
        match self.unique {
            true => format!("CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label}) REQUIRE ({properties}) IS UNIQUE"),
            false => format!("CREATE INDEX {name} IF NOT EXISTS FOR (n:{label}) ON ({properties})"),
        }
    }
}

/// Creates missing constraints and indexes, deletes nodes of earlier versions that this version derives again, adds
/// missing properties, and returns the remaining differences, by name. Idempotent.
///
/// # Errors
///
/// See [`SetupError`].
pub async fn provision_schema(options: &Options) -> Result<Vec<Drift>, SetupError> {
    let client = Client::new(options)?;
    client.check_connection().await?;
    for rule in RULES {
        client.run_schema_statement(&rule.create_statement()).await?;
    }
    client.run_schema_statement("CALL db.awaitIndexes(300)").await?;
    for (clear, drop) in FORMER {
        clear_all(&client, clear).await?;
        client.run_schema_statement(drop).await?;
    }
    session_and_actor::set_session_and_actor(&client).await?;
    let drifts = find_drifts(&client).await?;
    tracing::info!(
        rules = RULES.len(),
        drifts = drifts.len(),
        "schema of neo4j provisioned"
    );
    Ok(drifts)
}

/// Deletes the nodes of the namespace that a statement matches, in chunks.
async fn clear_all(client: &Client, statement: &'static str) -> Result<(), SetupError> {
    let (from, until) = key_range_of_namespace(&client.namespace);
    let query = Query::new(statement.to_owned())
        .param("from", from)
        .param("until", until);
    loop {
        let rows = client.run_setup_statement(statement, query.clone()).await?;
        let deleted_count: Option<i64> = rows.first().and_then(|it| it.get("gone").ok());
        if deleted_count.is_none_or(|it| it == 0) {
            return Ok(());
        }
    }
}

/// Returns an error if a constraint or index is missing, different or not online. Unknown ones are ignored.
pub(super) async fn verify_schema(client: &Client) -> Result<(), SetupError> {
    client.check_connection().await?;
    let mut drifts = find_drifts(client).await?;
    drifts.retain(|it| !matches!(it, Drift::Unknown { .. }));
    if drifts.is_empty() {
        return Ok(());
    }
    Err(SetupError::NotProvisioned {
        url: client.url.clone(),
        drifts,
    })
}

async fn find_drifts(client: &Client) -> Result<Vec<Drift>, SetupError> {
    let constraints = read_rules(client, CONSTRAINTS).await?;
    let indexes = read_rules(client, INDEXES).await?;
    Ok(compare_rules(&constraints, &indexes))
}

fn compare_rules(constraints: &[FoundRule], indexes: &[FoundRule]) -> Vec<Drift> {
    let mut drifts: Vec<Drift> = RULES
        .iter()
        .filter_map(|it| drift_of_rule(it, constraints, indexes))
        .collect();
    let unknown = constraints.iter().chain(indexes);
    let unknown = unknown.filter(|it| it.name.starts_with(OURS) && RULES.iter().all(|rule| rule.name != it.name));
    drifts.extend(unknown.map(|it| Drift::Unknown { name: it.name.clone() }));
    drifts.sort_by_key(Drift::to_string);
    drifts.dedup();
    drifts
}

fn drift_of_rule(rule: &Rule, constraints: &[FoundRule], indexes: &[FoundRule]) -> Option<Drift> {
    let name = rule.name.to_owned();
    let existing = if rule.unique { constraints } else { indexes };
    let Some(it) = existing.iter().find(|it| it.name == rule.name) else {
        return Some(Drift::Missing { name });
    };
    let expected = rule.expected_shape();
    if it.shape != expected {
        return Some(Drift::Different {
            name,
            expected,
            found: it.shape.clone(),
        });
    }
    let state = indexes
        .iter()
        .find(|it| it.name == rule.name)
        .map(|it| it.state.clone());
    let state = state.unwrap_or_else(|| "without an index".to_owned());
    (state != "ONLINE").then_some(Drift::NotOnline { name, state })
}

async fn read_rules(client: &Client, statement: &str) -> Result<Vec<FoundRule>, SetupError> {
    let rows = client.run_schema_statement(statement).await?;
    let read = |row: &Row| -> Result<FoundRule, neo4rs::DeError> {
        let kind: String = row.get("type")?;
        let labels: Option<Vec<String>> = row.get("labels")?;
        let properties: Option<Vec<String>> = row.get("properties")?;
        Ok(FoundRule {
            name: row.get("name")?,
            shape: describe_shape(
                kind.contains("UNIQUENESS"),
                &labels.unwrap_or_default(),
                &properties.unwrap_or_default().join(", "),
            ),
            state: row.get("state")?,
        })
    };
    let refused = |error: neo4rs::DeError| SetupError::Refused {
        url: client.url.clone(),
        statement: statement.to_owned(),
        source: error.into(),
    };
    rows.iter().map(read).collect::<Result<_, _>>().map_err(refused)
}

fn describe_shape(unique: bool, labels: &[String], properties: &str) -> String {
    let what = if unique { "unique" } else { "an index" };
    format!("{what} on {} ({properties})", labels.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_rule(name: &str, shape: String, state: &str) -> FoundRule {
        FoundRule {
            name: name.to_owned(),
            shape,
            state: state.to_owned(),
        }
    }

    fn all_rules() -> Vec<FoundRule> {
        RULES
            .iter()
            .map(|it| found_rule(it.name, it.expected_shape(), "ONLINE"))
            .collect()
    }

    #[test]
    fn differences_from_the_schema_are_reported() {
        assert!(compare_rules(&all_rules(), &all_rules()).is_empty());
        let reported_differences = |constraints: Vec<FoundRule>, indexes: Vec<FoundRule>| -> Vec<String> {
            compare_rules(&constraints, &indexes)
                .iter()
                .map(Drift::to_string)
                .collect()
        };
        let mut fewer = all_rules();
        fewer.remove(0);
        assert_eq!(reported_differences(fewer, all_rules()), ["mnemic_space is missing"]);
        let mut other = all_rules();
        other[2].shape = describe_shape(true, &["Claim".to_owned()], "id");
        assert_eq!(
            reported_differences(other, all_rules()),
            ["mnemic_claim is unique on Claim (id) instead of unique on Claim (key)"]
        );
        let mut offline = all_rules();
        offline[0].state = "FAILED".to_owned();
        assert_eq!(reported_differences(all_rules(), offline), ["mnemic_space is FAILED"]);
        let mut more = all_rules();
        more.push(found_rule("mnemic_old", String::new(), "ONLINE"));
        more.push(found_rule("of_somebody_else", String::new(), "ONLINE"));
        assert_eq!(reported_differences(more, all_rules()), ["mnemic_old is not known"]);
    }

    #[test]
    fn every_label_has_a_unique_key() {
        for label in OWNED.iter().chain(&["Space", "Erasure", "Receipt", "Key"]) {
            assert!(
                RULES
                    .iter()
                    .any(|it| it.unique && it.label == *label && it.properties == ["key"]),
                "{label}"
            );
        }
    }
}

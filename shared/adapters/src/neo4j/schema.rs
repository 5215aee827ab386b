//! The list of all constraints and indexes on the server, and how they are created and verified.
//!
//! Labels: `Space`, `Erasure` (a deletion that some store may not have finished), `Secret` (of no space), `Receipt` (of
//! an erasure, which outlives its space), `Key` and `Webhook` (of the API, of no space), and the labels that a space
//! owns: see [`OWNED`]. Every node has a unique `key`. The sequence numbers and places of listed nodes are unique too,
//! so that no defect can put two nodes in one place. Community Edition has no constraints on presence and type; the
//! code that writes is responsible for those.

use std::fmt;

use neo4rs::{Query, Row};

use super::client::Client;
use super::keys::spaces;
use super::{Options, SetupError, whose};

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

const fn unique(name: &'static str, label: &'static str, properties: &'static [&'static str]) -> Rule {
    Rule {
        name,
        label,
        properties,
        unique: true,
    }
}

const fn index(name: &'static str, label: &'static str, properties: &'static [&'static str]) -> Rule {
    Rule {
        name,
        label,
        properties,
        unique: false,
    }
}

const RULES: [Rule; 29] = [
    unique("mnemic_space", "Space", &["key"]),
    unique("mnemic_erasure", "Erasure", &["key"]),
    unique("mnemic_claim", "Claim", &["key"]),
    unique("mnemic_remembered", "Remembered", &["key"]),
    unique("mnemic_written", "Written", &["key"]),
    unique("mnemic_record", "Record", &["key"]),
    unique("mnemic_unit", "Unit", &["key"]),
    unique("mnemic_derived", "Derived", &["key"]),
    unique("mnemic_curation", "Curation", &["key"]),
    unique("mnemic_note", "Note", &["key"]),
    unique("mnemic_reading", "Reading", &["key"]),
    unique("mnemic_wanted", "Wanted", &["key"]),
    unique("mnemic_secret", "Secret", &["key"]),
    unique("mnemic_receipt", "Receipt", &["key"]),
    unique("mnemic_key", "Key", &["key"]),
    unique("mnemic_key_digest", "Key", &["digest"]),
    unique("mnemic_key_former", "Key", &["former"]),
    unique("mnemic_webhook", "Webhook", &["key"]),
    unique("mnemic_record_place", "Record", &["place"]),
    unique("mnemic_record_sequence", "Record", &["space", "sequence"]),
    unique("mnemic_unit_sequence", "Unit", &["space", "sequence"]),
    unique("mnemic_derived_sequence", "Derived", &["space", "sequence"]),
    index("mnemic_reading_session", "Reading", &["space", "session"]),
    index("mnemic_reading_at", "Reading", &["space", "at"]),
    index("mnemic_wanted_due", "Wanted", &["due"]),
    index("mnemic_remembered_at", "Remembered", &["space", "at"]),
    index("mnemic_record_actor", "Record", &["space", "actor", "sequence"]),
    index("mnemic_unit_session", "Unit", &["space", "session", "sequence"]),
    index("mnemic_unit_actor", "Unit", &["space", "actor", "sequence"]),
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

/// A difference between the schema of the server and that of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// It does not exist.
    Missing {
        /// Its name.
        name: String,
    },
    /// Another object has its name.
    Different {
        /// The name.
        name: String,
        /// The object that this program needs.
        expected: String,
        /// The object on the server.
        found: String,
    },
    /// It cannot be used (yet).
    NotOnline {
        /// Its name.
        name: String,
        /// Its state on the server.
        state: String,
    },
    /// Its name has our prefix, but this program does not know it: an older or newer version created it.
    Unknown {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drift::Missing { name } => write!(f, "{name} is missing"),
            Drift::Different { name, expected, found } => write!(f, "{name} is {found} instead of {expected}"),
            Drift::NotOnline { name, state } => write!(f, "{name} is {state}"),
            Drift::Unknown { name } => write!(f, "{name} is not known"),
        }
    }
}

/// A constraint or an index on the server.
struct Found {
    name: String,
    shape: String,
    state: String,
}

impl Rule {
    fn shape(&self) -> String {
        shape(self.unique, &[self.label.to_owned()], &self.properties.join(", "))
    }

    fn statement(&self) -> String {
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
pub async fn provision(options: &Options) -> Result<Vec<Drift>, SetupError> {
    let client = Client::new(options)?;
    client.probe().await?;
    for rule in RULES {
        client.schema(&rule.statement()).await?;
    }
    client.schema("CALL db.awaitIndexes(300)").await?;
    for (clear, drop) in FORMER {
        clear_all(&client, clear).await?;
        client.schema(drop).await?;
    }
    whose::complete(&client).await?;
    let drifts = drifts(&client).await?;
    tracing::info!(
        rules = RULES.len(),
        drifts = drifts.len(),
        "schema of neo4j provisioned"
    );
    Ok(drifts)
}

/// Deletes the nodes of the namespace that a statement matches, in chunks.
async fn clear_all(client: &Client, statement: &'static str) -> Result<(), SetupError> {
    let (from, until) = spaces(&client.namespace);
    let query = Query::new(statement.to_owned())
        .param("from", from)
        .param("until", until);
    loop {
        let rows = client.setup(statement, query.clone()).await?;
        let gone: Option<i64> = rows.first().and_then(|it| it.get("gone").ok());
        if gone.is_none_or(|it| it == 0) {
            return Ok(());
        }
    }
}

/// Returns an error if a constraint or index is missing, different or not online. Unknown ones are ignored.
pub(super) async fn verify(client: &Client) -> Result<(), SetupError> {
    client.probe().await?;
    let mut drifts = drifts(client).await?;
    drifts.retain(|it| !matches!(it, Drift::Unknown { .. }));
    if drifts.is_empty() {
        return Ok(());
    }
    Err(SetupError::NotProvisioned {
        url: client.url.clone(),
        drifts,
    })
}

async fn drifts(client: &Client) -> Result<Vec<Drift>, SetupError> {
    let constraints = found(client, CONSTRAINTS).await?;
    let indexes = found(client, INDEXES).await?;
    Ok(differences(&constraints, &indexes))
}

fn differences(constraints: &[Found], indexes: &[Found]) -> Vec<Drift> {
    let mut drifts: Vec<Drift> = RULES.iter().filter_map(|it| drift(it, constraints, indexes)).collect();
    let unknown = constraints.iter().chain(indexes);
    let unknown = unknown.filter(|it| it.name.starts_with(OURS) && RULES.iter().all(|rule| rule.name != it.name));
    drifts.extend(unknown.map(|it| Drift::Unknown { name: it.name.clone() }));
    drifts.sort_by_key(Drift::to_string);
    drifts.dedup();
    drifts
}

fn drift(rule: &Rule, constraints: &[Found], indexes: &[Found]) -> Option<Drift> {
    let name = rule.name.to_owned();
    let kept = if rule.unique { constraints } else { indexes };
    let Some(it) = kept.iter().find(|it| it.name == rule.name) else {
        return Some(Drift::Missing { name });
    };
    let expected = rule.shape();
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

async fn found(client: &Client, statement: &str) -> Result<Vec<Found>, SetupError> {
    let rows = client.schema(statement).await?;
    let read = |row: &Row| -> Result<Found, neo4rs::DeError> {
        let kind: String = row.get("type")?;
        let labels: Option<Vec<String>> = row.get("labels")?;
        let properties: Option<Vec<String>> = row.get("properties")?;
        Ok(Found {
            name: row.get("name")?,
            shape: shape(
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

fn shape(unique: bool, labels: &[String], properties: &str) -> String {
    let what = if unique { "unique" } else { "an index" };
    format!("{what} on {} ({properties})", labels.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, shape: String, state: &str) -> Found {
        Found {
            name: name.to_owned(),
            shape,
            state: state.to_owned(),
        }
    }

    fn all() -> Vec<Found> {
        RULES.iter().map(|it| found(it.name, it.shape(), "ONLINE")).collect()
    }

    #[test]
    fn differences_from_the_schema_are_reported() {
        assert!(differences(&all(), &all()).is_empty());
        let told = |constraints: Vec<Found>, indexes: Vec<Found>| -> Vec<String> {
            differences(&constraints, &indexes)
                .iter()
                .map(Drift::to_string)
                .collect()
        };
        let mut fewer = all();
        fewer.remove(0);
        assert_eq!(told(fewer, all()), ["mnemic_space is missing"]);
        let mut other = all();
        other[2].shape = shape(true, &["Claim".to_owned()], "id");
        assert_eq!(
            told(other, all()),
            ["mnemic_claim is unique on Claim (id) instead of unique on Claim (key)"]
        );
        let mut offline = all();
        offline[0].state = "FAILED".to_owned();
        assert_eq!(told(all(), offline), ["mnemic_space is FAILED"]);
        let mut more = all();
        more.push(found("mnemic_old", String::new(), "ONLINE"));
        more.push(found("of_somebody_else", String::new(), "ONLINE"));
        assert_eq!(told(more, all()), ["mnemic_old is not known"]);
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

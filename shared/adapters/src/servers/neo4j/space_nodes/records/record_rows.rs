//! Records as rows of a parameter.

use std::collections::HashSet;

use domain::id::SpaceId;
use domain::port::{Result, case_folded_actor};
use domain::record::Record;
use domain::{ErrorKind, PortError};
use neo4rs::BoltType;

use crate::servers::neo4j::client::{parameter_row, to_bolt_integer, to_json};
use crate::servers::neo4j::node_keys::{Keys, id_to_hex};

/// Returns the rows of records with their sizes in bytes; of several records with one id the first counts.
///
/// # Errors
///
/// `Invalid` if a record belongs to another space.
pub(super) fn record_rows(
    operation: &'static str,
    keys: &Keys,
    space: &SpaceId,
    records: &[Record],
) -> Result<Vec<(BoltType, usize)>> {
    let mut lines = Vec::with_capacity(records.len());
    let mut met = HashSet::with_capacity(records.len());
    for record in records {
        if record.space != *space {
            let detail = format!("record {} belongs to space {}", record.id, record.space);
            return Err(PortError::new(operation, ErrorKind::Invalid, detail));
        }
        if !met.insert(record.id) {
            continue;
        }
        let (place, actor, body) = (
            keys.record_place(record),
            case_folded_actor(&record.actor),
            to_json(operation, record)?,
        );
        let bytes = place.len() + actor.len() + body.len() + 80;
        let line = parameter_row([
            ("id", id_to_hex(record.id.uuid()).into()),
            ("number", to_bolt_integer(lines.len() + 1)),
            ("place", place.into()),
            ("actor", actor.into()),
            ("body", body.into()),
        ]);
        lines.push((line, bytes));
    }
    Ok(lines)
}

pub(super) mod row_values;

use std::collections::HashMap;
use std::time::Duration;

use domain::id::SpaceId;
use domain::{ErrorKind, PortError};
use futures::{StreamExt, TryStreamExt};
use neo4rs::{BoltType, Error, Graph, Query, Row};
use serde::de::DeserializeOwned;
use tracing::Instrument;

use super::error::{damaged_error, is_retryable, of_port, timeout_error};
use super::node_keys::Keys;
use super::{Options, SetupError};

/// Shortest and longest pause before a statement is retried.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));

/// Size of the rows that leaves room for the rest of a statement within 8 KiB. A longer request waits some 40 ms for an
/// acknowledgement, because the driver sends it in several writes and leaves Nagle's algorithm on.
const PIECE_BYTES: usize = 7_000;
/// Maximum number of pieces that are faster in total than one longer statement with its wait.
const PIECES_MAX: usize = 6;
/// Maximum size of the rows of a longer statement, unless a single row is larger.
const BATCH_BYTES: usize = 1 << 20;
/// Number of ids per reading statement, which fit into one piece, and number of concurrent statements.
const IDS: usize = 160;
const AT_ONCE: usize = 4;

/// Starts a statement that reads from a space; it finds nothing if the space does not exist.
macro_rules! seen {
    ($rest:expr) => {
        concat!("MATCH (s:Space {key: $space}) WHERE s.erasing IS NULL\n", $rest)
    };
}

/// Starts a statement that writes to a space, and blocks every other write to it. It finds nothing if the space does
/// not exist.
///
/// The value written to `lock` does not matter, because the write itself takes the lock. Values that may have changed
/// are read after that.
macro_rules! locked {
    ($rest:expr) => {
        concat!(
            "MATCH (s:Space {key: $space}) SET s.lock = true WITH s WHERE s.erasing IS NULL\n",
            $rest
        )
    };
}

/// Deletes the readings `x` of the space `s`, and ends a subquery. The cost of those that were made on the latest day is
/// kept for the budget of that day. An earlier day is forgotten, and so is a later one than `$today`, which was set while
/// a clock was ahead.
macro_rules! readings_removed {
    () => {
        "WITH DISTINCT s, x, x.at / 86400000 AS day
         WITH s, collect(x) AS gone, max(CASE WHEN day <= $today THEN day END) AS last
         WITH s, gone, last, CASE WHEN s.removed_day <= $today THEN s.removed_day END AS kept
         WITH s, gone, kept, CASE WHEN kept IS NULL OR last > kept THEN last ELSE kept END AS day
         WITH s, gone, day, CASE WHEN kept = day THEN 1 ELSE 0 END AS same
         WITH s, gone, day, same, [it IN gone WHERE it.at / 86400000 = day] AS counted
         SET s.removed_calls = same * coalesce(s.removed_calls, 0) + reduce(n = 0, it IN counted | n + it.calls),
           s.removed_prompt_tokens = same * coalesce(s.removed_prompt_tokens, 0)
             + reduce(n = 0, it IN counted | n + it.prompt_tokens),
           s.removed_completion_tokens = same * coalesce(s.removed_completion_tokens, 0)
             + reduce(n = 0, it IN counted | n + it.completion_tokens),
           s.removed_ms = same * coalesce(s.removed_ms, 0.0) + reduce(n = 0.0, it IN counted | n + it.ms),
           s.removed_day = day
         FOREACH (it IN gone | DETACH DELETE it)"
    };
}

/// Starts a statement that reads a space's feed after `$after`, if the counter of the feed is greater.
///
/// A commit becomes visible step by step and in any order, so a reader that continues after the last number it saw
/// would miss earlier numbers that become visible later. The lock waits for running writes. Setting a property to the
/// value it already has stores nothing.
macro_rules! following {
    ($counter:literal, $rest:expr) => {
        concat!(
            "MATCH (s:Space {key: $space}) WHERE s.erasing IS NULL AND coalesce(s.",
            $counter,
            ", 0) > $after SET s.lock = true WITH s WHERE s.erasing IS NULL\n",
            $rest
        )
    };
}

pub(super) use {following, locked, readings_removed, seen};

/// Sends statements to the server.
pub(super) struct Client {
    graph: Graph,
    /// First part of every key.
    pub(super) namespace: String,
    /// Address of the server.
    pub(super) url: String,
    /// Name of the user.
    pub(super) user: String,
    connect_time: Duration,
    call_time: Duration,
}

impl Client {
    /// Makes the pool; the first statement connects.
    pub(super) fn new(options: &Options) -> Result<Client, SetupError> {
        let refused = |error: Error| SetupError::Options {
            detail: "the driver refuses `url` or the TLS files".to_owned(),
            source: Some(error.into()),
        };
        Ok(Client {
            graph: Graph::connect(options.driver_config()?).map_err(refused)?,
            namespace: options.namespace.clone(),
            url: options.url.clone(),
            user: options.user.clone(),
            connect_time: options.connect_time(),
            call_time: options.call_time(),
        })
    }

    /// Returns the keys of a space.
    pub(super) fn keys_of_space(&self, space: &SpaceId) -> Keys {
        Keys::new(&self.namespace, space)
    }

    /// Runs a read-only statement and returns its rows.
    pub(super) async fn run_read(&self, operation: &'static str, query: Query) -> Result<Vec<Row>, PortError> {
        self.run_within_timeout(operation, query, true).await
    }

    /// Runs a read-only statement for all `ids`, in chunks, and returns its rows in no particular order.
    pub(super) async fn read_by_id(
        &self,
        operation: &'static str,
        ids: Vec<String>,
        query: Query,
    ) -> Result<Vec<Row>, PortError> {
        let mut parts = Vec::with_capacity(ids.len().div_ceil(IDS));
        for chunk in ids.chunks(IDS) {
            parts.push(self.run_read(operation, query.clone().param("ids", chunk)));
        }
        let parts = futures::stream::iter(parts).buffered(AT_ONCE);
        parts.try_concat().await
    }

    /// Runs a statement and returns its rows after they are committed.
    pub(super) async fn run_write(&self, operation: &'static str, query: Query) -> Result<Vec<Row>, PortError> {
        self.run_within_timeout(operation, query, false).await
    }

    /// Runs a statement that writes to a space, and returns its only row.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no row, because the space is unknown.
    pub(super) async fn write_known(
        &self,
        operation: &'static str,
        space: &SpaceId,
        query: Query,
    ) -> Result<Row, PortError> {
        let row = self.run_write(operation, query).await?.pop();
        row.ok_or_else(|| PortError::new(operation, ErrorKind::NotFound, format!("there is no space {space}")))
    }

    /// Runs a statement about the schema.
    pub(super) async fn run_schema_statement(&self, statement: &str) -> Result<Vec<Row>, SetupError> {
        self.run_setup_statement(statement, Query::new(statement.to_owned()))
            .await
    }

    /// Runs a statement that prepares the server. If the server refuses it, the error contains its text.
    pub(super) async fn run_setup_statement(&self, statement: &str, query: Query) -> Result<Vec<Row>, SetupError> {
        let url = self.url.clone();
        let work = self.run_with_retries(query, false);
        match tokio::time::timeout(self.connect_time.max(self.call_time), work).await {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err(source @ Error::AuthenticationError(_))) => Err(SetupError::Credentials {
                url,
                user: self.user.clone(),
                source,
            }),
            Ok(Err(source @ Error::Neo4j(_))) => Err(SetupError::Refused {
                url,
                statement: statement.to_owned(),
                source,
            }),
            Ok(Err(source)) => Err(SetupError::Unavailable {
                url,
                source: Some(source),
            }),
            Err(_) => Err(SetupError::Unavailable { url, source: None }),
        }
    }

    /// Checks whether the server can be reached, within the connect timeout.
    pub(super) async fn check_connection(&self) -> Result<(), SetupError> {
        let unavailable = SetupError::Unavailable {
            url: self.url.clone(),
            source: None,
        };
        let work = self.run_schema_statement("RETURN 1");
        match tokio::time::timeout(self.connect_time, work).await {
            Ok(found) => found.map(drop),
            Err(_) => Err(unavailable),
        }
    }

    async fn run_within_timeout(
        &self,
        operation: &'static str,
        query: Query,
        read: bool,
    ) -> Result<Vec<Row>, PortError> {
        // The server gives up at the same time as the caller, so that the statement keeps no locks.
        let time = i64::try_from(self.call_time.as_millis()).unwrap_or(i64::MAX);
        let work = self.run_with_retries(query.extra("tx_timeout", time), read);
        let work = work.instrument(tracing::info_span!("neo4j", operation));
        match tokio::time::timeout(self.call_time, work).await {
            Ok(rows) => rows.map_err(|error| of_port(operation, error)),
            Err(_) => Err(timeout_error(operation, self.call_time)),
        }
    }

    /// Sends the statement until it succeeds or fails permanently; the callers set the timeout.
    async fn run_with_retries(&self, query: Query, read: bool) -> Result<Vec<Row>, Error> {
        let mut pause = PAUSE.0;
        let mut attempts = 0;
        loop {
            match self.run_once(query.clone(), read).await {
                Err(error) if is_retryable(&error, attempts) => tracing::debug!(attempts, "sent again"),
                done => return done,
            }
            attempts += 1;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    /// Runs the statement once. It is committed only when its last row has arrived.
    async fn run_once(&self, query: Query, read: bool) -> Result<Vec<Row>, Error> {
        let mut stream = match read {
            true => self.graph.execute_read(query).await?,
            false => self.graph.execute(query).await?,
        };
        let mut rows = Vec::new();
        while let Some(row) = stream.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Starts a statement about a space, with the parameters `$space` and `$prefix`. The text is a constant; values are
/// parameters.
pub(super) fn query_for_space(keys: &Keys, text: &'static str) -> Query {
    Query::new(text.to_owned())
        .param("space", keys.space_key())
        .param("prefix", keys.key_prefix())
}

/// Returns a row for a parameter that is unwound.
pub(super) fn parameter_row<const N: usize>(columns: [(&str, BoltType); N]) -> BoltType {
    HashMap::from(columns).into()
}

/// Splits rows, given with their sizes in bytes, into parts that are sent separately. Returns at least one part, so
/// that an unknown space is noticed.
pub(super) fn split_into_parts(rows: Vec<(BoltType, usize)>) -> Vec<Vec<BoltType>> {
    let total_bytes: usize = rows.iter().map(|(_, bytes)| bytes).sum();
    let most = if total_bytes <= PIECES_MAX * PIECE_BYTES {
        PIECE_BYTES
    } else {
        BATCH_BYTES
    };
    let (mut parts, mut part, mut filled) = (Vec::new(), Vec::new(), 0);
    for (row, bytes) in rows {
        if filled + bytes > most && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            filled = 0;
        }
        filled += bytes;
        part.push(row);
    }
    parts.push(part);
    parts
}

/// Converts a number into a signed integer of the server; a number that does not fit becomes the maximum.
pub(super) fn to_bolt_integer<N: TryInto<i64>>(number: N) -> BoltType {
    number.try_into().unwrap_or(i64::MAX).into()
}

/// Returns the value of a column.
pub(super) fn read_column<T: DeserializeOwned>(operation: &'static str, row: &Row, name: &str) -> Result<T, PortError> {
    row.get(name).map_err(|error| damaged_error(operation, error))
}

/// Returns the value of a column as a non-negative number.
pub(super) fn read_natural(operation: &'static str, row: &Row, name: &str) -> Result<u64, PortError> {
    let number: i64 = read_column(operation, row, name)?;
    u64::try_from(number).map_err(|error| damaged_error(operation, error))
}

/// Returns the column `read_body`, parsed from JSON.
pub(super) fn read_body<T: DeserializeOwned>(operation: &'static str, row: &Row) -> Result<T, PortError> {
    let text: &str = row.get("body").map_err(|error| damaged_error(operation, error))?;
    serde_json::from_str(text).map_err(|error| damaged_error(operation, error))
}

/// Returns a value as JSON.
///
/// # Errors
///
/// `Invalid` if it cannot be serialised.
pub(super) fn to_json<T: serde::Serialize>(operation: &'static str, it: &T) -> Result<String, PortError> {
    serde_json::to_string(it).map_err(|error| {
        PortError::new(operation, ErrorKind::Invalid, "a value cannot be written as JSON").caused_by(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sent_in_pieces_or_in_long_batches() {
        let sizes = |bytes: &[usize]| -> Vec<usize> {
            let rows = bytes.iter().map(|it| (BoltType::from(1i64), *it)).collect();
            split_into_parts(rows).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(&[]), [0]);
        assert_eq!(sizes(&[1_000; 7]), [7]);
        assert_eq!(sizes(&[1_000; 20]), [7, 7, 6]);
        assert_eq!(sizes(&[1_000; 100]), [100], "one wait costs less than that many pieces");
        assert_eq!(sizes(&[8_000, 1, 8_000]), [1, 1, 1]);
        assert_eq!(sizes(&[BATCH_BYTES + 1, 1, BATCH_BYTES - 1, 1]), [1, 2, 1]);
    }
}

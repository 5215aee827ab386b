use std::collections::HashMap;
use std::time::Duration;

use domain::id::SpaceId;
use domain::{ErrorKind, PortError};
use futures::{StreamExt, TryStreamExt};
use neo4rs::{BoltType, Error, Graph, Query, Row};
use serde::de::DeserializeOwned;
use tracing::Instrument;

use super::error::{damaged, late, of_port, passes};
use super::keys::Keys;
use super::{Options, SetupError};

/// Shortest and longest pause before a statement that may pass is sent again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));

/// Bytes of rows that leave room for the rest of a statement within 8 KiB. A longer request waits some 40 ms for an
/// acknowledgement, since the driver sends it in several writes and leaves Nagle's algorithm on.
const PIECE_BYTES: usize = 7_000;
/// Most pieces that are together faster than one statement and its wait.
const PIECES_MAX: usize = 6;
/// Most bytes of rows of a longer statement, unless one row alone has more.
const BATCH_BYTES: usize = 1 << 20;
/// Ids of one reading statement, which make a piece, and statements under way at once.
const IDS: usize = 160;
const AT_ONCE: usize = 4;

/// Starts a statement that reads a space, if there is one.
macro_rules! seen {
    ($rest:expr) => {
        concat!("MATCH (s:Space {key: $space}) WHERE s.erasing IS NULL\n", $rest)
    };
}

/// Starts a statement that writes to a space, if there is one, and keeps every other write to it waiting.
///
/// What is written to `lock` does not matter: to write takes the lock. What may have changed is read after that.
macro_rules! locked {
    ($rest:expr) => {
        concat!(
            "MATCH (s:Space {key: $space}) SET s.lock = true WITH s WHERE s.erasing IS NULL\n",
            $rest
        )
    };
}

/// Starts a statement that reads what follows `$after` in a feed of a space, if its counter says that there is anything.
///
/// What is being committed becomes visible piece by piece and in any order, so whoever reads on behind the last number
/// they saw would pass by what comes after it. The lock waits for whoever is storing; to set what is set stores nothing.
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

pub(super) use {following, locked, seen};

/// Sends statements to the server.
pub(super) struct Client {
    graph: Graph,
    /// First part of every key.
    pub(super) namespace: String,
    /// Where the server is.
    pub(super) url: String,
    /// Who calls it.
    pub(super) user: String,
    connect_time: Duration,
    call_time: Duration,
}

impl Client {
    /// Makes the pool; nothing is connected before the first statement.
    pub(super) fn new(options: &Options) -> Result<Client, SetupError> {
        let refused = |error: Error| SetupError::Options {
            detail: "the driver refuses `url` or the TLS files".to_owned(),
            source: Some(error.into()),
        };
        Ok(Client {
            graph: Graph::connect(options.driver()?).map_err(refused)?,
            namespace: options.namespace.clone(),
            url: options.url.clone(),
            user: options.user.clone(),
            connect_time: options.connect_time(),
            call_time: options.call_time(),
        })
    }

    /// Returns the keys of a space.
    pub(super) fn keys(&self, space: &SpaceId) -> Keys {
        Keys::new(&self.namespace, space)
    }

    /// Runs a statement that only reads and returns its rows.
    pub(super) async fn read(&self, operation: &'static str, query: Query) -> Result<Vec<Row>, PortError> {
        self.call(operation, query, true).await
    }

    /// Runs a statement that only reads for all `ids`, some at a time, and returns its rows in no order.
    pub(super) async fn read_by_id(
        &self,
        operation: &'static str,
        ids: Vec<String>,
        query: Query,
    ) -> Result<Vec<Row>, PortError> {
        let mut parts = Vec::with_capacity(ids.len().div_ceil(IDS));
        for chunk in ids.chunks(IDS) {
            parts.push(self.read(operation, query.clone().param("ids", chunk)));
        }
        let parts = futures::stream::iter(parts).buffered(AT_ONCE);
        parts.try_concat().await
    }

    /// Runs a statement and returns its rows, once they are committed.
    pub(super) async fn write(&self, operation: &'static str, query: Query) -> Result<Vec<Row>, PortError> {
        self.call(operation, query, false).await
    }

    /// Runs a statement that writes to a space and returns its only row.
    ///
    /// # Errors
    /// `NotFound` if there is none, since the space is unknown.
    pub(super) async fn write_known(
        &self,
        operation: &'static str,
        space: &SpaceId,
        query: Query,
    ) -> Result<Row, PortError> {
        let row = self.write(operation, query).await?.pop();
        row.ok_or_else(|| PortError::new(operation, ErrorKind::NotFound, format!("there is no space {space}")))
    }

    /// Runs a statement about the schema.
    pub(super) async fn schema(&self, statement: &str) -> Result<Vec<Row>, SetupError> {
        self.setup(statement, Query::new(statement.to_owned())).await
    }

    /// Runs a statement that prepares the server; its text is told if it is refused.
    pub(super) async fn setup(&self, statement: &str, query: Query) -> Result<Vec<Row>, SetupError> {
        let url = self.url.clone();
        let work = self.rows(query, false);
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

    /// Finds out whether the server is there at all, in the time for connecting.
    pub(super) async fn probe(&self) -> Result<(), SetupError> {
        let unavailable = SetupError::Unavailable {
            url: self.url.clone(),
            source: None,
        };
        let work = self.schema("RETURN 1");
        match tokio::time::timeout(self.connect_time, work).await {
            Ok(found) => found.map(drop),
            Err(_) => Err(unavailable),
        }
    }

    async fn call(&self, operation: &'static str, query: Query, read: bool) -> Result<Vec<Row>, PortError> {
        // The server gives up when the caller does, so that nothing keeps its locks.
        let time = i64::try_from(self.call_time.as_millis()).unwrap_or(i64::MAX);
        let work = self.rows(query.extra("tx_timeout", time), read);
        let work = work.instrument(tracing::info_span!("neo4j", operation));
        match tokio::time::timeout(self.call_time, work).await {
            Ok(rows) => rows.map_err(|error| of_port(operation, error)),
            Err(_) => Err(late(operation, self.call_time)),
        }
    }

    /// Sends the statement until it passes or fails for good; the callers bound the time.
    async fn rows(&self, query: Query, read: bool) -> Result<Vec<Row>, Error> {
        let mut pause = PAUSE.0;
        let mut attempts = 0;
        loop {
            match self.once(query.clone(), read).await {
                Err(error) if passes(&error, attempts) => tracing::debug!(attempts, "sent again"),
                done => return done,
            }
            attempts += 1;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    /// A statement is committed only when its last row has come.
    async fn once(&self, query: Query, read: bool) -> Result<Vec<Row>, Error> {
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

/// Starts a statement about a space; it names `$space` and `$prefix`. Its text is a constant: values are parameters.
pub(super) fn on(keys: &Keys, text: &'static str) -> Query {
    Query::new(text.to_owned())
        .param("space", keys.space())
        .param("prefix", keys.prefix())
}

/// Makes a row of a parameter that is unwound.
pub(super) fn row<const N: usize>(columns: [(&str, BoltType); N]) -> BoltType {
    HashMap::from(columns).into()
}

/// Splits rows, each with its bytes, into what is sent together; at least one part, so that an unknown space is noticed.
pub(super) fn parts(rows: Vec<(BoltType, usize)>) -> Vec<Vec<BoltType>> {
    let whole: usize = rows.iter().map(|(_, bytes)| bytes).sum();
    let most = if whole <= PIECES_MAX * PIECE_BYTES {
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

/// Takes a number of the domain into the server's signed integers; what does not fit is the greatest.
pub(super) fn integer<N: TryInto<i64>>(number: N) -> BoltType {
    number.try_into().unwrap_or(i64::MAX).into()
}

/// Reads a column.
pub(super) fn column<T: DeserializeOwned>(operation: &'static str, row: &Row, name: &str) -> Result<T, PortError> {
    row.get(name).map_err(|error| damaged(operation, error))
}

/// Reads a number that is never negative.
pub(super) fn natural(operation: &'static str, row: &Row, name: &str) -> Result<u64, PortError> {
    let number: i64 = column(operation, row, name)?;
    u64::try_from(number).map_err(|error| damaged(operation, error))
}

/// Reads the column `body`, JSON.
pub(super) fn body<T: DeserializeOwned>(operation: &'static str, row: &Row) -> Result<T, PortError> {
    let text: &str = row.get("body").map_err(|error| damaged(operation, error))?;
    serde_json::from_str(text).map_err(|error| damaged(operation, error))
}

/// Writes something as JSON.
///
/// # Errors
/// `Invalid` if it has none.
pub(super) fn json<T: serde::Serialize>(operation: &'static str, it: &T) -> Result<String, PortError> {
    serde_json::to_string(it)
        .map_err(|error| PortError::new(operation, ErrorKind::Invalid, "it cannot be written as JSON").caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sent_in_pieces_or_in_long_batches() {
        let sizes = |bytes: &[usize]| -> Vec<usize> {
            let rows = bytes.iter().map(|it| (BoltType::from(1i64), *it)).collect();
            parts(rows).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(&[]), [0]);
        assert_eq!(sizes(&[1_000; 7]), [7]);
        assert_eq!(sizes(&[1_000; 20]), [7, 7, 6]);
        assert_eq!(sizes(&[1_000; 100]), [100], "one wait costs less than that many pieces");
        assert_eq!(sizes(&[8_000, 1, 8_000]), [1, 1, 1]);
        assert_eq!(sizes(&[BATCH_BYTES + 1, 1, BATCH_BYTES - 1, 1]), [1, 2, 1]);
    }
}

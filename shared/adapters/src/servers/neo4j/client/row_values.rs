//! Values of a row that the driver returns.

use domain::port::Result;
use neo4rs::Row;

use crate::servers::neo4j::error::damaged_error;

pub(crate) fn read_bytes<'row>(operation: &'static str, row: &'row Row, name: &str) -> Result<&'row [u8]> {
    row.get(name).map_err(|error| damaged_error(operation, error))
}

pub(crate) fn read_digest(operation: &'static str, row: &Row, name: &str) -> Result<[u8; 32]> {
    read_bytes(operation, row, name)?
        .try_into()
        .map_err(|error: std::array::TryFromSliceError| damaged_error(operation, error))
}

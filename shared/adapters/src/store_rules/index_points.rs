//! Shared checks of the indexes: vectors and weights that can be compared.

use domain::port::{Point, Result, Search, Sparse};
use domain::{ErrorKind, PortError};

/// Returns an error for points that a search would never find, or find everywhere.
pub(crate) fn check_points(operation: &'static str, points: &[Point], dimension: usize) -> Result<()> {
    for it in points {
        if it.dense.len() != dimension {
            let detail = format!("a vector of length {}, expected {dimension}", it.dense.len());
            return Err(invalid_error(operation, detail));
        }
        check_vector(operation, &it.dense)?;
        check_terms(operation, &it.words)?;
        check_terms(operation, &it.pieces)?;
    }
    Ok(())
}

/// Returns an error for a search whose scores would not be numbers.
pub(crate) fn check_search(operation: &'static str, search: &Search, dimension: usize) -> Result<()> {
    if let Some(query) = &search.dense {
        if query.len() != dimension {
            let detail = format!("a query of length {}, expected {dimension}", query.len());
            return Err(invalid_error(operation, detail));
        }
        check_vector(operation, query)?;
    }
    for terms in [&search.words, &search.pieces].into_iter().flatten() {
        check_terms(operation, terms)?;
    }
    Ok(())
}

/// Returns an error for a vector with a number that is not finite.
fn check_vector(operation: &'static str, vector: &[f32]) -> Result<()> {
    match vector.iter().all(|it| it.is_finite()) {
        true => Ok(()),
        false => Err(invalid_error(operation, "a vector is not finite")),
    }
}

/// Returns an error for weights that are not finite, and for unsorted or duplicate terms.
fn check_terms(operation: &'static str, terms: &Sparse) -> Result<()> {
    if terms.iter().any(|(_, weight)| !weight.is_finite()) {
        return Err(invalid_error(operation, "a weight is not finite"));
    }
    if !terms.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(invalid_error(operation, "terms are not sorted"));
    }
    Ok(())
}

fn invalid_error(operation: &'static str, detail: impl Into<String>) -> PortError {
    PortError::new(operation, ErrorKind::Invalid, detail)
}

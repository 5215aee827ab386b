//! The ids of the versions of a record.

/// Maximum number of versions of a record.
pub(crate) const VERSIONS_MAX: u32 = 1_000;

/// Separator between the id of a record and the number of a version.
pub(crate) const MARK: &str = "#v";

/// Longest ending that distinguishes the id of a version from the id of its record, in bytes: that of number 1000.
pub(crate) const ENDING_BYTES_MAX: usize = MARK.len() + 4;

/// Returns the id of version `number` of the record with the caller's id `of`.
pub(crate) fn version_id(of: &str, number: u32) -> String {
    match number {
        1 => of.to_owned(),
        _ => format!("{of}{MARK}{number}"),
    }
}

/// Returns the id of the record and the version number that `id` names.
pub(crate) fn parse_version_id(id: &str) -> Option<(&str, u32)> {
    let (of, number) = id.rsplit_once(MARK)?;
    let is_number = number.bytes().all(|it| it.is_ascii_digit()) && !number.starts_with('0');
    let number = number.parse().ok().filter(|it| is_number && *it > 1)?;
    Some((of, number))
}

//! Secrets of the installation, in the table of metadata.

use rusqlite::Connection;

use super::{Failure, Outcome};

/// Returns the secret stored under a name. If there is none, stores and returns `fresh`.
pub(super) fn get_or_store_secret(db: &Connection, name: &str, fresh: [u8; 32]) -> Outcome<[u8; 32]> {
    let key = format!("secret:{name}");
    let text: String = fresh.iter().map(|it| format!("{it:02x}")).collect();
    db.prepare_cached("INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute([&key, &text])?;
    let stored_hex: String = db
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([&key], |row| row.get(0))?;
    parse_hex(&stored_hex).ok_or_else(|| Failure::unreadable_body(format!("the secret `{name}` is not 64 hex digits")))
}

fn parse_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

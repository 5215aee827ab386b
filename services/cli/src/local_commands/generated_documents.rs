//! The documents in `docs/` that are generated from the code. A test compares them; `INSTA_UPDATE=always` writes them.

mod errors;
mod settings;

use std::fs;
use std::path::Path;

/// Compares a document with the text; writes the text first if `INSTA_UPDATE` is `always`.
fn check_document(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let differs = stored
        .lines()
        .zip(text.lines())
        .position(|(stored, generated)| stored != generated);
    assert!(
        stored == text,
        "docs/{name} differs from the code from line {}; `INSTA_UPDATE=always cargo test -p cli documents` writes it again",
        1 + differs.unwrap_or_else(|| stored.lines().count().min(text.lines().count()))
    );
}

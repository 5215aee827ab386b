//! The sentence encoder for tests, which `.ci/encoder` installs.

use std::path::PathBuf;

/// Returns the folder of the encoder. Returns `None`, with a note on stderr, if it is neither installed nor required.
///
/// # Panics
/// If it is required but missing.
#[must_use]
pub fn encoder_folder() -> Option<PathBuf> {
    let installed = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/mnemic-ci/encoder"));
    let folder = std::env::var_os("MNEMIC_TEST_ENCODER")
        .map(PathBuf::from)
        .or_else(installed);
    let folder = folder.filter(|it| it.join("model.onnx").exists());
    let required = std::env::var("MNEMIC_TEST_SERVERS").is_ok_and(|it| it == "required");
    assert!(folder.is_some() || !required, "no encoder: run .ci/encoder");
    if folder.is_none() {
        eprintln!("skipped: no encoder; .ci/encoder installs one");
    }
    folder
}

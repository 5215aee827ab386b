//! Rules of this repository that no compiler checks: inherited lints, file sizes, and forbidden words.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of lines of a source file, including tests.
const FILE_LINES_MAX: usize = 400;

fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn collect_files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect_files(&path, extension, found);
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
}

fn all_files(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["services", "shared", "tests"] {
        collect_files(&repository_root().join(folder), extension, &mut found);
    }
    found.sort();
    assert!(!found.is_empty(), "no .{extension} file found");
    found
}

fn fail_with_offenders(what: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{what}:\n{}", offenders.join("\n"));
}

#[test]
fn every_crate_inherits_the_lints() {
    let offenders: Vec<String> = all_files("toml")
        .into_iter()
        .filter(|path| path.ends_with("Cargo.toml"))
        .filter(|path| !fs::read_to_string(path).unwrap().contains("[lints]\nworkspace = true"))
        .map(|path| path.display().to_string())
        .collect();
    fail_with_offenders("without `[lints] workspace = true`", &offenders);
}

/// `cargo deny` cannot tell what tests depend on from what a binary depends on.
#[test]
fn only_tests_depend_on_fixtures() {
    let mut tested = 0;
    let mut offenders = Vec::new();
    for path in all_files("toml") {
        let text = fs::read_to_string(&path).unwrap();
        let mut section = "";
        for line in text.lines() {
            if line.starts_with('[') {
                section = line;
            } else if line.starts_with("fixtures") && section == "[dev-dependencies]" {
                tested += 1;
            } else if line.starts_with("fixtures") && !path.ends_with("tests/system/Cargo.toml") {
                offenders.push(format!("{}: {section}", path.display()));
            }
        }
    }
    assert!(tested > 3, "{tested} crates use fixtures in their tests");
    fail_with_offenders("not a dependency of tests", &offenders);
}

#[test]
fn no_source_file_is_too_long() {
    let offenders: Vec<String> = all_files("rs")
        .into_iter()
        .map(|path| (fs::read_to_string(&path).unwrap().lines().count(), path))
        .filter(|(lines, _)| *lines > FILE_LINES_MAX)
        .map(|(lines, path)| format!("{lines} lines: {}", path.display()))
        .collect();
    fail_with_offenders("longer than 400 lines", &offenders);
}

#[test]
fn no_module_is_called_mod_rs_or_utils() {
    let banned = [
        "mod.rs",
        "utils.rs",
        "util.rs",
        "common.rs",
        "helpers.rs",
        "types.rs",
        "manager.rs",
    ];
    let offenders: Vec<String> = all_files("rs")
        .into_iter()
        .filter(|path| banned.iter().any(|name| path.ends_with(name)))
        .map(|path| path.display().to_string())
        .collect();
    fail_with_offenders("a file named after nothing", &offenders);
}

#[test]
fn sources_contain_no_unfinished_marks_and_no_silenced_lints() {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("unimple", "mented!"),
        concat!("#[al", "low("),
    ];
    let mut offenders = Vec::new();
    for path in all_files("rs") {
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark)) {
                offenders.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    fail_with_offenders("unfinished or silenced", &offenders);
}

#[test]
fn only_host_chooses_adapters_and_only_adapters_name_stores() {
    let mut offenders = Vec::new();
    for path in all_files("rs") {
        let shown = path.strip_prefix(repository_root()).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let outside = |allowed: &[&str]| !allowed.iter().any(|prefix| shown.starts_with(prefix));
        if text.contains("rusqlite::")
            && outside(&[
                "shared/adapters",
                "services/cli/benches",
                "tests/system/tests/it/tidy.rs",
            ])
        {
            offenders.push(format!("{shown} names SQLite"));
        }
        if text.contains("axum::") && outside(&["services/gateway", "shared/host", "tests/system"]) {
            offenders.push(format!("{shown} names axum"));
        }
    }
    fail_with_offenders("over the fence", &offenders);
}

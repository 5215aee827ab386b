use std::collections::BTreeSet;

use clap::CommandFactory;

use super::check_document;
use crate::LACKING;
use crate::args::Args;

const HEAD: &str = "\
# Errors

This file is generated from the code: `INSTA_UPDATE=always cargo test -p cli documents` writes it again.

Codes are stable: new codes may be added, but the meaning of a code never changes. Sentences are for people and may change.

";

/// An exit code of `mnemic`.
struct Exit {
    code: u8,
    meaning: &'static str,
    action: &'static str,
}

const EXITS: [Exit; 4] = [
    Exit {
        code: 0,
        meaning: "The command succeeded.",
        action: "Nothing.",
    },
    Exit {
        code: 1,
        meaning: "The command failed: a setting or file is wrong, or a server cannot be reached or refused the request.",
        action: "Read the line on standard error, which begins with `error:`.",
    },
    Exit {
        code: 2,
        meaning: "The command line is wrong.",
        action: "Read the usage on standard error, or `mnemic COMMAND --help`.",
    },
    Exit {
        code: LACKING,
        meaning: "The command finished, but its result is negative: lines of an import were left out, the evidence \
                  is insufficient, sessions still wait to be read, erased data was found, `doctor` found a problem, \
                  or `provision` found an object that differs from the one it would create.",
        action: "Read standard output, which names each case.",
    },
];

/// Returns the section on exit codes.
fn exit_codes_section() -> String {
    let mut text = "\n## Exit codes\n\n`mnemic` ends with one of these codes; the binaries of single services end with 0 or 1.\n\n| code | meaning | what to do |\n| --- | --- | --- |\n"
        .to_owned();
    for Exit { code, meaning, action } in EXITS {
        text += &format!("| {code} | {meaning} | {action} |\n");
    }
    text
}

#[test]
fn the_catalogue_of_errors_matches_the_code() {
    check_document(
        "ERRORS.md",
        &format!("{HEAD}{}{}", gateway::error_catalogue(), exit_codes_section()),
    );
}

/// The link in a problem document points to a heading. A repeated heading would get another anchor.
#[test]
fn headings_are_unique() {
    let catalogue = gateway::error_catalogue();
    let headings: Vec<&str> = catalogue.lines().filter(|it| it.starts_with('#')).collect();
    assert!(headings.contains(&"### unknown-space"), "{headings:?}");
    assert_eq!(headings.iter().collect::<BTreeSet<_>>().len(), headings.len());
}

#[test]
fn the_help_lists_every_exit_code() {
    let help = Args::command().render_long_help().to_string();
    for Exit { code, .. } in EXITS {
        assert!(help.contains(&format!("\n  {code}  ")), "{code} in {help}");
    }
}

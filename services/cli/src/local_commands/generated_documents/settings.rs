use std::fmt::Write;

use host::Settings;
use serde_json::Value;

use super::check_document;
use crate::local_commands::config;
use crate::local_commands::settings::sample::{sample_text, to_toml};
use crate::local_commands::settings::{
    Inside, Section, allowed_values, file_schema, keys_of_table, list_sections, nested_structure, schema_description,
};

const HEAD: &str = "\
# Settings

This file is generated from the code: `INSTA_UPDATE=always cargo test -p cli documents` writes it again.

Settings are read from one TOML file: that of `--config`, else the one that `MNEMIC_CONFIG` names, else `mnemic.toml` in the working \
directory. Each key can be set in the environment too, which wins over the file: `MNEMIC_GATEWAY__LISTEN` is `listen` in \
`[gateway]`. An unknown section or key is an error. Sizes are in bytes unless the name says otherwise.

- `mnemic config` prints the settings in force, secrets masked.
- [mnemic.sample.toml](mnemic.sample.toml), or `mnemic config --sample`, is a file with all keys and their defaults to start from.
- [mnemic.schema.json](mnemic.schema.json), or `mnemic config --schema`, is a JSON schema, with which editors check and complete \
  the file. Editors that use Taplo take it from the first line of the sample.

A range is given where it is checked or follows from the type. Sections of servers (`[nats]`, `[neo4j]`, `[qdrant]`) are read only \
with `kind = \"distributed\"` in `[backends]`, by a build with `--features distributed`.
";

/// Returns docs/SETTINGS.md.
fn settings_reference() -> String {
    let mut text = HEAD.to_owned();
    for Section { name, readers, schema } in list_sections() {
        let _ = write!(text, "\n## [{name}]\n\n");
        add_introduction(&mut text, name, &schema);
        let _ = writeln!(text, "Read by: {readers}.");
        add_table(&mut text, name, &schema, true);
    }
    text
}

/// Adds the description of a table, unless it only repeats the name of the table.
fn add_introduction(text: &mut String, name: &str, schema: &Value) {
    let sentences = schema_description(schema);
    if sentences != format!("Settings in `[{name}]`.") {
        let _ = write!(text, "{}\n\n", escape_table_cell(sentences));
    }
}

/// Adds the keys of a table and then its inner tables. Keys in lists and in named tables have no environment variable.
fn add_table(text: &mut String, name: &str, schema: &Value, with_variables: bool) {
    add_key_rows(text, name, schema, with_variables);
    for (key, schema) in keys_of_table(schema) {
        let path = format!("{name}.{key}");
        match nested_structure(schema) {
            None => {}
            Some(Inside::Table(inner)) => {
                let _ = write!(text, "\n### [{path}]\n\n");
                add_introduction(text, &path, inner);
                add_table(text, &path, inner, with_variables);
            }
            Some(Inside::List(form)) => {
                let variable = environment_variable(&path);
                let _ = write!(text, "\n### [[{path}]]\n\n");
                add_introduction(text, &path, form);
                let _ = write!(text, "As a list of inline tables also in `{variable}`.\n\n");
                add_table(text, &path, form, false);
            }
            Some(Inside::Named(names, form)) => {
                let variable = environment_variable(&path);
                let _ = write!(text, "\n### [{path}.NAME]\n\n");
                add_introduction(text, &path, form);
                let _ = write!(text, "NAME is one of: {}. ", names.join(", "));
                let _ = write!(text, "A key is also `{variable}__NAME__KEY`, in capitals.\n\n");
                add_table(text, &path, form, false);
            }
        }
    }
}

fn add_key_rows(text: &mut String, name: &str, schema: &Value, with_variables: bool) {
    let plain: Vec<(&str, &Value)> = keys_of_table(schema)
        .filter(|it| nested_structure(it.1).is_none())
        .collect();
    if plain.is_empty() {
        return;
    }
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str("| key | type | default | range | meaning |\n| --- | --- | --- | --- | --- |\n");
    for (key, schema) in plain {
        let variable = match with_variables {
            true => format!("<br>`{}`", environment_variable(&format!("{name}.{key}"))),
            false => String::new(),
        };
        let default = schema
            .get("default")
            .map_or("not set".to_owned(), |it| format!("`{}`", to_toml(it)));
        let (kind, range, meaning) = (
            type_label(schema),
            value_range(schema),
            escape_table_cell(schema_description(schema)),
        );
        let _ = writeln!(text, "| `{key}`{variable} | {kind} | {default} | {range} | {meaning} |");
    }
}

fn environment_variable(path: &str) -> String {
    format!("MNEMIC_{}", path.replace('.', "__").to_uppercase())
}

/// Returns text that is safe inside a table cell.
fn escape_table_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn type_label(schema: &Value) -> String {
    match schema["type"].as_str() {
        Some("array") => format!("list of {}", type_label(&schema["items"])),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("number") => "number".to_owned(),
        Some("object") => "table".to_owned(),
        Some("string") if schema["writeOnly"] == true => "text (secret)".to_owned(),
        Some("string") | None if !allowed_values(schema).is_empty() || schema["type"] == "string" => "text".to_owned(),
        Some(_) | None => "any value".to_owned(),
    }
}

fn value_range(schema: &Value) -> String {
    let values = match schema["type"] == "array" {
        true => allowed_values(&schema["items"]),
        false => allowed_values(schema),
    };
    if !values.is_empty() {
        let quoted: Vec<String> = values.iter().map(|it| format!("`{it}`")).collect();
        return quoted.join(", ");
    }
    let bound = |name: &str| schema.get(name).map(ToString::to_string);
    match (bound("minimum"), bound("maximum"), bound("exclusiveMinimum")) {
        (Some(least), Some(most), _) => format!("{least} to {most}"),
        (Some(least), None, _) => format!("at least {least}"),
        (None, Some(most), Some(above)) => format!("above {above}, at most {most}"),
        (None, most, above) => [
            most.map(|it| format!("at most {it}")),
            above.map(|it| format!("above {it}")),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

#[test]
fn the_reference_of_settings_matches_the_code() {
    check_document("SETTINGS.md", &settings_reference());
}

#[test]
fn the_sample_of_settings_matches_the_code() {
    check_document("mnemic.sample.toml", &sample_text());
}

#[test]
fn the_schema_of_settings_matches_the_code() {
    check_document("mnemic.schema.json", &format!("{:#}\n", file_schema()));
}

#[test]
fn every_section_and_key_is_described() {
    let names: Vec<&str> = list_sections().iter().map(|it| it.name).collect();
    assert_eq!(names, host::settings::SECTIONS);
    for section in list_sections() {
        assert_all_described(section.name, &section.schema);
    }
}

fn assert_all_described(path: &str, schema: &Value) {
    for (key, schema) in keys_of_table(schema) {
        let path = format!("{path}.{key}");
        assert!(!schema_description(schema).is_empty(), "{path} has no doc comment");
        match nested_structure(schema) {
            None => {}
            Some(Inside::Table(inner) | Inside::List(inner) | Inside::Named(_, inner)) => {
                assert_all_described(&path, inner)
            }
        }
    }
}

/// The sample sets nothing. With its `#` removed, it sets the defaults.
#[test]
fn the_sample_holds_the_defaults() {
    let in_force = |text: &str| {
        let settings = Settings::from_toml(text, "sample").unwrap();
        let text = config::fill_in_all_defaults(settings).unwrap().in_force().unwrap();
        without_servers(&text)
    };
    let defaults = in_force("");
    assert!(defaults.contains("questions_max = 32"), "{defaults}");
    assert_eq!(in_force(&sample_text()), defaults);
    let mut is_example = false;
    let mut all = String::new();
    for line in sample_text().lines() {
        is_example = !line.is_empty() && (is_example || line.starts_with("# ["));
        match line.strip_prefix("# ").filter(|it| !is_example && !it.ends_with('=')) {
            Some(set) => all += set,
            None => all += line,
        }
        all.push('\n');
    }
    assert!(
        all.contains("\nquestions_max = 32\n") && all.contains("\nbatch_points = 128\n"),
        "{all}"
    );
    assert_eq!(in_force(&all), defaults);
}

/// Removes the sections that a build without the server clients does not complete.
fn without_servers(text: &str) -> String {
    let is_server = |it: &str| ["[nats", "[neo4j", "[qdrant"].iter().any(|name| it.starts_with(name));
    let blocks = text.split("\n\n").filter(|it| !is_server(it));
    blocks.collect::<Vec<_>>().join("\n\n")
}

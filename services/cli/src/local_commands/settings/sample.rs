//! An annotated sample of the settings file.

use std::fmt::Write;

use serde_json::Value;

use super::{Inside, allowed_values, keys_of_table, list_sections, nested_structure, schema_description};

const HEAD: &str = "\
#:schema mnemic.schema.json
## Settings of Mnemic, with their defaults. A line that begins with `##` explains; remove the `#` before a key to set it.
## `mnemic config` prints the settings in force, and docs/SETTINGS.md lists all keys with their ranges.
";
/// Longest line, in characters.
const WIDTH: usize = 120;

/// Returns the text of the sample. The sample sets nothing, because every key is commented out.
pub(crate) fn sample_text() -> String {
    let mut text = HEAD.to_owned();
    for section in list_sections() {
        let note = format!("Read by: {}.", section.readers);
        add_table(&mut text, section.name, &section.schema, &note);
    }
    text
}

/// Adds a table with a note, and then its inner tables.
fn add_table(text: &mut String, name: &str, schema: &Value, note: &str) {
    text.push('\n');
    add_comment(text, schema_description(schema));
    add_comment(text, note);
    let _ = writeln!(text, "[{name}]");
    plain_keys(text, schema);
    for (key, schema) in keys_of_table(schema) {
        match nested_structure(schema) {
            None => {}
            Some(Inside::Table(schema)) => add_table(text, &format!("{name}.{key}"), schema, ""),
            Some(Inside::List(form)) => add_example_table(text, &format!("[[{name}.{key}]]"), form),
            Some(Inside::Named(names, form)) => {
                let first = names.first().copied().unwrap_or_default();
                add_example_table(text, &format!("[{name}.{key}.{first}]"), form);
                add_comment(text, &format!("Likewise for: {}.", names.join(", ")));
            }
        }
    }
}

/// Adds an example of a table that exists only if the user adds it.
fn add_example_table(text: &mut String, header: &str, form: &Value) {
    text.push('\n');
    add_comment(text, schema_description(form));
    let _ = writeln!(text, "# {header}");
    plain_keys(text, form);
}

fn plain_keys(text: &mut String, table: &Value) {
    for (key, schema) in keys_of_table(table).filter(|it| nested_structure(it.1).is_none()) {
        add_comment(text, schema_description(schema));
        let allowed = allowed_values(schema);
        if !allowed.is_empty() {
            add_comment(text, &format!("One of: {}.", allowed.join(", ")));
        }
        let value = schema.get("default").map(to_toml).unwrap_or_default();
        let _ = writeln!(text, "{}", format!("# {key} = {value}").trim_end());
    }
}

/// Adds sentences as comment lines of limited length.
fn add_comment(text: &mut String, sentences: &str) {
    let mut line = String::new();
    for word in sentences.split_whitespace() {
        if line.chars().count() + word.chars().count() + 4 > WIDTH {
            let _ = writeln!(text, "##{line}");
            line.clear();
        }
        line.push(' ');
        line.push_str(word);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "##{line}");
    }
}

/// Returns a value as TOML on one line.
pub(crate) fn to_toml(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(to_toml).collect::<Vec<_>>().join(", ")),
        Value::Object(values) => {
            let pairs: Vec<String> = values
                .iter()
                .map(|(key, it)| format!("{key} = {}", to_toml(it)))
                .collect();
            match pairs.is_empty() {
                true => "{}".to_owned(),
                false => format!("{{ {} }}", pairs.join(", ")),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

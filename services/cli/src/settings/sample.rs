//! An annotated sample of the settings file.

use std::fmt::Write;

use serde_json::Value;

use super::{Inside, allowed, description, inside, keys, sections};

const HEAD: &str = "\
#:schema mnemic.schema.json
## Settings of Mnemic, with their defaults. A line that begins with `##` explains; remove the `#` before a key to set it.
## `mnemic config` prints the settings in force, and docs/SETTINGS.md lists all keys with their ranges.
";
/// Longest line, in characters.
const WIDTH: usize = 120;

/// Returns the text of the sample. The sample sets nothing, because every key is commented out.
pub(crate) fn sample() -> String {
    let mut text = HEAD.to_owned();
    for section in sections() {
        let note = format!("Read by: {}.", section.readers);
        table(&mut text, section.name, &section.schema, &note);
    }
    text
}

/// Adds a table with a note, and then its inner tables.
fn table(text: &mut String, name: &str, schema: &Value, note: &str) {
    text.push('\n');
    explain(text, description(schema));
    explain(text, note);
    let _ = writeln!(text, "[{name}]");
    plain_keys(text, schema);
    for (key, schema) in keys(schema) {
        match inside(schema) {
            None => {}
            Some(Inside::Table(schema)) => table(text, &format!("{name}.{key}"), schema, ""),
            Some(Inside::List(form)) => example(text, &format!("[[{name}.{key}]]"), form),
            Some(Inside::Named(names, form)) => {
                let first = names.first().copied().unwrap_or_default();
                example(text, &format!("[{name}.{key}.{first}]"), form);
                explain(text, &format!("Likewise for: {}.", names.join(", ")));
            }
        }
    }
}

/// Adds an example of a table that exists only if the user adds it.
fn example(text: &mut String, header: &str, form: &Value) {
    text.push('\n');
    explain(text, description(form));
    let _ = writeln!(text, "# {header}");
    plain_keys(text, form);
}

fn plain_keys(text: &mut String, table: &Value) {
    for (key, schema) in keys(table).filter(|it| inside(it.1).is_none()) {
        explain(text, description(schema));
        let allowed = allowed(schema);
        if !allowed.is_empty() {
            explain(text, &format!("One of: {}.", allowed.join(", ")));
        }
        let value = schema.get("default").map(toml).unwrap_or_default();
        let _ = writeln!(text, "{}", format!("# {key} = {value}").trim_end());
    }
}

/// Adds sentences as comment lines of limited length.
fn explain(text: &mut String, sentences: &str) {
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
pub(crate) fn toml(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(values) => {
            let pairs: Vec<String> = values.iter().map(|(key, it)| format!("{key} = {}", toml(it))).collect();
            match pairs.is_empty() {
                true => "{}".to_owned(),
                false => format!("{{ {} }}", pairs.join(", ")),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

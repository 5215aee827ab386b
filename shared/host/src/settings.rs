//! Settings (the configuration): one TOML file with one section per service; environment variables override single
//! keys.
//!
//! `MNEMIC_GATEWAY__LISTEN=0.0.0.0:80` sets `listen` in `[gateway]`; deeper tables take more `__`. A value that is
//! valid TOML (number, boolean, array, inline table, quoted text) is read as TOML, any other value as text. A secret is
//! always text, so a password may consist of digits. Variables without `__` are not settings, because a cluster injects
//! its own, like `MNEMIC_SERVICE_HOST`. Unknown sections and keys are errors that name them. Secrets are never shown,
//! not even in errors.

mod error;
mod schema;
mod secret;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use error::Error;
pub use schema::schema_of;
use secret::{is_secret, mask_secrets, without_secrets};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// All sections.
pub const SECTIONS: [&str; 15] = [
    "admin",
    "backends",
    "clusterer",
    "consumer",
    "embeddings",
    "gateway",
    "language_model",
    "nats",
    "neo4j",
    "process",
    "qdrant",
    "reader",
    "router",
    "telemetry",
    "writer",
];

/// Prefix of the environment variables that are settings.
const PREFIX: &str = "MNEMIC_";
/// Names the settings file if the caller names none.
const FILE_VARIABLE: &str = "MNEMIC_CONFIG";
/// Read from the working directory if no file is named.
const FILE_DEFAULT: &str = "mnemic.toml";

/// The settings in force.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    sections: Table,
    origins: BTreeMap<String, Vec<String>>,
}

impl Settings {
    /// Reads the settings from `path`, or from the file in `MNEMIC_CONFIG`, or from `mnemic.toml` if it exists; then
    /// from the environment.
    ///
    /// # Errors
    ///
    /// A named file that is missing, invalid TOML, an unknown section.
    pub fn load(path: Option<&Path>) -> Result<Settings, Error> {
        let given_path = path
            .map(Path::to_path_buf)
            .or_else(|| std::env::var_os(FILE_VARIABLE).map(PathBuf::from));
        let file = given_path.or_else(|| Some(PathBuf::from(FILE_DEFAULT)).filter(|it| it.exists()));
        let mut settings = Settings::default();
        if let Some(path) = &file {
            let text = std::fs::read_to_string(path).map_err(|source| Error::Unreadable {
                path: path.clone(),
                source,
            })?;
            settings.merge_toml(&text, path)?;
        }
        settings.merge_environment(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )?;
        Ok(settings)
    }

    /// Reads TOML text; `origin` is its name in errors.
    ///
    /// # Errors
    ///
    /// Like [`Settings::load`].
    pub fn from_toml(text: &str, origin: &str) -> Result<Settings, Error> {
        let mut settings = Settings::default();
        settings.merge_toml(text, Path::new(origin))?;
        Ok(settings)
    }

    /// Sets one key, given as `section.key`; overrides file and environment. For command-line flags.
    ///
    /// # Errors
    ///
    /// An unknown section, or a path through a value that is not a table.
    pub fn set_key(&mut self, key: &str, value: impl Into<Value>) -> Result<(), Error> {
        let path: Vec<&str> = key.split('.').collect();
        self.insert_at_path(&path, value.into(), "the command line")
    }

    /// Applies the environment variables that are settings; they override existing values.
    ///
    /// # Errors
    ///
    /// An unknown section, or a path through a value that is not a table.
    pub fn merge_environment(&mut self, variables: impl IntoIterator<Item = (String, String)>) -> Result<(), Error> {
        let mut found: Vec<(String, String)> = variables
            .into_iter()
            .filter(|(name, _)| name.strip_prefix(PREFIX).is_some_and(|rest| rest.contains("__")))
            .collect();
        found.sort();
        for (name, value) in found {
            let lower = name[PREFIX.len()..].to_lowercase();
            let path: Vec<&str> = lower.split("__").collect();
            let secret = path.last().is_some_and(|it| is_secret(it));
            let read = read_value(&value);
            let read = if secret && !read.is_str() {
                Value::String(value)
            } else {
                read
            };
            self.insert_at_path(&path, read, &name)?;
        }
        Ok(())
    }

    /// Returns a section as `T`, or its defaults if it is not set.
    ///
    /// # Errors
    ///
    /// A key that `T` does not have, or a value of the wrong type. The error names it and lists the known keys.
    pub fn read_section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, Error> {
        let Some(value) = self.sections.get(name) else {
            return Ok(T::default());
        };
        value
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| Error::Section {
                section: name.to_owned(),
                origin: self.origins.get(name).map(|it| it.join(", ")).unwrap_or_default(),
                detail: without_secrets(error.to_string(), value),
            })
    }

    /// Fills in the defaults of `T` for all keys of a section that are not set, so that [`Settings::in_force`] shows
    /// them.
    ///
    /// # Errors
    ///
    /// Like [`Settings::read_section`].
    pub fn fill_in_defaults<T: Serialize + DeserializeOwned + Default>(&mut self, name: &str) -> Result<(), Error> {
        let typed: T = self.read_section(name)?;
        let value = Value::try_from(typed).map_err(|error| Error::Section {
            section: name.to_owned(),
            origin: "its defaults".to_owned(),
            detail: error.to_string(),
        })?;
        self.sections.insert(name.to_owned(), value);
        Ok(())
    }

    /// Returns the sections as TOML, with masked secrets.
    pub(crate) fn to_masked_toml(&self) -> String {
        let mut value = Value::Table(self.sections.clone());
        mask_secrets(&mut value);
        toml::to_string_pretty(&value).unwrap_or_else(|_| value.to_string())
    }

    fn merge_toml(&mut self, text: &str, path: &Path) -> Result<(), Error> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| Error::Syntax {
            path: path.to_path_buf(),
            line: error.span().map_or(1, |it| {
                1 + text.bytes().take(it.start).filter(|it| *it == b'\n').count()
            }),
            detail: error.message().to_owned(),
        })?;
        let origin = path.display().to_string();
        for (name, value) in table {
            if !value.is_table() && SECTIONS.contains(&name.as_str()) {
                return Err(Error::NotATable { name, origin });
            }
            self.insert_at_path(&[&name], value, &origin)?;
        }
        Ok(())
    }

    fn insert_at_path(&mut self, path: &[&str], value: Value, origin: &str) -> Result<(), Error> {
        let (Some(section), Some((last, parents))) = (path.first(), path.split_last()) else {
            return Ok(());
        };
        if !SECTIONS.contains(section) {
            return Err(Error::UnknownSection {
                name: (*section).to_owned(),
                origin: origin.to_owned(),
            });
        }
        let mut table = &mut self.sections;
        for parent in parents {
            table = table
                .entry((*parent).to_owned())
                .or_insert_with(|| Value::Table(Table::new()))
                .as_table_mut()
                .ok_or_else(|| Error::NotATable {
                    name: (*parent).to_owned(),
                    origin: origin.to_owned(),
                })?;
        }
        table.insert((*last).to_owned(), value);
        let origins = self.origins.entry((*section).to_owned()).or_default();
        if !origins.iter().any(|it| it == origin) {
            origins.push(origin.to_owned());
        }
        Ok(())
    }
}

fn read_value(text: &str) -> Value {
    let read = format!("value = {text}")
        .parse::<Table>()
        .ok()
        .filter(|it| it.len() == 1);
    match read.and_then(|mut it| it.remove("value")) {
        Some(Value::Datetime(_)) | None => Value::String(text.to_owned()),
        Some(value) => value,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Gateway {
        listen: String,
        batch_max: u32,
        api_key: String,
        limits: Limits,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Limits {
        bytes: u64,
    }

    fn read_gateway(toml: &str, variables: &[(&str, &str)]) -> Result<Gateway, String> {
        let read = || {
            let mut settings = Settings::from_toml(toml, "mnemic.toml")?;
            settings.merge_environment(variables.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())))?;
            settings.read_section::<Gateway>("gateway")
        };
        read().map_err(|error: Error| error.to_string())
    }

    #[test]
    fn the_environment_overrides_the_file_and_the_file_overrides_defaults() {
        let toml = "[gateway]\nlisten = \"127.0.0.1:1\"\nbatch_max = 3";
        let variables = [
            ("MNEMIC_GATEWAY__LISTEN", "0.0.0.0:80"),
            ("MNEMIC_GATEWAY__LIMITS__BYTES", "9"),
            ("MNEMIC_SERVICE_HOST", "10.0.0.1"),
        ];
        let expected = Gateway {
            listen: "0.0.0.0:80".into(),
            batch_max: 3,
            limits: Limits { bytes: 9 },
            ..Gateway::default()
        };
        assert_eq!(read_gateway(toml, &variables), Ok(expected));
    }

    #[test]
    fn errors_name_the_unknown_key_and_the_known_ones() {
        for (toml, variables, expected) in [
            (
                "[gatewy]",
                vec![],
                "unknown section `gatewy` in mnemic.toml; the sections are: admin, backends",
            ),
            ("listen = 1", vec![], "unknown section `listen`"),
            ("gateway = 1", vec![], "`gateway` in mnemic.toml is not a table"),
            (
                "[gateway]\nlisen = 1",
                vec![],
                "section [gateway] from mnemic.toml: unknown field `lisen`, expected one of `listen`",
            ),
            (
                "",
                vec![("MNEMIC_GATEWAY__LISEN", "x")],
                "section [gateway] from MNEMIC_GATEWAY__LISEN: unknown field `lisen`",
            ),
            (
                "",
                vec![("MNEMIC_GATWAY__LISTEN", "x")],
                "unknown section `gatway` in MNEMIC_GATWAY__LISTEN",
            ),
            (
                "[gateway]\nbatch_max = \"x\"",
                vec![],
                "section [gateway] from mnemic.toml: invalid type: string \"x\", expected u32",
            ),
        ] {
            let error = read_gateway(toml, &variables).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn secrets_are_read_as_text_and_never_shown_in_errors() {
        let key = |value: &str| read_gateway("", &[("MNEMIC_GATEWAY__API_KEY", value)]).map(|it| it.api_key);
        for (value, expected) in [("12345678", "12345678"), ("{a=1}", "{a=1}"), ("\"quoted\"", "quoted")] {
            assert_eq!(key(value).as_deref(), Ok(expected));
        }
        for (toml, expected) in [
            (
                "[gateway]\napi_key = 12345678",
                "section [gateway] from f: invalid type: integer `***`, expected a string",
            ),
            (
                "[gateway]\nbatch_max = 1\napi_key = geheim",
                "the settings file f is not valid TOML, line 3: ",
            ),
        ] {
            let section = Settings::from_toml(toml, "f").and_then(|it| it.read_section::<Gateway>("gateway"));
            let error = section.unwrap_err();
            let error = format!("{error} {:?}", std::error::Error::source(&error));
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("12345678") && !error.contains("geheim"), "{error}");
        }
    }

    #[test]
    fn secrets_are_masked_in_the_settings_in_force() {
        let mut settings = Settings::from_toml("[gateway]\napi_key = \"geheim\"\nlisten = \"x\"", "f").unwrap();
        settings.fill_in_defaults::<Gateway>("gateway").unwrap();
        let text = settings.in_force().unwrap();
        assert!(text.contains("api_key = \"***\"") && !text.contains("geheim"), "{text}");
        assert!(text.contains("batch_max = 0") && text.contains("[telemetry]"), "{text}");
    }
}

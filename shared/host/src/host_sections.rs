//! The sections of the settings that the host reads for every service: their schemas, and the settings in force.

use adapters::models::endpoint::{chat, embeddings};
use adapters::servers::server_options::{nats, neo4j, qdrant};
use serde_json::Value;

use crate::settings::{Error, schema_of};
use crate::{Settings, backends, bus, health, process, telemetry};

/// Returns the sections that the host reads for every service, by name, each with its schema.
pub fn host_schemas() -> [(&'static str, Value); 10] {
    [
        ("admin", schema_of::<health::Config>()),
        ("backends", schema_of::<backends::Config>()),
        ("consumer", schema_of::<bus::Config>()),
        ("embeddings", schema_of::<embeddings::Options>()),
        ("language_model", schema_of::<chat::Options>()),
        ("nats", schema_of::<nats::Options>()),
        ("neo4j", schema_of::<neo4j::Options>()),
        ("process", schema_of::<process::Config>()),
        ("qdrant", schema_of::<qdrant::Options>()),
        ("telemetry", schema_of::<telemetry::Config>()),
    ]
}

impl Settings {
    /// Returns all settings as TOML, with the defaults of this crate's own sections and with masked secrets. Defaults
    /// of services are included after [`Settings::fill_in_defaults`].
    ///
    /// # Errors
    ///
    /// Like [`Settings::read_section`], for this crate's own sections.
    pub fn in_force(&self) -> Result<String, Error> {
        let mut all = self.clone();
        all.fill_in_defaults::<health::Config>("admin")?;
        all.fill_in_defaults::<backends::Config>("backends")?;
        all.fill_in_defaults::<bus::Config>("consumer")?;
        all.fill_in_defaults::<embeddings::Options>("embeddings")?;
        all.fill_in_defaults::<chat::Options>("language_model")?;
        all.fill_in_defaults::<process::Config>("process")?;
        all.fill_in_defaults::<telemetry::Config>("telemetry")?;
        if cfg!(feature = "distributed") {
            all.fill_in_defaults::<nats::Options>("nats")?;
            all.fill_in_defaults::<neo4j::Options>("neo4j")?;
            all.fill_in_defaults::<qdrant::Options>("qdrant")?;
        }
        Ok(all.to_masked_toml())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The bounds of `[admin]` in the schema equal the bounds that its check applies.
    #[test]
    fn bounds_of_the_admin_port_are_those_that_are_checked() {
        let schema = schema_of::<health::Config>();
        let mut seen = 0;
        for (key, schema) in schema["properties"].as_object().unwrap() {
            let Some(least) = schema["minimum"].as_u64().filter(|it| *it > 0) else {
                continue;
            };
            let with = |value: u64| {
                let mut config = serde_json::to_value(health::Config::default()).unwrap();
                config[key] = json!(value);
                serde_json::from_value::<health::Config>(config).unwrap().check_bounds()
            };
            assert!(with(least).is_ok(), "{key}: {least}");
            let error = with(least - 1).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
            seen += 1;
        }
        assert_eq!(seen, 2);
    }
}

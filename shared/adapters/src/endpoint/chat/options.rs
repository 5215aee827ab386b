//! Settings of the language models.

use std::collections::BTreeMap;
use std::path::PathBuf;

use domain::port::ModelRole;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Secret;

/// Settings in `[language_model]`: where the endpoint is, and how its model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Its address up to the version, as `http://127.0.0.1:11434/v1`; empty: no language model is asked.
    pub url: String,
    /// The model, as the endpoint calls it.
    pub model: String,
    /// Sent as `Authorization: Bearer`; empty: nothing is sent.
    pub key: Secret,
    /// Time for one request, seconds; whoever waits for less gets less.
    pub timeout_secs: u64,
    /// Calls of one endpoint at once; more wait for as long as their question has time. At least 1.
    pub in_flight_max: usize,
    /// Whether the endpoint is told the JSON schema of a reply; some do not take one.
    pub schema: bool,
    /// How the endpoint is told which tools there are.
    pub tools: ToolMode,
    /// Sent with every request as they stand. What is set here takes the place of all that is there by default.
    pub parameters: BTreeMap<String, Value>,
    /// File that every call is recorded to; a call that it holds already is answered from it. Empty: nothing is recorded.
    pub record: PathBuf,
    /// File whose recorded calls are replayed; no endpoint is asked. Empty: nothing is replayed.
    pub replay: PathBuf,
    /// What is different for the calls of a role.
    #[schemars(schema_with = "roles")]
    pub roles: BTreeMap<ModelRole, RoleOptions>,
}

/// How tools are offered and called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// With the fields that OpenAI's API has for it.
    Native,
    /// In the text of the messages, for endpoints that do not know tools.
    Text,
}

/// Settings in `[language_model.roles.ROLE]`; what is not set is as in `[language_model]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleOptions {
    /// Another endpoint. It gets no key but one that is set here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Another key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Secret>,
    /// Another time for one request, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_secs: Option<u64>,
    /// Whether this endpoint is told the JSON schema of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<bool>,
    /// How this endpoint is told which tools there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolMode>,
    /// Sent in the place of the other parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, Value>>,
}

/// Returns the schema of the roles: one table for each.
fn roles(generator: &mut SchemaGenerator) -> Schema {
    let one = generator.subschema_for::<RoleOptions>();
    let tables: Map<String, Value> = ModelRole::ALL
        .iter()
        .map(|it| (it.name().to_owned(), one.clone().to_value()))
        .collect();
    json_schema!({ "type": "object", "properties": tables, "additionalProperties": false })
}

/// Most tokens of the reply of a model that reads a passage, and seconds that it may take, unless something else is set.
const WRITE_TOKENS: u32 = 4_096;
const WRITE_SECONDS: u64 = 300;

impl Default for Options {
    fn default() -> Options {
        Options {
            url: String::new(),
            model: String::new(),
            key: Secret::default(),
            timeout_secs: 60,
            in_flight_max: 8,
            schema: true,
            tools: ToolMode::Native,
            parameters: [("temperature", 0), ("max_tokens", 1_024)]
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .into(),
            record: PathBuf::new(),
            replay: PathBuf::new(),
            roles: BTreeMap::new(),
        }
    }
}

impl Options {
    /// Returns the settings in force for the calls of a role. The key of `[language_model]` goes to no other endpoint than its
    /// own. Whoever reads a passage writes more, and takes longer, than whoever answers: where nothing else is set, it may.
    pub fn of(&self, role: ModelRole) -> Options {
        let mut base = Options {
            roles: BTreeMap::new(),
            ..self.clone()
        };
        if role == ModelRole::Write {
            let unset = Options::default();
            if base.parameters == unset.parameters {
                base.parameters.insert("max_tokens".to_owned(), json!(WRITE_TOKENS));
            }
            if base.timeout_secs == unset.timeout_secs {
                base.timeout_secs = WRITE_SECONDS;
            }
        }
        let Some(own) = self.roles.get(&role).cloned() else {
            return base;
        };
        let elsewhere = own.url.as_ref().is_some_and(|url| *url != base.url);
        let key = if elsewhere { Secret::default() } else { base.key };
        Options {
            url: own.url.unwrap_or(base.url),
            model: own.model.unwrap_or(base.model),
            key: own.key.unwrap_or(key),
            timeout_secs: own.timeout_secs.unwrap_or(base.timeout_secs),
            schema: own.schema.unwrap_or(base.schema),
            tools: own.tools.unwrap_or(base.tools),
            parameters: own.parameters.unwrap_or(base.parameters),
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_changes_what_it_sets_and_another_endpoint_gets_no_foreign_key() {
        let mut options = Options {
            url: "http://a/v1".to_owned(),
            model: "big".to_owned(),
            key: "open sesame".into(),
            ..Options::default()
        };
        assert_eq!(options.of(ModelRole::Answer), options);
        let write = options.of(ModelRole::Write);
        assert_eq!(
            (write.timeout_secs, &write.parameters["max_tokens"]),
            (300, &json!(4_096))
        );
        let bounded = Options {
            timeout_secs: 5,
            ..options.clone()
        };
        assert_eq!(bounded.of(ModelRole::Write).timeout_secs, 5, "what is set counts");
        let small = RoleOptions {
            model: Some("small".to_owned()),
            tools: Some(ToolMode::Text),
            ..RoleOptions::default()
        };
        options.roles.insert(ModelRole::Answer, small.clone());
        let own = options.of(ModelRole::Answer);
        assert_eq!((own.model.as_str(), own.tools), ("small", ToolMode::Text));
        assert_eq!((&own.url, &own.key, own.schema), (&options.url, &options.key, true));
        let elsewhere = RoleOptions {
            url: Some("http://b/v1".to_owned()),
            ..small
        };
        options.roles.insert(ModelRole::Answer, elsewhere);
        assert!(options.of(ModelRole::Answer).key.is_empty());
    }
}

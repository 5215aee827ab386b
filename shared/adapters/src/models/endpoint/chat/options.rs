//! Settings of the language models.

use std::collections::BTreeMap;
use std::path::PathBuf;

use domain::port::ModelRole;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Secret;

/// Settings in `[language_model]`: the endpoint and how to call its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Base address up to the version, for example `http://127.0.0.1:11434/v1`; if empty, no language model is called.
    pub url: String,
    /// Name of the model at the endpoint.
    pub model: String,
    /// Sent as `Authorization: Bearer`; if empty, no key is sent.
    pub key: Secret,
    /// Timeout of one request in seconds; a request with an earlier deadline gets less.
    pub timeout_secs: u64,
    /// Maximum number of concurrent calls to one endpoint; further calls wait as long as their question has time. At
    /// least 1.
    pub in_flight_max: usize,
    /// Whether the JSON schema of a reply is sent; some endpoints do not accept one.
    pub schema: bool,
    /// How the tools are described to the endpoint.
    pub tools: ToolMode,
    /// Sent with every request, unchanged. If set, they replace all default parameters.
    pub parameters: BTreeMap<String, Value>,
    /// File to which every call is recorded; a call that is already in it is answered from it. If empty, nothing is
    /// recorded.
    pub record: PathBuf,
    /// File from which calls are replayed; no endpoint is called. If empty, nothing is replayed.
    pub replay: PathBuf,
    /// Settings that differ for the calls of a role.
    #[schemars(schema_with = "roles_schema")]
    pub roles: BTreeMap<ModelRole, RoleOptions>,
}

/// How tools are described and called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// With the tool fields of OpenAI's API.
    Native,
    /// In the text of the messages, for endpoints that do not support tools.
    Text,
}

/// Settings in `[language_model.roles.ROLE]`; for keys that are not set, `[language_model]` applies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleOptions {
    /// Another endpoint. It only gets a key that is set here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Another key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Secret>,
    /// Another timeout of one request, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_secs: Option<u64>,
    /// Whether the JSON schema of a reply is sent to this endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<bool>,
    /// How the tools are described to this endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolMode>,
    /// Replaces all other parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, Value>>,
}

/// Returns the schema of the roles: one table for each.
fn roles_schema(generator: &mut SchemaGenerator) -> Schema {
    let one = generator.subschema_for::<RoleOptions>();
    let tables: Map<String, Value> = ModelRole::ALL
        .iter()
        .map(|it| (it.name().to_owned(), one.clone().to_value()))
        .collect();
    json_schema!({ "type": "object", "properties": tables, "additionalProperties": false })
}

/// Maximum number of tokens of the reply of a model that reads a passage, and seconds that it may take, unless
/// something else is set.
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
    /// Returns the settings in force for the calls of a role. The key of `[language_model]` is never sent to another
    /// endpoint. Reading a passage takes longer and gives longer replies than answering, so its default limits are
    /// higher.
    pub fn for_role(&self, role: ModelRole) -> Options {
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
    fn a_role_overrides_settings_and_another_endpoint_does_not_get_the_key() {
        let mut options = Options {
            url: "http://a/v1".to_owned(),
            model: "big".to_owned(),
            key: "open sesame".into(),
            ..Options::default()
        };
        assert_eq!(options.for_role(ModelRole::Answer), options);
        let write = options.for_role(ModelRole::Write);
        assert_eq!(
            (write.timeout_secs, &write.parameters["max_tokens"]),
            (300, &json!(4_096))
        );
        let bounded = Options {
            timeout_secs: 5,
            ..options.clone()
        };
        assert_eq!(bounded.for_role(ModelRole::Write).timeout_secs, 5, "what is set counts");
        let small = RoleOptions {
            model: Some("small".to_owned()),
            tools: Some(ToolMode::Text),
            ..RoleOptions::default()
        };
        options.roles.insert(ModelRole::Answer, small.clone());
        let own = options.for_role(ModelRole::Answer);
        assert_eq!((own.model.as_str(), own.tools), ("small", ToolMode::Text));
        assert_eq!((&own.url, &own.key, own.schema), (&options.url, &options.key, true));
        let elsewhere = RoleOptions {
            url: Some("http://b/v1".to_owned()),
            ..small
        };
        options.roles.insert(ModelRole::Answer, elsewhere);
        assert!(options.for_role(ModelRole::Answer).key.is_empty());
    }
}

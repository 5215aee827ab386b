//! Keys: a new one for the settings file, and the keys in the store of a server.

use std::fs::File;
use std::io::Read;

use anyhow::{Context, ensure};
use gateway::api::{ApiKey, ApiKeyToken};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::Client;
use crate::args::{CreateKey, Keys, KeysCommand};
use crate::{Outcome, output};

/// Random bytes in a key: 256 bits cannot be guessed.
const BYTES: usize = 32;

/// Creates, lists, rotates and revokes keys.
pub(crate) async fn run_keys_command(args: &Keys) -> anyhow::Result<Outcome> {
    let client = || Client::new(&args.remote.url, args.remote.key.clone());
    match &args.command {
        KeysCommand::New => print_new_key()?,
        KeysCommand::Create(create) => {
            print_key_token(&client()?.create_key(&create_key_body(create)).await?, create.json)?
        }
        KeysCommand::List { json } => print_keys(&client()?.list_keys().await?, *json)?,
        KeysCommand::Rotate {
            name,
            grace_seconds,
            json,
        } => {
            let name = check_key_name(name)?;
            print_key_token(&client()?.rotate_key(name, *grace_seconds).await?, *json)?;
        }
        KeysCommand::Revoke { name } => {
            let name = check_key_name(name)?;
            client()?.revoke_key(name).await?;
            output::print_line(&format!(
                "{name} is revoked; other gateways over the same stores refuse it within 5 seconds"
            ));
        }
    }
    Ok(Outcome::Done)
}

/// Returns a name that is safe in a URL path. `.` and `..` would be resolved away, and the request would go to another route.
fn check_key_name(name: &str) -> anyhow::Result<&str> {
    ensure!(!matches!(name, "" | "." | ".."), "`{name}` is not the name of a key");
    Ok(name)
}

fn create_key_body(create: &CreateKey) -> Value {
    let mut body = json!({"name": create.name, "spaces": create.spaces, "rights": create.rights});
    if let Some(expires) = &create.expires {
        body["expires_at"] = json!(expires);
    }
    for (name, bound) in [
        ("requests_per_minute", create.requests_per_minute),
        ("records_per_day", create.records_per_day),
    ] {
        if let Some(bound) = bound {
            body["quotas"][name] = json!(bound);
        }
    }
    body
}

fn print_key_token(key_token: &ApiKeyToken, json: bool) -> anyhow::Result<()> {
    if json {
        return output::say_json(key_token);
    }
    output::print_line(&key_token.token);
    output::print_line("");
    output::print_line(&key_line(&key_token.key));
    output::print_line("Give the token to the client (MNEMIC_KEY, or `Authorization: Bearer`); it is shown only once.");
    if let Some(until) = key_token.key.former_valid_until {
        output::print_line(&format!(
            "The previous token is valid until {}.",
            until.format("%Y-%m-%d %H:%M:%S UTC")
        ));
    }
    Ok(())
}

fn print_keys(keys: &[ApiKey], json: bool) -> anyhow::Result<()> {
    for key in keys {
        match json {
            true => output::say_json_line(key)?,
            false => output::print_line(&key_line(key)),
        }
    }
    if keys.is_empty() && !json {
        output::print_line("the store of the server has no keys; keys in its settings are not listed");
    }
    Ok(())
}

fn key_line(key: &ApiKey) -> String {
    let day = "%Y-%m-%d %H:%M";
    let rights: Vec<&str> = key
        .rights
        .iter()
        .map(|it| match it {
            gateway::Right::Read => "read",
            gateway::Right::Write => "write",
            gateway::Right::Admin => "admin",
        })
        .collect();
    let state = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {}", at.format(day)),
        (None, Some(at)) => format!("expires {}", at.format(day)),
        (None, None) => "does not expire".to_owned(),
    };
    let used = key
        .last_used_at
        .map_or_else(|| "never used".to_owned(), |it| format!("used {}", it.format(day)));
    let quotas = [
        (key.quotas.requests_per_minute, "requests a minute"),
        (key.quotas.records_per_day, "records a day"),
    ];
    let quotas: String = quotas
        .iter()
        .filter_map(|(bound, what)| bound.map(|it| format!("; {it} {what}")))
        .collect();
    format!(
        "{}  {} in {}; made {} by {}; {used}; {state}{quotas}",
        key.name,
        rights.join(", "),
        key.spaces.join(", "),
        key.created_at.format(day),
        key.by,
    )
}

fn print_new_key() -> anyhow::Result<()> {
    let mut random = [0; BYTES];
    let source = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut random));
    source.context("the operating system returns no random bytes")?;
    let key = format!("mnemic_{}", to_hex(&random));
    let digest = to_hex(&Sha256::digest(&key));
    output::print_line(&format!(
        "{key}\n\n\
         Give it to the client (MNEMIC_KEY, or `Authorization: Bearer`); it is shown only once. The server needs only its digest,\n\
         in the settings file:\n\n\
         [[gateway.keys]]\n\
         name = \"a name for the logs\"\n\
         sha256 = \"{digest}\"\n\
         spaces = [\"*\"]               # or names, or prefixes like \"team-*\"\n\
         rights = [\"read\", \"write\"]   # \"admin\" erases spaces, handles dead letters and, over \"*\", creates keys"
    ));
    Ok(())
}

/// Returns bytes as lower-case hex digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_with_fields(fields: Value) -> ApiKey {
        let mut key = json!({"name": "billing", "spaces": ["user-*", "team"], "rights": ["read", "write"], "by": "owner",
            "created_at": "2026-03-01T12:00:00Z"});
        for (name, value) in fields.as_object().unwrap() {
            key[name] = value.clone();
        }
        serde_json::from_value(key).unwrap()
    }

    #[test]
    fn a_key_is_listed_in_one_line() {
        assert_eq!(
            key_line(&key_with_fields(json!({}))),
            "billing  read, write in user-*, team; made 2026-03-01 12:00 by owner; never used; does not expire"
        );
        let used = key_with_fields(
            json!({"last_used_at": "2026-03-02T08:05:00Z", "expires_at": "2027-01-01T00:00:00Z",
            "quotas": {"requests_per_minute": 60, "records_per_day": 1000}}),
        );
        assert_eq!(
            key_line(&used),
            "billing  read, write in user-*, team; made 2026-03-01 12:00 by owner; used 2026-03-02 08:05; expires 2027-01-01 00:00; \
             60 requests a minute; 1000 records a day"
        );
        let revoked =
            key_with_fields(json!({"revoked_at": "2026-03-03T00:00:00Z", "expires_at": "2027-01-01T00:00:00Z"}));
        assert!(
            key_line(&revoked).ends_with("never used; revoked 2026-03-03 00:00"),
            "{}",
            key_line(&revoked)
        );
    }

    #[test]
    fn only_given_options_are_sent() {
        let mut create = CreateKey {
            name: "a".to_owned(),
            spaces: vec!["*".to_owned()],
            rights: vec!["read".to_owned()],
            expires: None,
            requests_per_minute: None,
            records_per_day: None,
            json: false,
        };
        assert_eq!(
            create_key_body(&create),
            json!({"name": "a", "spaces": ["*"], "rights": ["read"]})
        );
        create.expires = Some("2027-01-01".to_owned());
        create.records_per_day = Some(5);
        assert_eq!(create_key_body(&create)["expires_at"], "2027-01-01");
        assert_eq!(create_key_body(&create)["quotas"], json!({"records_per_day": 5}));
    }
}

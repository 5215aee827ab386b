//! Administration of the keys in the store: create, list, rotate, revoke.
//!
//! Keys can be created only on a server whose settings contain a key with the right `admin` over all spaces. That key
//! does not depend on the others, so administrators cannot lock themselves out. And because the settings contain a key,
//! the server was never open.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use domain::id::SpaceId;
use domain::key::{Key, KeyDigest, KeyName};
use domain::port;
use sha2::{Digest, Sha256};
use tracing::info;

use crate::api::problem::Problem;
use crate::api::{ApiKeyToken, NewApiKey, Rotation};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::keys::stored_tokens::PREFIX as TOKEN_PREFIX;
use crate::app::state::App;
use crate::use_cases::validate;

/// Maximum number of patterns of spaces of one key.
const SPACES_MAX: usize = 64;
/// Longest time for which a token stays valid after its replacement, in seconds.
const GRACE_SECONDS_MAX: u32 = 86_400;

/// A new token, and the data that the store keeps of it.
struct Token {
    text: String,
    digest: KeyDigest,
}

/// Checks that a caller may administer keys.
///
/// # Errors
/// 403 unless its key has the right `admin` over all spaces.
pub(crate) fn demand_admin_of_all(access: &Access) -> Result<(), Problem> {
    if access.is_admin_of_all() {
        return Ok(());
    }
    Err(Problem::missing_right(Right::Admin)
        .with_detail("managing keys needs a key with the right `admin` over all spaces (`*`)"))
}

/// Creates a key and its token.
///
/// # Errors
/// 403 for rights that the caller lacks; 409 if the settings have no key that may create others, or if the name is
/// taken; 422 for an invalid name, space or time.
pub(crate) async fn create_key(
    app: &App,
    by: &Access,
    new: NewApiKey,
    now: DateTime<Utc>,
) -> Result<ApiKeyToken, Problem> {
    demand_admin_of_all(by)?;
    if !app.keys.has_configured_admin() {
        return Err(Problem::no_admin_key());
    }
    let key = key_from_request(by, new, now)?;
    if app.keys.is_configured(key.name.as_str()) {
        return Err(Problem::conflict(format!(
            "name: the settings have a key with the name `{}`; choose another name",
            key.name
        )));
    }
    let token = generate_token()?;
    app.stores().keys.create(&key, token.digest).await?;
    info!(key = %key.name, by = by.name(), "a key was created");
    Ok(ApiKeyToken {
        key: key.into(),
        token: token.text,
    })
}

/// Gives a key a new token.
///
/// # Errors
/// 403 if the key has rights that the caller lacks, because the caller would get them with the token; 404 if the key
/// does not exist; 409 if it is revoked or expired.
pub(crate) async fn rotate_key(
    app: &App,
    by: &Access,
    name: &str,
    rotation: Rotation,
    now: DateTime<Utc>,
) -> Result<ApiKeyToken, Problem> {
    demand_admin_of_all(by)?;
    let grace = rotation.grace_seconds;
    if grace > GRACE_SECONDS_MAX {
        return Err(Problem::invalid_request(format!(
            "grace_seconds: must be 0 to {GRACE_SECONDS_MAX}"
        )));
    }
    let store = &app.stores().keys;
    let name: KeyName = name.parse().map_err(|_| no_key())?;
    let key = store.get(&name).await?.ok_or_else(no_key)?;
    holds_rights(by, &key.rights)?;
    let ended = || Problem::conflict("the key is revoked or expired; make another one");
    if !key.is_valid(now) {
        return Err(ended());
    }
    let token = generate_token()?;
    let until = now.trunc_subsecs(3) + TimeDelta::seconds(grace.into());
    let rotation = port::Rotation {
        digest: token.digest,
        former_until: (grace > 0).then_some(until),
    };
    // Another request may have revoked it meanwhile.
    if !store.rotate(&name, rotation).await? {
        return Err(ended());
    }
    app.keys.forget_tokens_of_key(name.as_str());
    info!(key = %name, by = by.name(), grace, "a key was rotated");
    let key = Key {
        former_valid_until: rotation.former_until,
        ..key
    };
    Ok(ApiKeyToken {
        key: key.into(),
        token: token.text,
    })
}

/// Revokes a key at once; a revoked key stays revoked.
///
/// # Errors
/// 404 if the key does not exist.
pub(crate) async fn revoke_key(app: &App, by: &Access, name: &str, now: DateTime<Utc>) -> Result<(), Problem> {
    demand_admin_of_all(by)?;
    let name: KeyName = name.parse().map_err(|_| no_key())?;
    let is_known = app.stores().keys.revoke(&name, now).await?;
    app.keys.forget_tokens_of_key(name.as_str());
    if !is_known {
        return Err(no_key());
    }
    info!(key = %name, by = by.name(), "a key was revoked");
    Ok(())
}

/// Checks the request and returns the key that it describes.
fn key_from_request(by: &Access, new: NewApiKey, now: DateTime<Utc>) -> Result<Key, Problem> {
    let name: KeyName = new
        .name
        .parse()
        .map_err(|error| Problem::invalid_request(format!("name: {error}")))?;
    if new.spaces.is_empty() || new.spaces.len() > SPACES_MAX {
        return Err(Problem::invalid_request(format!(
            "spaces: must have 1 to {SPACES_MAX} entries"
        )));
    }
    if let Some(at) = new.spaces.iter().position(|it| !is_pattern(it)) {
        return Err(Problem::invalid_request(format!(
            "spaces[{at}]: must be `*`, the name of a space, or a prefix followed by `*`"
        )));
    }
    let mut rights = new.rights;
    if rights.is_empty() {
        return Err(Problem::invalid_request(
            "rights: is empty; a key needs `read`, `write` or `admin`",
        ));
    }
    rights.sort_by_key(|it| match it {
        Right::Read => 0,
        Right::Write => 1,
        Right::Admin => 2,
    });
    rights.dedup();
    holds_rights(by, &rights)?;
    if new.quotas.has_zero() {
        return Err(Problem::invalid_request(
            "quotas: a quota of 0 would allow nothing; leave it out for no limit",
        ));
    }
    let expires_at = validate::parse_time_field("expires_at", new.expires_at.as_deref())?.map(|it| it.to_utc());
    if expires_at.is_some_and(|it| it <= now) {
        return Err(Problem::invalid_request("expires_at: is not in the future"));
    }
    Ok(Key {
        name,
        spaces: new.spaces,
        rights,
        quotas: new.quotas,
        by: by.name().to_owned(),
        created_at: now.trunc_subsecs(3),
        expires_at,
        revoked_at: None,
        last_used_at: None,
        former_valid_until: None,
    })
}

/// Checks that a caller has every right that it grants. At this point every caller opens all spaces.
fn holds_rights(by: &Access, rights: &[Right]) -> Result<(), Problem> {
    match rights.iter().find(|it| !by.rights().contains(it)) {
        None => Ok(()),
        Some(lacking) => Err(Problem::missing_right(*lacking)),
    }
}

/// Returns true for `*`, the name of a space, and a prefix of a name followed by `*`.
fn is_pattern(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    text == "*" || name.parse::<SpaceId>().is_ok()
}

fn generate_token() -> Result<Token, Problem> {
    let text = format!(
        "{TOKEN_PREFIX}{}",
        URL_SAFE_NO_PAD.encode(host::random::generate_secret()?)
    );
    let digest = Sha256::digest(text.as_bytes()).into();
    Ok(Token { text, digest })
}

fn no_key() -> Problem {
    Problem::not_found(
        "there is no key with this name in the store; GET /v1/keys lists the keys, and keys of the settings are changed there",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_names_or_prefixes_of_spaces() {
        for pattern in ["*", "ann", "user-*", "a*", "team.x_1"] {
            assert!(is_pattern(pattern), "{pattern}");
        }
        let long = "a".repeat(65);
        for other in [
            "",
            "**",
            "-*",
            "a*b",
            "*a",
            "Ann",
            "a b",
            "a\n",
            "user-**",
            long.as_str(),
        ] {
            assert!(!is_pattern(other), "{other:?}");
        }
    }

    #[test]
    fn tokens_are_unique_and_well_formed() {
        let (one, other) = (generate_token().unwrap(), generate_token().unwrap());
        assert_ne!(one.text, other.text);
        assert_eq!(one.text.len(), TOKEN_PREFIX.len() + 43);
        assert_eq!(one.digest, KeyDigest::from(Sha256::digest(&one.text)));
    }
}

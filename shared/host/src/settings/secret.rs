//! Masks secrets in settings.

use toml::Value;

/// A key with one of these endings is a secret.
const ENDINGS: [&str; 5] = ["key", "password", "secret", "sha256", "token"];
/// The text that replaces a secret.
const MASK: &str = "***";

/// Returns true if a key is the name of a secret.
pub(super) fn is_secret(key: &str) -> bool {
    ENDINGS.iter().any(|it| key.ends_with(it))
}

/// Masks the secrets in settings before they are shown.
pub(super) fn mask_secrets(value: &mut Value) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                let empty = value.as_str().is_some_and(str::is_empty);
                if is_secret(name) && !value.is_table() && !value.is_array() && !empty {
                    *value = Value::String(MASK.to_owned());
                } else if let (true, Value::String(url)) = (name.ends_with("url") || name.ends_with("endpoint"), &value)
                {
                    *value = Value::String(without_userinfo(url));
                }
                mask_secrets(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_secrets),
        Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

/// Masks the credentials in addresses: the part before an `@`, in each of the addresses that commas separate.
fn without_userinfo(url: &str) -> String {
    let one = |address: &str| {
        let Some((user, host)) = address.rsplit_once('@') else {
            return address.to_owned();
        };
        let scheme = user.find("://").map_or("", |at| &user[..at + 3]);
        format!("{scheme}{MASK}@{host}")
    };
    url.split(',').map(one).collect::<Vec<_>>().join(",")
}

/// Masks the values of the section's secrets in an error text.
pub(super) fn without_secrets(mut detail: String, section: &Value) -> String {
    let mut rest = vec![(false, section)];
    while let Some((secret, value)) = rest.pop() {
        let text = match value {
            Value::Table(table) => {
                rest.extend(table.iter().map(|(name, it)| (is_secret(name), it)));
                continue;
            }
            Value::Array(items) => {
                rest.extend(items.iter().map(|it| (secret, it)));
                continue;
            }
            Value::String(text) => text.clone(),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => value.to_string(),
        };
        if secret && !text.is_empty() {
            detail = detail.replace(&format!("{text:?}"), MASK).replace(&text, MASK);
        }
    }
    detail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_addresses_are_masked() {
        for (url, expected) in [
            ("nats://a:4222", "nats://a:4222"),
            ("nats://me:ge/heim@a:4222", "nats://***@a:4222"),
            ("tls://me:geh@eim@a,nats://token@b", "tls://***@a,nats://***@b"),
            ("me:geheim@a:4222", "***@a:4222"),
            ("", ""),
        ] {
            let mut shown = Value::Table("[nats]\nurl = 1".parse().unwrap());
            shown["nats"]["url"] = Value::String(url.to_owned());
            mask_secrets(&mut shown);
            assert_eq!(shown["nats"]["url"].as_str(), Some(expected));
        }
    }
}

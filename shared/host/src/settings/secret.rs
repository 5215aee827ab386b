//! What is not shown of settings.

use toml::Value;

/// A key that ends in one of these is a secret.
const ENDINGS: [&str; 5] = ["key", "password", "secret", "sha256", "token"];
/// Stands for what is not shown.
const MASK: &str = "***";

/// Says whether a key is that of a secret.
pub(super) fn is_secret(key: &str) -> bool {
    ENDINGS.iter().any(|it| key.ends_with(it))
}

/// Masks what is secret in settings that are shown.
pub(super) fn mask(value: &mut Value) {
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
                mask(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

/// Masks who one is in addresses: what stands in front of an `@`, for each of those that commas separate.
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

/// Masks in an error what the secrets of the section are.
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
    fn addresses_are_shown_without_who_one_is() {
        for (url, expected) in [
            ("nats://a:4222", "nats://a:4222"),
            ("nats://me:ge/heim@a:4222", "nats://***@a:4222"),
            ("tls://me:geh@eim@a,nats://token@b", "tls://***@a,nats://***@b"),
            ("me:geheim@a:4222", "***@a:4222"),
            ("", ""),
        ] {
            let mut shown = Value::Table("[nats]\nurl = 1".parse().unwrap());
            shown["nats"]["url"] = Value::String(url.to_owned());
            mask(&mut shown);
            assert_eq!(shown["nats"]["url"].as_str(), Some(expected));
        }
    }
}

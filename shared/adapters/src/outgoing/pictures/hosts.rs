//! The list of hosts that pictures are fetched from.

use reqwest::Url;

use crate::outgoing::pinned_client::literal_address;

/// Maximum length of an entry, in bytes.
const BYTES_MAX: usize = 300;

/// An entry of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    /// The host as in a URL: lower case, ASCII, IPv6 in brackets. A leading dot stands for all subdomains.
    name: String,
    /// `None` means the default port of the scheme.
    port: Option<u16>,
}

impl Host {
    /// Parses an entry.
    ///
    /// # Errors
    ///
    /// An entry that is no host, with a description of the problem.
    pub(super) fn parse_entry(entry: &str) -> Result<Host, String> {
        let wrong = |why: &str| format!("hosts: `{entry}` {why}");
        let (is_below, host) = match entry.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, entry),
        };
        if host.len() > BYTES_MAX || host.contains(['/', '?', '#', '@', '*', ' ', '\\']) {
            return Err(wrong(
                "is not a host: write `pictures.example.com`, `*.example.com` or `localhost:9000`",
            ));
        }
        let url = Url::parse(&format!("http://{host}/")).map_err(|_| wrong("is not a host"))?;
        let name = url.host_str().unwrap_or_default().to_owned();
        if is_below && (literal_address(&name).is_some() || !name.contains('.')) {
            return Err(wrong("covers too much: put a name of at least two parts after `*.`"));
        }
        // The parsed URL drops port 80, which is the default of `http`.
        let has_port = host.rsplit_once(':').is_some_and(|(_, it)| it.parse::<u16>() == Ok(80));
        Ok(Host {
            name: if is_below { format!(".{name}") } else { name },
            port: url.port().or(has_port.then_some(80)),
        })
    }

    /// Returns true if a URL is at this host.
    pub(super) fn matches_url(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_named = match self.name.starts_with('.') {
            true => host.len() > self.name.len() && host.ends_with(&self.name),
            false => host == self.name,
        };
        // A parsed URL drops the default port of its scheme.
        let is_at_port = match self.port {
            None => url.port().is_none(),
            Some(_) => url.port_or_known_default() == self.port,
        };
        is_named && is_at_port
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry_matches(entry: &str, uri: &str) -> bool {
        Host::parse_entry(entry).unwrap().matches_url(&Url::parse(uri).unwrap())
    }

    #[test]
    fn a_host_is_allowed_by_its_name_or_a_wildcard() {
        assert!(entry_matches(
            "Pictures.Example.com",
            "https://pictures.example.com/a.png"
        ));
        assert!(entry_matches("*.example.com", "https://a.b.example.com/a.png"));
        for uri in [
            "https://example.com/",
            "https://notexample.com/",
            "https://example.com.evil.org/",
            "https://pictures.example.com:8443/",
            "https://pictures.example.com@evil.org/",
            "https://pictures.example.com./",
        ] {
            assert!(!entry_matches("*.example.com", uri), "{uri}");
        }
        assert!(!entry_matches("example.com", "https://www.example.com/"));
    }

    #[test]
    fn other_ports_than_the_default_must_be_listed() {
        assert!(entry_matches("localhost:9000", "http://localhost:9000/a"));
        assert!(!entry_matches("localhost:9000", "http://localhost/a"));
        assert!(!entry_matches("localhost", "http://localhost:9000/a"));
        assert!(entry_matches("localhost:80", "http://localhost/a"));
        assert!(entry_matches("localhost:443", "https://localhost/a"));
        assert!(!entry_matches("localhost:443", "http://localhost/a"));
    }

    #[test]
    fn an_address_matches_in_every_notation() {
        assert!(entry_matches("127.0.0.1:9000", "http://2130706433:9000/a"));
        assert!(entry_matches("[::1]", "http://[0:0:0:0:0:0:0:1]/a"));
        assert_eq!(literal_address("[::1]"), "::1".parse().ok());
        assert_eq!(literal_address("example.com"), None);
    }

    #[test]
    fn malformed_and_too_wide_entries_are_errors() {
        for entry in [
            "*",
            "*.com",
            "*.10.0.0.1",
            "",
            "https://example.com",
            "a b",
            "a.*.com",
            "user@host",
        ] {
            assert!(Host::parse_entry(entry).is_err(), "{entry}");
        }
    }
}

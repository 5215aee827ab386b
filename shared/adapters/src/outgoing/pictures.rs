//! Pictures that records refer to: inline (`data:`), or at hosts that the operator allows.
//!
//! The address in a record comes from a caller. So pictures are only fetched from hosts on the list, and redirects are
//! not followed. A name is looked up once: its addresses are checked, and the connection goes to one of them. A fetch
//! has limits on time and bytes, and the first bytes must be those of a picture.

mod hosts;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::port::{Picture, PictureKind};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response, Url};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use hosts::Host;

use crate::outgoing::addresses::is_public;
use crate::outgoing::pinned_client::{self, NoAddress, literal_address};

/// The `Accept` header.
const ACCEPTED: &str = "image/png, image/jpeg, image/webp, image/gif";

/// Settings of the sources of pictures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PictureOptions {
    /// Whether a language model describes the pictures of records, if one is set up for the role `see`. The model must
    /// accept pictures.
    pub enabled: bool,
    /// Hosts from which pictures are fetched: `pictures.example.com`, `*.example.com` (not `example.com` itself), or an
    /// address; each with a port if it is not the default port of the scheme, as in `localhost:9000`.
    pub hosts: Vec<String>,
    /// Maximum size of a picture in bytes, at most 16 MiB.
    pub bytes_max: usize,
    /// Timeout of one picture in seconds, from the name look-up to the last byte.
    pub timeout_secs: u64,
    /// Whether the name of an allowed host may resolve to an internal address: loopback, private, link-local.
    pub allow_private_addresses: bool,
}

impl Default for PictureOptions {
    fn default() -> PictureOptions {
        PictureOptions {
            enabled: false,
            hosts: Vec::new(),
            bytes_max: 4 << 20,
            timeout_secs: 20,
            allow_private_addresses: false,
        }
    }
}

/// Why a picture is not available. No error text repeats the content of the record.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// A setting cannot be used.
    #[error("[writer.pictures] {0}")]
    Options(String),
    /// The picture cannot be fetched; a retry does not help.
    #[error("{0}")]
    Refused(String),
    /// The host is unreachable or overloaded.
    #[error("{0}")]
    Away(String),
}

impl PictureError {
    /// Returns true if a retry may succeed.
    pub fn may_pass(&self) -> bool {
        match self {
            PictureError::Away(_) => true,
            PictureError::Options(_) | PictureError::Refused(_) => false,
        }
    }
}

/// Fetches pictures.
pub struct Pictures {
    hosts: Vec<Host>,
    bytes_max: usize,
    time: Duration,
    allow_private: bool,
}

impl Pictures {
    /// Checks the options; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Options` if one cannot be used.
    pub fn new(options: &PictureOptions) -> Result<Pictures, PictureError> {
        let hosts = options.hosts.iter().map(|it| Host::parse_entry(it));
        let most = Picture::BYTES_MAX;
        if !(1..=most).contains(&options.bytes_max) {
            return Err(PictureError::Options(format!("bytes_max must be 1 to {most}")));
        }
        Ok(Pictures {
            hosts: hosts
                .collect::<Result<Vec<Host>, String>>()
                .map_err(PictureError::Options)?,
            bytes_max: options.bytes_max,
            time: Duration::from_secs(options.timeout_secs.max(1)),
            allow_private: options.allow_private_addresses,
        })
    }

    /// Returns the picture at a URI.
    ///
    /// # Errors
    ///
    /// `Refused` if it is not a picture, is too large, or is at a host that is not allowed; `Away` if the host does not
    /// answer.
    pub async fn fetch_picture(&self, uri: &str) -> Result<Picture, PictureError> {
        let is_inline = uri.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("data:"));
        if is_inline {
            return self.decode_data_uri(&uri[5..]);
        }
        let url = Url::parse(uri.trim()).map_err(|_| refusal_error("image_uri is not an address"))?;
        match url.scheme() {
            "http" => {}
            "https" if cfg!(feature = "https") => {}
            "https" => {
                return Err(refusal_error(
                    "this build cannot fetch over TLS: build with `--features https`",
                ));
            }
            _ => return Err(refusal_error("image_uri must have the scheme https, http or data")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refusal_error("image_uri contains credentials, which are not sent"));
        }
        match tokio::time::timeout(self.time, self.fetch_remote(url)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(PictureError::Away(format!(
                "its host took longer than {} s",
                self.time.as_secs()
            ))),
        }
    }

    /// Decodes the part of a URI after `data:`.
    fn decode_data_uri(&self, data: &str) -> Result<Picture, PictureError> {
        let (head, body) = data
            .split_once(',')
            .ok_or_else(|| refusal_error("image_uri is not a data URI"))?;
        let Some(media_type) = head.strip_suffix(";base64") else {
            return Err(refusal_error("image_uri is a data URI without base64"));
        };
        if body.len() / 4 * 3 > self.bytes_max.saturating_add(3) {
            return Err(self.too_large());
        }
        let bytes = STANDARD.decode(body.trim());
        let bytes = bytes.map_err(|_| refusal_error("image_uri is a data URI whose base64 cannot be read"))?;
        self.check_picture(media_type, bytes)
    }

    async fn fetch_remote(&self, url: Url) -> Result<Picture, PictureError> {
        if !self.hosts.iter().any(|it| it.matches_url(&url)) {
            return Err(refusal_error("its host is not in [writer.pictures] hosts"));
        }
        // A literal address on the list was written there by the operator.
        let is_literal = literal_address(url.host_str().unwrap_or_default()).is_some();
        let is_allowed = |address| is_literal || self.allow_private || is_public(address);
        let client = pinned_client::client_for_host(&url, is_allowed)
            .await
            .map_err(|error| match error {
                NoAddress::Unknown => PictureError::Away("the name of its host has no address".to_owned()),
                NoAddress::Inside => refusal_error(
                    "its host has an internal address, which [writer.pictures] allow_private_addresses forbids",
                ),
                NoAddress::Client(error) => PictureError::Away(format!("cannot fetch it: {error}")),
            })?;
        self.send_request(client, url).await
    }

    /// Sends the request. The client connects only to the checked addresses, whatever the name of the host resolves to
    /// now.
    async fn send_request(&self, client: Client, url: Url) -> Result<Picture, PictureError> {
        let response = client.get(url).header(ACCEPT, ACCEPTED).send().await;
        let response = response.map_err(|_| PictureError::Away("its host does not answer".to_owned()))?;
        let status = response.status();
        match status.as_u16() {
            200 => self.read_body(response).await,
            300..=399 => Err(refusal_error("its host redirects, and redirects are not followed")),
            408 | 429 | 500.. => Err(PictureError::Away(format!("its host answers {}", status.as_u16()))),
            _ => Err(refusal_error(&format!("its host answers {}", status.as_u16()))),
        }
    }

    /// Reads a body up to the size limit.
    async fn read_body(&self, mut response: Response) -> Result<Picture, PictureError> {
        let media_type = response.headers().get(CONTENT_TYPE);
        let media_type = media_type
            .and_then(|it| it.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        if PictureKind::of_media_type(&media_type).is_none() {
            return Err(not_a_picture());
        }
        if response.content_length().is_some_and(|it| it > self.bytes_max as u64) {
            return Err(self.too_large());
        }
        let mut bytes = Vec::new();
        loop {
            let chunk = response.chunk().await;
            let chunk = chunk
                .map_err(|_| PictureError::Away("the response of its host could not be read to the end".to_owned()))?;
            let Some(chunk) = chunk else { break };
            if bytes.len() + chunk.len() > self.bytes_max {
                return Err(self.too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        self.check_picture(&media_type, bytes)
    }

    /// Checks media type and bytes of a picture. If they are different kinds of pictures, the bytes count.
    fn check_picture(&self, media_type: &str, bytes: Vec<u8>) -> Result<Picture, PictureError> {
        if bytes.len() > self.bytes_max {
            return Err(self.too_large());
        }
        PictureKind::of_media_type(media_type).ok_or_else(not_a_picture)?;
        Picture::new(bytes).ok_or_else(not_a_picture)
    }

    fn too_large(&self) -> PictureError {
        refusal_error(&format!(
            "it has more than {} bytes ([writer.pictures] bytes_max)",
            self.bytes_max
        ))
    }
}

fn refusal_error(why: &str) -> PictureError {
    PictureError::Refused(why.to_owned())
}

fn not_a_picture() -> PictureError {
    refusal_error("it is not a PNG, JPEG, WebP or GIF")
}

#[cfg(test)]
mod tests;

//! Protection against SSRF: HTTP to a host whose addresses are checked first. The name is looked up once, and
//! connections only go to the checked addresses.
//!
//! A second look-up could return an address that was not checked. So the client gets the addresses, follows no redirect
//! and uses no proxy from the environment.

use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

/// Maximum number of addresses of one name that are tried.
const ADDRESSES_MAX: usize = 16;

/// Why no request can be sent to a host.
#[derive(Debug)]
pub(crate) enum NoAddress {
    /// The name has no address, or no name server answers.
    Unknown,
    /// One of the addresses is not allowed.
    Inside,
    /// The client cannot be created.
    Client(reqwest::Error),
}

/// Returns a client that only connects to the host of `url`. Fails if any of its addresses is not allowed: a name with
/// allowed and forbidden addresses is suspicious.
pub(crate) async fn client_for_host(url: &Url, is_allowed: impl Fn(IpAddr) -> bool) -> Result<Client, NoAddress> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    let addresses = match literal_address(host) {
        Some(address) => vec![SocketAddr::new(address, port)],
        None => looked_up(host, port).await?,
    };
    if !addresses.iter().all(|it| is_allowed(it.ip())) {
        return Err(NoAddress::Inside);
    }
    connecting_to(addresses)
}

/// Returns a client that only connects to these addresses, whatever the name of the host is.
pub(crate) fn connecting_to(addresses: Vec<SocketAddr>) -> Result<Client, NoAddress> {
    Client::builder()
        .redirect(Policy::none())
        // A proxy would look up the name again.
        .no_proxy()
        .referer(false)
        .dns_resolver(CheckedAddresses(addresses))
        .build()
        .map_err(|error| NoAddress::Client(error.without_url()))
}

/// Returns the address if a host is a literal address.
pub(crate) fn literal_address(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

/// Returns the addresses of a name.
async fn looked_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
    let found = tokio::net::lookup_host((host, port)).await;
    let found: Vec<SocketAddr> = found.map(Iterator::collect).unwrap_or_default();
    match found.is_empty() {
        true => Err(NoAddress::Unknown),
        false => Ok(found.into_iter().take(ADDRESSES_MAX).collect()),
    }
}

/// Returns the checked addresses for every name, so that no name is looked up again.
struct CheckedAddresses(Vec<SocketAddr>);

impl Resolve for CheckedAddresses {
    fn resolve(&self, _name: Name) -> Resolving {
        let all: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(all)))
    }
}

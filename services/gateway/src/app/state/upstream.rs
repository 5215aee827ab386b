//! The endpoint of the proxy with memory.

use host::Context;
use host::relay::{Relay, open_relay};

use super::permit_shares::{Refused, Share, Shares};
use crate::api::problem::Problem;
use crate::app::config::Config;

/// The language model that the proxy calls, and the limits of concurrent calls.
pub(crate) struct Upstream {
    pub(crate) relay: Relay,
    shares: Shares,
}

impl Upstream {
    /// Opens the endpoint in the settings; `None` if the proxy is off.
    ///
    /// # Errors
    /// Settings that cannot be used.
    pub(crate) fn open_endpoint(context: &Context, config: &Config) -> anyhow::Result<Option<Upstream>> {
        let settings = &config.proxy;
        if !settings.enabled {
            return Ok(None);
        }
        settings.check_settings()?;
        Ok(Some(Upstream {
            relay: open_relay(&context.settings, settings.relay_target())?,
            shares: Shares::new(settings.in_flight_max, settings.in_flight_per_key_max, &config.keys),
        }))
    }

    /// Takes a permit for a chat of the key `by`.
    ///
    /// # Errors
    /// `exhausted` and `share_exhausted`.
    pub(crate) fn take_share(&self, by: &str) -> Result<Share, Problem> {
        self.shares.try_acquire_permit(by).map_err(|refused| match refused {
            Refused::All(most) => {
                Problem::server_exhausted(format!("{most} chats are in progress, which is the maximum; try again"))
            }
            Refused::Own(most) => Problem::share_exhausted(format!(
                "{most} chats of this key are in progress, which is its maximum; try again"
            )),
        })
    }
}

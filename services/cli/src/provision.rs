//! Creates the objects that Mnemic needs on its servers.

use host::Settings;

use crate::args::Provision;
use crate::{Outcome, out};

/// Provisions the servers and prints the created objects and the differences.
pub(crate) async fn provision(args: &Provision) -> anyhow::Result<Outcome> {
    let settings = Settings::load(args.config.as_deref())?;
    let mut drifted = false;
    for it in host::upkeep::provision(&settings).await? {
        out::say(&format!("{:<6}  {}", it.server, it.has));
        for drift in &it.drifts {
            drifted = true;
            out::say(&format!("{:<6}  drift: {drift}", it.server));
        }
    }
    Ok(if drifted { Outcome::Lacking } else { Outcome::Done })
}

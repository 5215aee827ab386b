//! Creates the objects that Mnemic needs on its servers.

use host::Settings;

use crate::args::Provision;
use crate::{Outcome, output};

/// Provisions the servers and prints the created objects and the differences.
pub(crate) async fn provision_servers(args: &Provision) -> anyhow::Result<Outcome> {
    let settings = Settings::load(args.config.as_deref())?;
    let mut drifted = false;
    for it in host::upkeep::provision_servers(&settings).await? {
        output::print_line(&format!("{:<6}  {}", it.server, it.has));
        for drift in &it.drifts {
            drifted = true;
            output::print_line(&format!("{:<6}  drift: {drift}", it.server));
        }
    }
    Ok(if drifted { Outcome::Lacking } else { Outcome::Done })
}

use anyhow::bail;

use crate::api::Client;
use crate::args::{Spaces, SpacesCommand};
use crate::{Outcome, out};

/// Lists, creates and deletes spaces.
pub(crate) async fn spaces(args: &Spaces) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    match &args.command {
        SpacesCommand::List => list(&client).await?,
        SpacesCommand::Create { space } => {
            let new = client.create(space).await?;
            out::say(&format!("{space} {}", if new { "created" } else { "exists" }));
        }
        SpacesCommand::Delete { space, yes: true } => {
            let deleted = client.delete(space).await?;
            match deleted.left {
                None => out::say(&format!("{space} erased")),
                Some(deleting) => out::say(&format!("{space} deleted: {}", deleting.detail)),
            }
            if let Some(id) = deleted.receipt {
                out::say(&format!("receipt {id}: mnemic erasures check --space {space} {id}"));
            }
        }
        SpacesCommand::Delete { space, yes: false } => {
            bail!("this erases {space} and everything in it for good; add --yes to do it")
        }
    }
    Ok(Outcome::Done)
}

async fn list(client: &Client) -> anyhow::Result<()> {
    let spaces = client.spaces().await?;
    if spaces.is_empty() {
        out::say("no spaces yet; make one with: mnemic spaces create NAME");
        return Ok(());
    }
    let width = spaces
        .iter()
        .map(|it| it.space.as_str().len())
        .max()
        .unwrap_or_default()
        .max(5);
    out::say(&format!(
        "{:width$}  {:>9}  {:>9}  created",
        "space", "records", "units"
    ));
    for it in spaces {
        let created = it.created_at.format("%Y-%m-%d %H:%M");
        out::say(&format!(
            "{:width$}  {:>9}  {:>9}  {created}",
            it.space.as_str(),
            it.records,
            it.units
        ));
    }
    Ok(())
}

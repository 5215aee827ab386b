use anyhow::bail;

use crate::api::Client;
use crate::args::{Spaces, SpacesCommand};
use crate::{Outcome, output};

/// Lists, creates and deletes spaces.
pub(crate) async fn run_spaces_command(args: &Spaces) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    match &args.command {
        SpacesCommand::List => print_spaces(&client).await?,
        SpacesCommand::Create { space } => {
            let new = client.create_space(space).await?;
            output::print_line(&format!("{space} {}", if new { "created" } else { "exists" }));
        }
        SpacesCommand::Delete { space, yes: true } => {
            let deleted = client.delete_space(space).await?;
            match deleted.left {
                None => output::print_line(&format!("{space} erased")),
                Some(deleting) => output::print_line(&format!("{space} deleted: {}", deleting.detail)),
            }
            if let Some(id) = deleted.receipt {
                output::print_line(&format!("receipt {id}: mnemic erasures check --space {space} {id}"));
            }
        }
        SpacesCommand::Delete { space, yes: false } => {
            bail!("this permanently erases {space} and everything in it; add --yes to confirm")
        }
    }
    Ok(Outcome::Done)
}

async fn print_spaces(client: &Client) -> anyhow::Result<()> {
    let spaces = client.list_spaces().await?;
    if spaces.is_empty() {
        output::print_line("no spaces yet; make one with: mnemic spaces create NAME");
        return Ok(());
    }
    let width = spaces
        .iter()
        .map(|it| it.space.as_str().len())
        .max()
        .unwrap_or_default()
        .max(5);
    output::print_line(&format!(
        "{:width$}  {:>9}  {:>9}  created",
        "space", "records", "units"
    ));
    for it in spaces {
        let created = it.created_at.format("%Y-%m-%d %H:%M");
        output::print_line(&format!(
            "{:width$}  {:>9}  {:>9}  {created}",
            it.space.as_str(),
            it.records,
            it.units
        ));
    }
    Ok(())
}

use anyhow::{bail, ensure};
use gateway::api::Record;

use crate::api::Client;
use crate::args::{Erase, Records};
use crate::out::{Paint, Style};
use crate::{Outcome, out};

/// Times the server may hold the question whether a record is gone, ten seconds each.
const HOLDS: u32 = 30;

/// Lists records, or shows one.
pub(crate) async fn records(args: &Records) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    if let Some(id) = &args.id {
        let record = client.record(&args.space, id).await?;
        out::say(&serde_json::to_string_pretty(&record)?);
        return Ok(Outcome::Done);
    }
    let filter = [
        ("session", &args.session),
        ("actor", &args.actor),
        ("from", &args.from),
        ("until", &args.until),
    ];
    let filter: Vec<(&str, &str)> = filter
        .into_iter()
        .filter_map(|(name, it)| Some((name, it.as_deref()?)))
        .collect();
    let paint = Paint::of_terminal();
    let mut after: Option<String> = None;
    let mut count = 0;
    loop {
        let page = client.records(&args.space, &filter, after.as_deref()).await?;
        count += page.items.len();
        for record in &page.items {
            out::say(&line(record, paint));
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    if count == 0 {
        out::say("no records");
    }
    Ok(Outcome::Done)
}

/// Erases one record and waits until it is gone.
pub(crate) async fn erase(args: &Erase) -> anyhow::Result<Outcome> {
    let (space, id) = (&args.space, &args.id);
    ensure!(
        args.yes,
        "this erases {id} and all that derives only from it for good; add --yes to do it"
    );
    let erased = Client::new(&args.remote.url, args.remote.key.clone())?
        .erase(space, id)
        .await?;
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    for _ in 0..HOLDS {
        if client.written(space, &erased.watermark).await? {
            out::say(&format!("{id} erased"));
            return Ok(Outcome::Done);
        }
    }
    bail!("{id} will be erased, but the server is far behind; nothing is left to do here")
}

fn line(record: &Record, paint: Paint) -> String {
    let at = record.observed_at.format("%Y-%m-%d %H:%M");
    let who = if record.actor.is_empty() { "-" } else { &record.actor };
    let image = record.image_caption.as_deref().map(|it| format!("[{it}]"));
    let tool = record.tool.as_ref().map(|it| format!("({})", it.name));
    let said = (!record.text.is_empty()).then(|| record.text.clone());
    let what: Vec<String> = [tool, said, image].into_iter().flatten().collect();
    let what = what.join(" ").replace(['\n', '\r', '\t'], " ");
    let head = paint.paint(Style::Dim, &format!("{}  {at}", record.id));
    format!("{head}  {who}: {what}")
}

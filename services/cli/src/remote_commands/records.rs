use anyhow::{bail, ensure};
use domain::id::{RecordId, SpaceId};
use gateway::api::Record;

use crate::api::{Client, parameters_with_values};
use crate::args::{Erase, Records};
use crate::output::{Paint, Style};
use crate::render::one_line;
use crate::{Outcome, output};

/// Maximum number of requests that wait for the erasure of a record, ten seconds each.
const HOLDS: u32 = 30;

/// Lists records, or shows one.
pub(crate) async fn print_records(args: &Records) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    if let Some(id) = &args.id {
        let record = client.get_record(&args.space, id).await?;
        output::say_json(&record)?;
        return Ok(Outcome::Done);
    }
    let mut filter = parameters_with_values(&[
        ("session", args.whose.session.as_deref()),
        ("actor", args.whose.actor.as_deref()),
        ("from", args.from.as_deref()),
        ("until", args.until.as_deref()),
    ]);
    filter.extend(args.whose.tag.iter().map(|it| ("tag", it.as_str())));
    let paint = Paint::of_terminal();
    let mut after: Option<String> = None;
    let mut count = 0;
    loop {
        let page = client.list_record_page(&args.space, &filter, after.as_deref()).await?;
        count += page.items.len();
        for record in &page.items {
            output::print_line(&record_line(record, paint));
        }
        match page.next {
            // Without a reader of the output, the other pages are not requested.
            Some(next) if output::is_writable() => after = Some(next),
            Some(_) | None => break,
        }
    }
    if count == 0 {
        output::print_line("no records");
    }
    Ok(Outcome::Done)
}

/// Erases one record or a session, and waits until the erasure is complete.
pub(crate) async fn erase_records(args: &Erase) -> anyhow::Result<Outcome> {
    let space = &args.space;
    let (what, id) = match (&args.session, &args.id) {
        (Some(session), _) => (format!("the session {session}"), None),
        (None, Some(id)) => (id.clone(), Some(id)),
        (None, None) => bail!("give a record, or a session with --session"),
    };
    // Only the server knows whose id a UUID is.
    let is_uuid = id.is_some_and(|it| it.parse::<RecordId>().is_ok());
    let versions = match (id, is_uuid) {
        (None, _) => "",
        (Some(_), false) => " with all versions of this record",
        (Some(_), true) => " (with all versions of this record if it is your id, else only this version)",
    };
    ensure!(
        args.yes,
        "this permanently erases {what}{versions} and all data derived only from it; add --yes to confirm"
    );
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let session = args.session.as_deref().unwrap_or_default();
    let mut count = 0;
    let mut receipts = Vec::new();
    loop {
        let (watermark, more) = match id {
            Some(id) => {
                let erased = client.erase_record(space, id).await?;
                receipts.extend(erased.erasure);
                (erased.watermark, false)
            }
            None => {
                let erased = client.erase_session(space, session).await?;
                count += erased.records;
                receipts.push(erased.erasure);
                (erased.watermark, erased.more)
            }
        };
        wait_until_erased(&client, space, &watermark, &what).await?;
        if !more {
            break;
        }
    }
    let counted = match (id, is_uuid) {
        (None, _) => format!(", {count} records"),
        (Some(_), false) => versions.to_owned(),
        (Some(_), true) => String::new(),
    };
    output::print_line(&format!("{what} erased{counted}"));
    for it in receipts {
        output::print_line(&format!("receipt {it}: mnemic erasures check --space {space} {it}"));
    }
    Ok(Outcome::Done)
}

/// Waits until a watermark is reached.
async fn wait_until_erased(client: &Client, space: &SpaceId, watermark: &str, what: &str) -> anyhow::Result<()> {
    for _ in 0..HOLDS {
        if client.wait_for_watermark(space, watermark).await? {
            return Ok(());
        }
    }
    bail!("the server accepted the erasure of {what}, but has many writes to finish first; run the command again later")
}

fn record_line(record: &Record, paint: Paint) -> String {
    let at = record.observed_at.format("%Y-%m-%d %H:%M");
    let who = if record.actor.is_empty() { "-" } else { &record.actor };
    let image = record.image_caption.as_deref().map(|it| format!("[{it}]"));
    let tool = record.tool.as_ref().map(|it| format!("({})", it.name));
    let record_text = (!record.text.is_empty()).then(|| record.text.clone());
    let what: Vec<String> = [tool, record_text, image].into_iter().flatten().collect();
    let what = one_line(&what.join(" "));
    let head = paint.paint_text(Style::Dim, &format!("{}  {at}", record.id));
    format!("{head}  {who}: {what}")
}

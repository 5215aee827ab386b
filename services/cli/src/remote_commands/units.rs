use domain::unit::{Grain, Status};
use gateway::api::UnitView;

use crate::api::{Client, parameters_with_values};
use crate::args::Units;
use crate::output::{Paint, Style};
use crate::render::one_line;
use crate::{Outcome, output};

/// Lists units, or shows one.
pub(crate) async fn print_units(args: &Units) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let as_of = args.as_of.as_deref();
    if let Some(id) = &args.id {
        let unit = client.get_unit(&args.space, id, as_of).await?;
        output::say_json(&unit)?;
        return Ok(Outcome::Done);
    }
    let mut filter = parameters_with_values(&[
        ("session", args.whose.session.as_deref()),
        ("actor", args.whose.actor.as_deref()),
        ("as_of", as_of),
    ]);
    filter.extend(args.whose.tag.iter().map(|it| ("tag", it.as_str())));
    let paint = Paint::of_terminal();
    let mut units = client.list_units(&args.space, &filter).await?;
    units.sort_by_key(|view| (view.unit.observed_at, view.unit.id));
    for unit in &units {
        output::print_line(&unit_line(unit, paint));
    }
    if units.is_empty() {
        output::print_line("no units");
    }
    Ok(Outcome::Done)
}

fn unit_line(UnitView { unit, .. }: &UnitView, paint: Paint) -> String {
    let at = unit.observed_at.format("%Y-%m-%d %H:%M");
    let grain = match unit.grain {
        Grain::Turn => "turn",
        Grain::Event => "event",
        Grain::Gist => "gist",
    };
    let became = match unit.status {
        Status::Active => "",
        Status::Merged => " merged",
        Status::Superseded => " superseded",
        Status::Archived => " archived",
    };
    let who = if unit.actor.is_empty() { "-" } else { &unit.actor };
    let what = one_line(&unit.text);
    let head = paint.paint_text(Style::Dim, &format!("{}  {at}  {grain}{became}", unit.id));
    format!("{head}  {who}: {what}")
}

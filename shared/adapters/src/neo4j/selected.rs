//! Lists records and units in their listing order: all of a space, or a selection of them.

use domain::id::SpaceId;
use domain::port::{Result, Room, Selection, folded};
use domain::record::Record;
use domain::unit::Unit;
use neo4rs::Query;
use serde::de::DeserializeOwned;

use super::client::{Client, body, column, following, integer, natural, on};
use super::error::damaged;
use super::keys::{Keys, id};

/// Maximum number of nodes that one call reads if the selection cannot be evaluated by the server alone.
const LOOKS_MAX: usize = 1_000;

/// Reads the nodes of a pattern in the order of an index, as many as fit.
///
/// A separate subquery reads in that order, and no more rows than it returns. `found` is the number of nodes before the
/// limit on bytes.
macro_rules! page {
    ($counter:literal, $pattern:literal, $order:literal) => {
        following!(
            $counter,
            concat!(
                "CALL () {
                   MATCH ",
                $pattern,
                " AND it.sequence > $after
                   WITH it ORDER BY ",
                $order,
                " LIMIT $limit
                   RETURN collect(it) AS met
                 }
                 WITH met, reduce(taken = [0, 0], it IN met |
                   CASE WHEN taken[1] < $bytes THEN [taken[0] + 1, taken[1] + size(it.body)] ELSE taken END)[0] AS many
                 UNWIND met[..many] AS it
                 RETURN it.sequence AS sequence, coalesce(it.live, true) AS live, it.body AS body, size(met) AS found
                 ORDER BY sequence"
            )
        )
    };
}

/// A type of node that can be listed.
pub(super) trait Listed: DeserializeOwned {
    const ALL: &'static str;
    const OF_SESSION: &'static str;
    const OF_ACTOR: &'static str;
    /// Whether `OF_SESSION` selects a range of places, which contain session and time.
    const PLACED: bool;

    fn is_of(&self, selection: &Selection) -> bool;
}

impl Listed for Record {
    const ALL: &'static str = page!("listed", "(it:Record) WHERE it.space = $space", "it.space, it.sequence");
    const OF_SESSION: &'static str = page!(
        "listed",
        "(it:Record) WHERE it.place > $from AND it.place < $until",
        "it.sequence"
    );
    const OF_ACTOR: &'static str = page!(
        "listed",
        "(it:Record) WHERE it.space = $space AND it.actor = $actor",
        "it.space, it.actor, it.sequence"
    );
    const PLACED: bool = true;

    fn is_of(&self, selection: &Selection) -> bool {
        selection.takes(self)
    }
}

impl Listed for Unit {
    const ALL: &'static str = page!("changes", "(it:Unit) WHERE it.space = $space", "it.space, it.sequence");
    const OF_SESSION: &'static str = page!(
        "changes",
        "(it:Unit) WHERE it.space = $space AND it.session = $session",
        "it.space, it.session, it.sequence"
    );
    const OF_ACTOR: &'static str = page!(
        "changes",
        "(it:Unit) WHERE it.space = $space AND it.actor = $actor",
        "it.space, it.actor, it.sequence"
    );
    const PLACED: bool = false;

    fn is_of(&self, selection: &Selection) -> bool {
        selection.takes_unit(self)
    }
}

/// Returns the selected items after a sequence number, as many as fit, and the sequence number to continue after, if
/// any.
pub(super) async fn select<T: Listed>(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    selection: &Selection,
    (after, room): (u64, Room),
) -> Result<(Vec<T>, Option<u64>)> {
    let (query, told) = asked::<T>(&client.keys(space), selection);
    let looks = if told { room.items } else { LOOKS_MAX.max(room.items) };
    // One more than needed, to see whether there are more.
    let query = query
        .param("after", integer(after))
        .param("bytes", integer(room.bytes))
        .param("limit", integer(looks.saturating_add(1)));
    let rows = client.write(operation, query).await?;
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, after);
    for row in rows.iter().take(looks) {
        let live: bool = column(operation, row, "live")?;
        let item: Option<T> = live.then(|| body(operation, row)).transpose()?;
        if let Some(item) = item.filter(|it| it.is_of(selection)) {
            let text: &str = row.get("body").map_err(|error| damaged(operation, error))?;
            bytes += text.len();
            if items.len() == room.items || (bytes > room.bytes && !items.is_empty()) {
                return Ok((items, Some(last)));
            }
            items.push(item);
        }
        last = natural(operation, row, "sequence")?;
    }
    let found = rows.first().map(|it| natural(operation, it, "found")).transpose()?;
    let more = found.is_some_and(|it| it > rows.len().min(looks) as u64);
    Ok((items, more.then_some(last)))
}

/// Returns the statement of a selection, and whether the selection accepts everything that the statement finds.
fn asked<T: Listed>(keys: &Keys, selection: &Selection) -> (Query, bool) {
    let Selection {
        session,
        actor,
        from,
        until,
        filter,
    } = selection;
    let timed = from.is_some() || until.is_some();
    // Tags and metadata are in the body, which the server cannot search.
    let plain = filter.is_empty();
    match (session, actor) {
        (Some(session), actor) => {
            let (from, until) = keys.within(*session, *from, *until);
            let query = on(keys, T::OF_SESSION)
                .param("session", id(session.uuid()))
                .param("from", from)
                .param("until", until);
            (query, plain && actor.is_none() && (T::PLACED || !timed))
        }
        (None, Some(actor)) => (on(keys, T::OF_ACTOR).param("actor", folded(actor)), plain && !timed),
        (None, None) => (on(keys, T::ALL), plain && !timed),
    }
}

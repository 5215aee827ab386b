//! Lists records and units in their listing order: all of a space, or a selection of them.

use domain::id::SpaceId;
use domain::port::{Result, Room, Selection, case_folded_actor};
use domain::record::Record;
use domain::unit::Unit;
use neo4rs::Query;
use serde::de::DeserializeOwned;

use crate::servers::neo4j::client::{
    Client, following, query_for_space, read_body, read_column, read_natural, to_bolt_integer,
};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::{Keys, id_to_hex};

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
pub(crate) trait ListedNode: DeserializeOwned {
    const ALL: &'static str;
    const OF_SESSION: &'static str;
    const OF_ACTOR: &'static str;
    /// Whether `OF_SESSION` selects a range of places, which contain session and time.
    const PLACED: bool;

    fn is_of(&self, selection: &Selection) -> bool;
}

impl ListedNode for Record {
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
        selection.accepts_record(self)
    }
}

impl ListedNode for Unit {
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
        selection.accepts_unit(self)
    }
}

/// Returns the selected items after a sequence number, as many as fit, and the sequence number to continue after, if
/// any.
pub(crate) async fn select_items<T: ListedNode>(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    selection: &Selection,
    after: u64,
    room: Room,
) -> Result<(Vec<T>, Option<u64>)> {
    let (query, is_exact) = query_of_selection::<T>(&client.keys_of_space(space), selection);
    let looks = if is_exact {
        room.items
    } else {
        LOOKS_MAX.max(room.items)
    };
    // One more than needed, to see whether there are more.
    let query = query
        .param("after", to_bolt_integer(after))
        .param("bytes", to_bolt_integer(room.bytes))
        .param("limit", to_bolt_integer(looks.saturating_add(1)));
    let rows = client.run_write(operation, query).await?;
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, after);
    for row in rows.iter().take(looks) {
        let live: bool = read_column(operation, row, "live")?;
        let item: Option<T> = live.then(|| read_body(operation, row)).transpose()?;
        if let Some(item) = item.filter(|it| it.is_of(selection)) {
            let text: &str = row.get("body").map_err(|error| damaged_error(operation, error))?;
            bytes += text.len();
            if items.len() == room.items || (bytes > room.bytes && !items.is_empty()) {
                return Ok((items, Some(last)));
            }
            items.push(item);
        }
        last = read_natural(operation, row, "sequence")?;
    }
    let found = rows
        .first()
        .map(|it| read_natural(operation, it, "found"))
        .transpose()?;
    let more = found.is_some_and(|it| it > rows.len().min(looks) as u64);
    Ok((items, more.then_some(last)))
}

/// Returns the statement of a selection, and whether the selection accepts everything that the statement finds.
fn query_of_selection<T: ListedNode>(keys: &Keys, selection: &Selection) -> (Query, bool) {
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
            let (from, until) = keys.session_range_between(*session, *from, *until);
            let query = query_for_space(keys, T::OF_SESSION)
                .param("session", id_to_hex(session.uuid()))
                .param("from", from)
                .param("until", until);
            (query, plain && actor.is_none() && (T::PLACED || !timed))
        }
        (None, Some(actor)) => (
            query_for_space(keys, T::OF_ACTOR).param("actor", case_folded_actor(actor)),
            plain && !timed,
        ),
        (None, None) => (query_for_space(keys, T::ALL), plain && !timed),
    }
}

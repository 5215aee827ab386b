//! Derived items that are stored under an id: lookup by id, and lists in pages.

use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::SpaceId;
use domain::merge::{Merge, Standing};
use domain::page::Page;
use domain::topic::{Member, Topic};
use uuid::Uuid;

use crate::api::problem::Problem;
use crate::api::{ListPage, Paged};
use crate::app::config::Right;
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::use_cases::lists::list_page::Filling;

/// Maximum number of reads from the store for one page of a filtered list.
const LOOKS_MAX: usize = 40;
/// Maximum number of items in one read.
const LOOK_MAX: usize = 500;

/// A kind of derived item.
pub(crate) trait DerivedItem: Sized {
    /// The kind in the store.
    const KIND: DerivedKind;
    /// Name of the kind in a problem.
    const NAME: &'static str;
    /// Last part of the path of the list, after the space.
    const LIST: &'static str;

    /// Returns the item; `None` if it is of another kind.
    fn from_derived(derived: Derived) -> Option<Self>;
}

macro_rules! derived_items {
    ($($kind:ident called $name:literal in $list:literal;)*) => {$(
        impl DerivedItem for $kind {
            const KIND: DerivedKind = DerivedKind::$kind;
            const NAME: &'static str = $name;
            const LIST: &'static str = $list;

            fn from_derived(derived: Derived) -> Option<$kind> {
                if let Derived::$kind(it) = derived { Some(it) } else { None }
            }
        }
    )*};
}

derived_items! {
    Fact called "fact" in "facts";
    Entity called "entity" in "entities";
    Topic called "topic" in "topics";
    Member called "member" in "topics";
    Page called "page" in "pages";
    Merge called "merge" in "merges";
    Standing called "unit" in "units";
}

/// Returns a page of a list in a space: the items for which `keep` returns a value, by id.
pub(crate) async fn list_derived_items<T: DerivedItem, L: ListPage>(
    app: &App,
    access: &Access,
    name: &str,
    paging: &impl Paged,
    keep: impl Fn(T) -> Option<L::Item>,
) -> Result<L, Problem> {
    let space = access.authorize_space(name, Right::Read)?;
    app.require_space(&space).await?;
    let limit = paging.page_limit()?;
    let cursors = Cursors::for_list(app, T::LIST, space.as_str(), paging).await?;
    let mut after: Option<Uuid> = cursors.start_position(paging)?;
    let mut page = Filling::new(limit);
    let mut look = limit.min(LOOK_MAX);
    for _ in 0..LOOKS_MAX {
        let found = app.stores().graph.list_derived(&space, T::KIND, after, look).await?;
        let ended = found.len() < look;
        for derived in found {
            after = Some(derived.id().id);
            if let Some(item) = T::from_derived(derived).and_then(&keep) {
                page.add_item(item);
            }
            if page.is_full() {
                let next = after.map(|it| cursors.cursor_after(it)).transpose()?;
                return Ok(L::from_items(page.items, next));
            }
        }
        if ended {
            return Ok(L::from_items(page.items, None));
        }
        look = (look * 2).min(LOOK_MAX);
    }
    let next = after.map(|it| cursors.cursor_after(it)).transpose()?;
    Ok(L::from_items(page.items, next))
}

/// Returns one item of a space by its id.
pub(crate) async fn get_derived_item<T: DerivedItem>(
    app: &App,
    access: &Access,
    name: &str,
    id: &str,
) -> Result<(SpaceId, T), Problem> {
    let space = access.authorize_space(name, Right::Read)?;
    app.require_space(&space).await?;
    let id = Uuid::parse_str(id).map_err(|_| missing_item_problem(&space, T::NAME, T::LIST))?;
    let found = find_derived_item(app, &space, id).await?;
    Ok((space, found))
}

/// Returns one item of an existing space, or the problem that it does not exist.
pub(crate) async fn find_derived_item<T: DerivedItem>(app: &App, space: &SpaceId, id: Uuid) -> Result<T, Problem> {
    let id = DerivedId { kind: T::KIND, id };
    let found = app.stores().graph.derived(space, &[id]).await?.into_iter().next();
    found
        .and_then(T::from_derived)
        .ok_or_else(|| missing_item_problem(space, T::NAME, T::LIST))
}

/// Returns the problem that no item has this id; it names the list with valid ids.
pub(crate) fn missing_item_problem(space: &SpaceId, what: &str, list: &str) -> Problem {
    Problem::not_found(format!(
        "there is no {what} with this id in `{space}`; use an id from its {list}"
    ))
}

/// Returns the problem that the item was not known yet at that time.
pub(crate) fn not_yet(what: &str) -> Problem {
    Problem::not_found(format!(
        "this {what} did not exist yet; use a later `as_of`, or leave it out"
    ))
}

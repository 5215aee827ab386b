//! Derived items that are stored under an id: lookup by id, and lists in pages.

use axum::Json;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::SpaceId;
use domain::merge::{Merge, Standing};
use domain::page::Page;
use domain::topic::{Member, Topic};
use uuid::Uuid;

use crate::auth::Access;
use crate::config::Right;
use crate::cursor::{Cursors, Listed, Paged};
use crate::filling::Filling;
use crate::problem::Problem;
use crate::state::App;

/// Maximum number of reads from the store for one page of a filtered list.
const LOOKS_MAX: usize = 40;
/// Maximum number of items in one read.
const LOOK_MAX: usize = 500;

/// A kind of derived item.
pub(crate) trait Kept: Sized {
    /// The kind in the store.
    const KIND: DerivedKind;
    /// Name of the kind in a problem.
    const NAME: &'static str;
    /// Last part of the path of the list, after the space.
    const LIST: &'static str;

    /// Returns the item; `None` if it is of another kind.
    fn take(derived: Derived) -> Option<Self>;
}

macro_rules! kept {
    ($($kind:ident called $name:literal in $list:literal;)*) => {$(
        impl Kept for $kind {
            const KIND: DerivedKind = DerivedKind::$kind;
            const NAME: &'static str = $name;
            const LIST: &'static str = $list;

            fn take(derived: Derived) -> Option<$kind> {
                if let Derived::$kind(it) = derived { Some(it) } else { None }
            }
        }
    )*};
}

kept! {
    Fact called "fact" in "facts";
    Entity called "entity" in "entities";
    Topic called "topic" in "topics";
    Member called "member" in "topics";
    Page called "page" in "pages";
    Merge called "merge" in "merges";
    Standing called "unit" in "units";
}

/// Returns a page of a list in a space: the items for which `keep` returns a value, by id.
pub(crate) async fn list<T: Kept, L: Listed>(
    app: &App,
    (access, name): (&Access, &str),
    paging: &impl Paged,
    keep: impl Fn(T) -> Option<L::Item>,
) -> Result<Json<L>, Problem> {
    let space = access.enter(name, Right::Read)?;
    app.space(&space).await?;
    let limit = paging.limit()?;
    let cursors = Cursors::of(app, T::LIST, space.as_str(), paging).await?;
    let mut after: Option<Uuid> = cursors.start(paging)?;
    let mut page = Filling::new(limit);
    let mut look = limit.min(LOOK_MAX);
    for _ in 0..LOOKS_MAX {
        let found = app.stores().graph.list_derived(&space, T::KIND, after, look).await?;
        let ended = found.len() < look;
        for derived in found {
            after = Some(derived.id().id);
            if let Some(item) = T::take(derived).and_then(&keep) {
                page.take(item);
            }
            if page.is_full() {
                let next = after.map(|it| cursors.behind(it)).transpose()?;
                return Ok(Json(L::page(page.items, next)));
            }
        }
        if ended {
            return Ok(Json(L::page(page.items, None)));
        }
        look = (look * 2).min(LOOK_MAX);
    }
    let next = after.map(|it| cursors.behind(it)).transpose()?;
    Ok(Json(L::page(page.items, next)))
}

/// Returns one item of a space by its id.
pub(crate) async fn get<T: Kept>(
    app: &App,
    access: &Access,
    (name, id): (&str, &str),
) -> Result<(SpaceId, T), Problem> {
    let space = access.enter(name, Right::Read)?;
    app.space(&space).await?;
    let id = Uuid::parse_str(id).map_err(|_| missing(&space, T::NAME, T::LIST))?;
    let found = find(app, &space, id).await?;
    Ok((space, found))
}

/// Returns one item of an existing space, or the problem that it does not exist.
pub(crate) async fn find<T: Kept>(app: &App, space: &SpaceId, id: Uuid) -> Result<T, Problem> {
    let id = DerivedId { kind: T::KIND, id };
    let found = app.stores().graph.derived(space, &[id]).await?.into_iter().next();
    found.and_then(T::take).ok_or_else(|| missing(space, T::NAME, T::LIST))
}

/// Returns the problem that no item has this id; it names the list with valid ids.
pub(crate) fn missing(space: &SpaceId, what: &str, list: &str) -> Problem {
    Problem::not_found(format!(
        "there is no {what} of this id in `{space}`; take ids from its {list}"
    ))
}

/// Returns the problem that the item was not known yet at that time.
pub(crate) fn not_yet(what: &str) -> Problem {
    Problem::not_found(format!(
        "there was nothing of this {what} yet; ask for a later `as_of`, or for none"
    ))
}

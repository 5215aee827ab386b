//! What is derived and kept under an id: found by it, and listed page by page.

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

/// Looks into the store for one page of a restricted list.
const LOOKS_MAX: usize = 40;
/// Most things read by one look.
const LOOK_MAX: usize = 500;

/// A kind of what is derived.
pub(crate) trait Kept: Sized {
    /// Its kind in the store.
    const KIND: DerivedKind;
    /// What it is called in a problem.
    const NAME: &'static str;
    /// What lists it, behind the space.
    const LIST: &'static str;

    /// Takes it out; none if it is of another kind.
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

/// Answers a list of a space: those things that `keep` keeps, as it shows them, by id.
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

/// Answers one thing of a space by its id.
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

/// Returns one thing of a space that exists, or the problem that there is none.
pub(crate) async fn find<T: Kept>(app: &App, space: &SpaceId, id: Uuid) -> Result<T, Problem> {
    let id = DerivedId { kind: T::KIND, id };
    let found = app.stores().graph.derived(space, &[id]).await?.into_iter().next();
    found.and_then(T::take).ok_or_else(|| missing(space, T::NAME, T::LIST))
}

/// The problem that nothing has this id, and where ids come from.
pub(crate) fn missing(space: &SpaceId, what: &str, list: &str) -> Problem {
    Problem::not_found(format!(
        "there is no {what} of this id in `{space}`; take ids from its {list}"
    ))
}

/// The problem that what has this id was not known yet.
pub(crate) fn not_yet(what: &str) -> Problem {
    Problem::not_found(format!(
        "there was nothing of this {what} yet; ask for a later `as_of`, or for none"
    ))
}

//! Pages of a space: their list, and one page as of a moment.

use chrono::{DateTime, Utc};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{PageId, SpaceId};
use domain::page::{Page, PageStatus};

use crate::api::problem::Problem;
use crate::api::{PageFilter, PageHead, PagePage};
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::use_cases::lists::derived_items::{self, DerivedItem};
use crate::use_cases::recall::recall_ledger;
use crate::use_cases::validate::parse_as_of;

/// Returns a page of the list of pages of the space `name`, if the key may read the space.
pub(crate) async fn list_pages(
    app: &App,
    access: &Access,
    name: &str,
    filter: &PageFilter,
) -> Result<PagePage, Problem> {
    let as_of = parse_as_of(filter.as_of.as_deref())?;
    let keep = |page: Page| {
        if filter.dimension.is_some_and(|it| it != page.dimension) {
            return None;
        }
        let page = page_known_at(page, as_of)?;
        let offered = filter.archived == Some(true) || page.status == PageStatus::Active;
        offered.then(|| PageHead::from(page))
    };
    derived_items::list_derived_items(app, access, name, filter, keep).await
}

/// Returns a page by space and id, as of a moment if one is given, and records that it was read.
pub(crate) async fn read_page(
    app: &App,
    access: &Access,
    name: &str,
    id: &str,
    as_of: Option<DateTime<Utc>>,
) -> Result<Page, Problem> {
    let (space, page): (SpaceId, Page) = derived_items::get_derived_item(app, access, name, id).await?;
    let mut page = page_known_at(page, as_of).ok_or_else(|| match as_of {
        Some(_) => derived_items::not_yet("page"),
        None => derived_items::missing_item_problem(&space, "page", "pages"),
    })?;
    let targets: Vec<DerivedId> = page.links.iter().map(|it| derived_page(it.page)).collect();
    let targets = app.stores().graph.derived(&space, &targets).await?;
    let there = |it: Derived| Some(page_known_at(Page::from_derived(it)?, as_of)?.id);
    let there: Vec<PageId> = targets.into_iter().filter_map(there).collect();
    page.links.retain(|it| there.contains(&it.page));
    recall_ledger::note_page_read(app, &space, page.id).await;
    Ok(page)
}

/// Returns a page as it is now or was at `as_of`; `None` if it is empty then.
fn page_known_at(page: Page, as_of: Option<DateTime<Utc>>) -> Option<Page> {
    match as_of {
        Some(as_of) => page.known_at(as_of),
        None => page.without_former_lines(),
    }
}

fn derived_page(page: PageId) -> DerivedId {
    DerivedId {
        kind: DerivedKind::Page,
        id: page.uuid(),
    }
}

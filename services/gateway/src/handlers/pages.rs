use axum::extract::State;
use axum::{Extension, Json};
use chrono::{DateTime, Utc};
use domain::code::DegradedCode;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{PageId, SpaceId, TopicId, UnitId};
use domain::page::{Page, PageStatus};
use domain::port::Graph;
use domain::topic::{Member, Topic};
use uuid::Uuid;

use crate::api::{AsOf, PageFilter, PageHead, PagePage, TopicFilter, TopicMember, TopicPage, TopicView};
use crate::auth::Access;
use crate::extract::{At, Params};
use crate::handlers::memory::moment;
use crate::kept::Kept;
use crate::problem::Problem;
use crate::state::App;
use crate::{kept, ledger, standing};

/// Number of members in the response for a topic.
const MEMBERS_MAX: usize = 100;
/// Number of members read in one step, and number of steps. The bound follows the largest space measured.
const LOOK: usize = 1_000;
const LOOKS_MAX: usize = 100;

/// Lists topics: clusters of event units.
#[utoipa::path(get, path = "/v1/spaces/{space}/topics", tag = "memory", params(("space" = SpaceId, Path), TopicFilter), responses(
    (status = 200, description = "A page of topics", body = TopicPage),
))]
pub(crate) async fn topics(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(filter): Params<TopicFilter>,
) -> Result<Json<TopicPage>, Problem> {
    let as_of = moment(filter.as_of.as_deref())?;
    let keep = |topic: Topic| match as_of {
        Some(as_of) => topic.known_at(as_of),
        None => Some(topic),
    };
    kept::list(&app, (&access, &name), &filter, keep).await
}

/// Returns one topic with its closest event units.
#[utoipa::path(get, path = "/v1/spaces/{space}/topics/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = TopicId, Path), AsOf), responses(
    (status = 200, description = "The topic", body = TopicView),
))]
pub(crate) async fn topic(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
    Params(params): Params<AsOf>,
) -> Result<Json<TopicView>, Problem> {
    let as_of = moment(params.as_of.as_deref())?;
    let (space, mut topic): (SpaceId, Topic) = kept::get(&app, &access, (&name, &id)).await?;
    if let Some(as_of) = as_of {
        topic = topic.known_at(as_of).ok_or_else(|| kept::not_yet("topic"))?;
    }
    let graph = &*app.stores().graph;
    let (nearest, all) = nearest(graph, &space, topic.id).await?;
    let ids: Vec<UnitId> = nearest.iter().map(|it| it.unit).collect();
    let units = graph.units(&space, &ids).await?;
    let known = units
        .into_iter()
        .filter(|it| as_of.is_none_or(|as_of| it.observed_at <= as_of));
    let units = standing::shown(&app, &space, known.collect(), as_of).await?;
    let shown = units.into_iter().filter_map(|unit| {
        let member = nearest.iter().find(|it| it.unit == unit.unit.id)?;
        Some(TopicMember {
            similarity: member.similarity,
            unit,
        })
    });
    let members = shown.collect();
    let looked_at = LOOK * LOOKS_MAX;
    let few = || format!("only {looked_at} members of all topics were looked at; nearer ones may be missing");
    let code = || DegradedCode::MembersIncomplete.name().to_owned();
    Ok(Json(TopicView {
        topic,
        members,
        degraded: (!all).then(few).into_iter().collect(),
        degraded_codes: (!all).then(code).into_iter().collect(),
    }))
}

/// Lists pages, without their sections.
#[utoipa::path(get, path = "/v1/spaces/{space}/pages", tag = "memory", params(("space" = SpaceId, Path), PageFilter), responses(
    (status = 200, description = "A page of pages", body = PagePage),
))]
pub(crate) async fn pages(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(filter): Params<PageFilter>,
) -> Result<Json<PagePage>, Problem> {
    list_pages(&app, &access, &name, &filter).await.map(Json)
}

/// Returns a page of the list of pages of the space `name`, if the key may read the space.
pub(crate) async fn list_pages(
    app: &App,
    access: &Access,
    name: &str,
    filter: &PageFilter,
) -> Result<PagePage, Problem> {
    let as_of = moment(filter.as_of.as_deref())?;
    let keep = |page: Page| {
        if filter.dimension.is_some_and(|it| it != page.dimension) {
            return None;
        }
        let page = known(page, as_of)?;
        let offered = filter.archived == Some(true) || page.status == PageStatus::Active;
        offered.then(|| PageHead::from(page))
    };
    kept::list(app, (access, name), filter, keep).await.map(|Json(it)| it)
}

/// Returns one page, archived or not, and records that it was read.
#[utoipa::path(get, path = "/v1/spaces/{space}/pages/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = PageId, Path), AsOf), responses(
    (status = 200, description = "The page", body = Page),
))]
pub(crate) async fn page(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
    Params(params): Params<AsOf>,
) -> Result<Json<Page>, Problem> {
    let as_of = moment(params.as_of.as_deref())?;
    read_page(&app, &access, &name, &id, as_of).await.map(Json)
}

/// Returns a page by space and id, as of a moment if one is given, and records that it was read.
pub(crate) async fn read_page(
    app: &App,
    access: &Access,
    name: &str,
    id: &str,
    as_of: Option<DateTime<Utc>>,
) -> Result<Page, Problem> {
    let (space, page): (SpaceId, Page) = kept::get(app, access, (name, id)).await?;
    let mut page = known(page, as_of).ok_or_else(|| match as_of {
        Some(_) => kept::not_yet("page"),
        None => kept::missing(&space, "page", "pages"),
    })?;
    let targets: Vec<DerivedId> = page.links.iter().map(|it| derived_page(it.page)).collect();
    let targets = app.stores().graph.derived(&space, &targets).await?;
    let there = |it: Derived| Some(known(Page::take(it)?, as_of)?.id);
    let there: Vec<PageId> = targets.into_iter().filter_map(there).collect();
    page.links.retain(|it| there.contains(&it.page));
    ledger::read(app, &space, page.id).await;
    Ok(page)
}

/// Returns a page as it is now or was at `as_of`; `None` if it is empty then.
fn known(page: Page, as_of: Option<DateTime<Utc>>) -> Option<Page> {
    match as_of {
        Some(as_of) => page.known_at(as_of),
        None => page.now(),
    }
}

/// Returns the members of a topic that are nearest to its centre, ties by id, and whether all members were examined:
/// members are stored by unit.
async fn nearest(graph: &dyn Graph, space: &SpaceId, topic: TopicId) -> Result<(Vec<Member>, bool), Problem> {
    let mut nearest: Vec<Member> = Vec::new();
    let mut after: Option<Uuid> = None;
    for _ in 0..LOOKS_MAX {
        let found = graph.list_derived(space, DerivedKind::Member, after, LOOK).await?;
        let ended = found.len() < LOOK;
        after = found.last().map(|it| it.id().id);
        nearest.extend(
            found
                .into_iter()
                .filter_map(Member::take)
                .filter(|it| it.topic == topic),
        );
        nearest.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.unit.cmp(&b.unit)));
        nearest.truncate(MEMBERS_MAX);
        if ended {
            return Ok((nearest, true));
        }
    }
    Ok((nearest, false))
}

fn derived_page(page: PageId) -> DerivedId {
    DerivedId {
        kind: DerivedKind::Page,
        id: page.uuid(),
    }
}

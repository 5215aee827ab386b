use axum::extract::State;
use axum::{Extension, Json};
use domain::code::DegradedCode;
use domain::derived::DerivedKind;
use domain::id::{PageId, SpaceId, TopicId, UnitId};
use domain::page::Page;
use domain::port::Graph;
use domain::topic::{Member, Topic};
use uuid::Uuid;

use crate::api::problem::Problem;
use crate::api::{AsOf, PageFilter, PagePage, TopicFilter, TopicMember, TopicPage, TopicView};
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{PathParameters, QueryParameters};
use crate::use_cases::lists::derived_items::{self, DerivedItem};
use crate::use_cases::lists::merged_units;
use crate::use_cases::lists::pages::{list_pages, read_page};
use crate::use_cases::validate::parse_as_of;

/// Number of members in the response for a topic.
const MEMBERS_MAX: usize = 100;
/// Number of members read in one step.
const LOOK: usize = 1_000;
/// Maximum number of steps, chosen for the largest space that was measured.
const LOOKS_MAX: usize = 100;

/// Lists topics: clusters of event units.
#[utoipa::path(get, path = "/v1/spaces/{space}/topics", tag = "memory", params(("space" = SpaceId, Path), TopicFilter), responses(
    (status = 200, description = "A page of topics", body = TopicPage),
))]
pub(crate) async fn topics(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<TopicFilter>,
) -> Result<Json<TopicPage>, Problem> {
    let as_of = parse_as_of(filter.as_of.as_deref())?;
    let keep = |topic: Topic| match as_of {
        Some(as_of) => topic.known_at(as_of),
        None => Some(topic),
    };
    let listed = derived_items::list_derived_items(&app, &access, &name, &filter, keep).await;
    listed.map(Json)
}

/// Returns one topic with its closest event units.
#[utoipa::path(get, path = "/v1/spaces/{space}/topics/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = TopicId, Path), AsOf), responses(
    (status = 200, description = "The topic", body = TopicView),
))]
pub(crate) async fn topic(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    QueryParameters(params): QueryParameters<AsOf>,
) -> Result<Json<TopicView>, Problem> {
    let as_of = parse_as_of(params.as_of.as_deref())?;
    let (space, mut topic): (SpaceId, Topic) = derived_items::get_derived_item(&app, &access, &name, &id).await?;
    if let Some(as_of) = as_of {
        topic = topic.known_at(as_of).ok_or_else(|| derived_items::not_yet("topic"))?;
    }
    let graph = &*app.stores().graph;
    let (nearest, all) = find_nearest_members(graph, &space, topic.id).await?;
    let ids: Vec<UnitId> = nearest.iter().map(|it| it.unit).collect();
    let units = graph.units(&space, &ids).await?;
    let known = units
        .into_iter()
        .filter(|it| as_of.is_none_or(|as_of| it.observed_at <= as_of));
    let units = merged_units::units_with_merges(&app, &space, known.collect(), as_of).await?;
    let shown = units.into_iter().filter_map(|unit| {
        let member = nearest.iter().find(|it| it.unit == unit.unit.id)?;
        Some(TopicMember {
            similarity: member.similarity,
            unit,
        })
    });
    let members = shown.collect();
    let looked_at = LOOK * LOOKS_MAX;
    let few = || format!("only {looked_at} members of all topics were examined; nearer ones may be missing");
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
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<PageFilter>,
) -> Result<Json<PagePage>, Problem> {
    list_pages(&app, &access, &name, &filter).await.map(Json)
}

/// Returns one page, archived or not, and records that it was read.
#[utoipa::path(get, path = "/v1/spaces/{space}/pages/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = PageId, Path), AsOf), responses(
    (status = 200, description = "The page", body = Page),
))]
pub(crate) async fn page(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    QueryParameters(params): QueryParameters<AsOf>,
) -> Result<Json<Page>, Problem> {
    let as_of = parse_as_of(params.as_of.as_deref())?;
    read_page(&app, &access, &name, &id, as_of).await.map(Json)
}

/// Returns the members of a topic that are nearest to its centre, ties by id, and whether all members were examined:
/// members are stored by unit.
async fn find_nearest_members(
    graph: &dyn Graph,
    space: &SpaceId,
    topic: TopicId,
) -> Result<(Vec<Member>, bool), Problem> {
    let mut nearest: Vec<Member> = Vec::new();
    let mut after: Option<Uuid> = None;
    for _ in 0..LOOKS_MAX {
        let found = graph.list_derived(space, DerivedKind::Member, after, LOOK).await?;
        let ended = found.len() < LOOK;
        after = found.last().map(|it| it.id().id);
        nearest.extend(
            found
                .into_iter()
                .filter_map(Member::from_derived)
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

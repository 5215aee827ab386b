//! Profiles and summaries: the current derived data about an entity. They need no job to create them.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::{Extension, Json};
use chrono::{DateTime, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::SpaceId;
use domain::page::{Dimension, Page, PageStatus};
use host::clock;
use serde_json::{Map, Value, json};
use text::facts::fact_sentence;

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, PathParameters};
use crate::mem0::memories::list::{filter_of, spaces_to_search};
use crate::mem0::requests::errors::beyond_bounds_problem;
use crate::mem0::requests::request::Fields;
use crate::mem0::requests::scope::{Entity, Kind, check_entity_name};
use crate::use_cases::lists::derived_items::DerivedItem;

/// Maximum number of facts and of pages read for one profile.
const FACTS_MAX: usize = 10_000;
const PAGES_MAX: usize = 2_000;
/// Number of items read in one step.
const AT_ONCE: usize = 200;
/// Maximum number of facts of an aspect, and of pages of a kind, in a profile; the newest are shown.
const SHOWN: usize = 20;
/// Number of lines of a summary for each user.
const LINES: usize = 20;
/// Maximum number of users of one summary.
const USERS_MAX: usize = 16;

/// Returns the profile of an entity.
pub(crate) async fn get_profile(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((kind, name)): PathParameters<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let kind =
        Kind::from_name(&kind).ok_or_else(|| Problem::not_found("the kinds are users, agents, apps and runs"))?;
    let space = space_of(&app, &access, kind, &name).await?;
    let profile = Profile::read_space(&app, &space, clock::now()).await?;
    Ok(Json(json!({
        "profile": profile.to_json(),
        "status": profile.status_name(),
        "entity_type": kind.name(),
        "entity_id": name,
        "updated_at": profile.updated_at,
        "generation_count": profile.turn,
        "error": null,
        "truncated": profile.is_cut,
    })))
}

/// Returns a summary of the data about users.
pub(crate) async fn get_summary(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let filter = filter_of(&fields)?;
    let spaces = spaces_to_search(&app, &access, &filter, Right::Read).await?;
    if !filter.is_scope_alone() {
        return Err(Problem::invalid_request(
            "filters: for a summary must name one kind (users, agents, apps or runs) and nothing else; use get_all() for some of their memories",
        ));
    }
    if spaces.len() > USERS_MAX {
        return Err(beyond_bounds_problem(format!(
            "filters: name {} users, and {USERS_MAX} are summarised at once; name fewer",
            spaces.len()
        )));
    }
    let now = clock::now();
    let mut lines = Vec::new();
    let mut updated_at = None;
    for space in &spaces {
        let profile = Profile::read_space(&app, space, now).await?;
        updated_at = updated_at.max(profile.updated_at);
        lines.extend(profile.summary_lines());
    }
    Ok(Json(json!({
        "status": "SUCCEEDED",
        "summary": lines.join("\n"),
        "users": spaces.len(),
        "updated_at": updated_at,
    })))
}

/// Returns the space of an existing entity.
///
/// # Errors
/// 404 if the entity does not exist, or the key does not open its space.
pub(crate) async fn space_of(app: &App, access: &Access, kind: Kind, name: &str) -> Result<SpaceId, Problem> {
    check_entity_name(kind, name)?;
    let entity = Entity {
        kind,
        name: name.to_owned(),
    };
    let space = entity.to_space_id(&app.config.mem0.space_prefix)?;
    let unknown = || Problem::not_found(format!("there is no {} with this name", kind.name()));
    let entered = access.authorize_space(space.as_str(), Right::Read);
    let space = entered.map_err(|it| if it.is_unknown_space() { unknown() } else { it })?;
    let info = app.stores().records.space(&space).await?;
    info.map(|it| it.space).ok_or_else(unknown)
}

/// Derived data about an entity.
pub(crate) struct Profile {
    /// Facts that hold now, by aspect, the newest first.
    facts: BTreeMap<&'static str, Vec<Dated>>,
    /// Active pages, by dimension, the newest first.
    pages: BTreeMap<Dimension, Vec<Dated>>,
    updated_at: Option<DateTime<Utc>>,
    /// Number of derivations so far.
    turn: u64,
    /// Whether records still wait for derivation.
    is_behind: bool,
    /// Whether there is more data than was read.
    is_cut: bool,
}

/// A line of a profile.
struct Dated {
    at: DateTime<Utc>,
    /// Title of a page; empty for a fact.
    title: String,
    text: String,
}

impl Profile {
    /// Reads the derived data of a space; they are empty for a space that does not exist.
    pub(crate) async fn read_space(app: &App, space: &SpaceId, now: DateTime<Utc>) -> Result<Profile, Problem> {
        let mut profile = Profile {
            facts: BTreeMap::new(),
            pages: BTreeMap::new(),
            updated_at: None,
            turn: 0,
            is_behind: app.backlog_of_space(space).await? + app.count_deriving_batches(space).await? > 0,
            is_cut: false,
        };
        let are_facts_cut = for_each_derived(app, space, FACTS_MAX, |it: Fact| profile.take_fact(it, now)).await?;
        let are_pages_cut = for_each_derived(app, space, PAGES_MAX, |it: Page| profile.take_page(it)).await?;
        profile.is_cut = are_facts_cut || are_pages_cut;
        // Read last, so that a profile with data never has zero derivations.
        profile.turn = app.stores().graph.derived_write_count(space).await?;
        let lines = profile.facts.values_mut().chain(profile.pages.values_mut());
        for lines in lines {
            // The sort is stable, so ties stay in the order of their ids.
            lines.sort_by_key(|it| std::cmp::Reverse(it.at));
        }
        Ok(profile)
    }

    fn take_fact(&mut self, fact: Fact, now: DateTime<Utc>) {
        if !fact.holds_at(now) {
            return;
        }
        self.updated_at = self.updated_at.max(Some(fact.recorded_at));
        self.facts.entry(fact.aspect.name()).or_default().push(Dated {
            at: fact.recorded_at,
            title: String::new(),
            text: fact_sentence(&fact),
        });
    }

    fn take_page(&mut self, page: Page) {
        let Some(page) = page.without_former_lines().filter(|it| it.status == PageStatus::Active) else {
            return;
        };
        self.updated_at = self.updated_at.max(Some(page.updated_at));
        self.pages.entry(page.dimension).or_default().push(Dated {
            at: page.updated_at,
            title: page.title,
            text: page.summary,
        });
    }

    /// Returns true if nothing has been derived yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.pages.is_empty()
    }

    /// Returns true if records still wait for derivation.
    pub(crate) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Returns the state in the terms of mem0.
    fn status_name(&self) -> &'static str {
        match (self.is_empty(), self.is_behind) {
            (false, _) => "succeeded",
            (true, true) => "pending",
            (true, false) => "insufficient_data",
        }
    }

    /// Returns the profile in the form of mem0: sentences by aspect, and the titles of pages.
    fn to_json(&self) -> Value {
        let facts = Aspect::ALL.iter().filter_map(|it| {
            let texts = self.facts.get(it.name())?.iter().take(SHOWN);
            Some((it.name().to_owned(), texts.map(|it| it.text.as_str()).collect()))
        });
        let pages = |dimension: Dimension| -> Vec<Value> {
            let pages = self.pages.get(&dimension).into_iter().flatten().take(SHOWN);
            pages.map(|it| json!({"title": it.title, "summary": it.text})).collect()
        };
        json!({
            "facts": facts.collect::<Map<String, Value>>(),
            "people": pages(Dimension::Figure),
            "places": pages(Dimension::Place),
            "preferences": pages(Dimension::Preference),
            "topics": pages(Dimension::Topic),
        })
    }

    /// Returns the lines of a summary: pages of people, preferences, topics and places, then facts if there is room.
    fn summary_lines(&self) -> Vec<String> {
        let dimensions = [
            Dimension::Figure,
            Dimension::Preference,
            Dimension::Topic,
            Dimension::Place,
        ];
        let pages = dimensions.iter().filter_map(|it| self.pages.get(it)).flatten();
        let pages = pages.map(|it| format!("{}: {}", it.title, it.text));
        let facts = Aspect::ALL.iter().filter_map(|it| self.facts.get(it.name())).flatten();
        let facts = facts.map(|it| format!("{}.", it.text.trim_end_matches('.')));
        pages.chain(facts).take(LINES).collect()
    }
}

/// Passes derived items of one kind in a space to `take`, by id. Returns true if there may be more than were read.
async fn for_each_derived<T: DerivedItem>(
    app: &App,
    space: &SpaceId,
    most: usize,
    mut take: impl FnMut(T),
) -> Result<bool, Problem> {
    let (mut after, mut read_count) = (None, 0);
    while read_count < most {
        let found = app.stores().graph.list_derived(space, T::KIND, after, AT_ONCE).await?;
        read_count += found.len();
        let is_last = found.len() < AT_ONCE;
        after = found.last().map(|it| it.id().id);
        found.into_iter().filter_map(T::from_derived).for_each(&mut take);
        if is_last {
            return Ok(false);
        }
    }
    Ok(true)
}

//! The list of facts.

use domain::fact::Fact;
use host::clock;

use crate::api::problem::Problem;
use crate::api::{FactFilter, FactPage};
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::use_cases::lists::derived_items::list_derived_items;
use crate::use_cases::validate::name_filter::{case_folded_name, is_same_name};
use crate::use_cases::validate::parse_as_of;

/// Returns a page of the facts of the space called `name`, if the key may read it.
pub(crate) async fn list_facts(
    app: &App,
    access: &Access,
    name: &str,
    filter: &FactFilter,
) -> Result<FactPage, Problem> {
    let as_of = parse_as_of(filter.as_of.as_deref())?;
    let now = as_of.unwrap_or_else(clock::now);
    let subject = case_folded_name("subject", filter.subject.as_deref())?;
    let predicate = case_folded_name("predicate", filter.predicate.as_deref())?;
    let keep = |fact: Fact| {
        let fact = match as_of {
            Some(as_of) => fact.known_at(as_of)?,
            None => fact,
        };
        let about =
            |it: &String| is_same_name(&fact.subject, it) || fact.entity.is_some_and(|id| id.to_string() == *it);
        let wanted = subject.as_ref().is_none_or(about)
            && predicate.as_ref().is_none_or(|it| is_same_name(&fact.predicate, it))
            && filter.aspect.is_none_or(|it| it == fact.aspect)
            && filter.origin.is_none_or(|it| it == fact.origin)
            && filter.current.is_none_or(|it| it == fact.holds_at(now));
        wanted.then_some(fact)
    };
    list_derived_items(app, access, name, filter, keep).await
}

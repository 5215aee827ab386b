//! Pages of lists, and their filters.

use domain::curation::Curation;
use domain::entity::Entity;
use domain::fact::{Aspect, Fact, Origin};
use domain::merge::{Merge, MergeOf};
use domain::page::Dimension;
use domain::topic::Topic;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::problem::Problem;
use crate::api::{ApiKey, DeadLetter, Erasure, PageHead, Record, Space, UnitView};

const LIMIT_DEFAULT: u32 = 100;
const LIMIT_MAX: u32 = 1_000;

/// A page of a list.
pub(crate) trait ListPage {
    /// The type of the items.
    type Item: Serialize;

    /// Returns a page of the items and the `after` of the next page.
    fn from_items(items: Vec<Self::Item>, next: Option<String>) -> Self;
}

/// Parameters that select a page.
pub(crate) trait Paged {
    /// Returns the cursor in the request.
    fn after_cursor(&self) -> Option<&str>;

    /// Returns the number of items in the request.
    fn requested_limit(&self) -> Option<u32>;

    /// Returns the filters of the list, as text.
    fn filter_text(&self) -> Result<String, Problem>;

    /// Returns the maximum number of items of the page.
    fn page_limit(&self) -> Result<usize, Problem> {
        match self.requested_limit().unwrap_or(LIMIT_DEFAULT) {
            limit @ 1..=LIMIT_MAX => Ok(limit as usize),
            _ => Err(Problem::invalid_request(format!("limit: must be 1 to {LIMIT_MAX}"))),
        }
    }
}

macro_rules! listed {
    ($($(#[$doc:meta])* $name:ident of #[$order:meta] $item:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
        pub struct $name {
            #[$order]
            pub items: Vec<$item>,
            /// The `after` of the next page; left out on the last page.
            pub next: Option<String>,
        }

        impl ListPage for $name {
            type Item = $item;

            fn from_items(items: Vec<$item>, next: Option<String>) -> $name {
                $name { items, next }
            }
        }
    )*};
}

listed! {
    /// A page of spaces.
    SpacePage of #[doc = "By name."] Space;
    /// A page of records.
    RecordPage of #[doc = "In the order in which they were stored."] Record;
    /// A page of units.
    UnitPage of #[doc = "In the order of their latest changes; units that were replaced are left out."] UnitView;
    /// A page of facts.
    FactPage of #[doc = "By id."] Fact;
    /// A page of entities.
    EntityPage of #[doc = "By id."] Entity;
    /// A page of topics.
    TopicPage of #[doc = "By id."] Topic;
    /// A page of the list of pages.
    PagePage of #[doc = "By id, without their sections."] PageHead;
    /// A page of merges.
    MergePage of #[doc = "By id."] Merge;
    /// A page of decisions by people.
    CurationPage of #[doc = "By id."] Curation;
    /// A page of receipts of erasures.
    ErasurePage of #[doc = "By id."] Erasure;
    /// A page of keys.
    ApiKeyPage of #[doc = "By name."] ApiKey;
    /// A page of dead letters.
    DeadLetterPage of #[doc = "By number, or space by space if the key does not open every space."] DeadLetter;
}

macro_rules! filters {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
        #[serde(default, deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub struct $name {
            /// The `next` of the previous page; leave it out for the first page.
            pub after: Option<String>,
            /// Maximum number of items, 1 to 1000; default 100. A page of a filtered list, or a page of 4 MiB, may have
            /// fewer items and still a `next`.
            #[param(minimum = 1, maximum = 1000)]
            pub limit: Option<u32>,
            $($(#[$about])* pub $field: Option<$kind>,)*
        }

        impl Paged for $name {
            fn after_cursor(&self) -> Option<&str> {
                self.after.as_deref()
            }

            fn requested_limit(&self) -> Option<u32> {
                self.limit
            }

            fn filter_text(&self) -> Result<String, Problem> {
                let mut every = self.clone();
                every.after = None;
                every.limit = None;
                serde_json::to_string(&every).map_err(|_| Problem::internal_error())
            }
        }
    )*};
}

filters! {
    /// The page of a list to return.
    Paging {}

    /// Filters of the list of records.
    RecordFilter {
        /// Only records of this session: your name for it, or Mnemic's id.
        #[param(min_length = 1, max_length = 256)]
        session: String,
        /// Only records of this actor; letter case is ignored.
        #[param(min_length = 1, max_length = 256)]
        actor: String,
        /// Only records observed at or after this time. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        from: String,
        /// Only records observed before this time.
        #[param(format = DateTime)]
        until: String,
        /// Only records with this tag; if given more than once, only those with all of the tags.
        #[param(min_length = 1, max_length = 128)]
        tag: String,
        /// Only records that match a filter on tags and metadata, as JSON:
        /// `{"tags": {"any": ["a", "b"]}, "metadata": {"key": "lang", "eq": "de"}}`.
        #[param(max_length = 16_384)]
        filter: String,
    }

    /// Filters of the list of units.
    UnitFilter {
        /// Only units of this session: your name for it, or Mnemic's id.
        #[param(min_length = 1, max_length = 256)]
        session: String,
        /// Only units whose actor is this one; letter case is ignored. An event with several actors matches none of
        /// them.
        #[param(min_length = 1, max_length = 256)]
        actor: String,
        /// Only units observed at or before this time. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
        /// Only turn units of records with this tag; if given more than once, only those with all of the tags.
        #[param(min_length = 1, max_length = 128)]
        tag: String,
        /// Only units that match a filter on tags and metadata, as JSON:
        /// `{"tags": {"any": ["a", "b"]}, "metadata": {"key": "lang", "eq": "de"}}`.
        #[param(max_length = 16_384)]
        filter: String,
    }

    /// Filters of the list of facts.
    FactFilter {
        /// The subject of the fact: its name (letter case is ignored), or the id of the entity.
        #[param(min_length = 1, max_length = 256)]
        subject: String,
        /// The predicate; letter case is ignored. For example `likes`, `lives in`.
        #[param(min_length = 1, max_length = 256)]
        predicate: String,
        /// The group of predicates.
        aspect: Aspect,
        /// `true`: only facts that hold at `as_of`, or now; `false`: only facts that do not hold or were withdrawn.
        current: bool,
        /// Only facts that the rules derived (`rule`), or only those that a language model derived (`model`).
        origin: Origin,
        /// Facts as known at this time. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// Filters of the list of entities.
    EntityFilter {
        /// The name, an alias or a role ("Ann's sister"); letter case is ignored.
        #[param(min_length = 1, max_length = 256)]
        name: String,
        /// Only entities named at or before this time. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// Filters of the list of topics.
    TopicFilter {
        /// Only topics mentioned at or before this time; label and number are the current ones. RFC 3339, or ISO 8601
        /// in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// Filters of the list of pages.
    PageFilter {
        /// Only pages of this dimension.
        dimension: Dimension,
        /// Whether the list includes archived pages; default `false`.
        archived: bool,
        /// Pages as of this time. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// Form of the list of readings.
    ReadingFilter {
        /// Whether each reading includes the reply of the model; default `false`.
        output: bool,
        /// `true`: in the form that `PUT` accepts, with your ids and the replies, and without `summary`.
        portable: bool,
    }

    /// Filters of the list of merges.
    MergeFilter {
        /// Only merges of entities, or only merges of units.
        of: MergeOf,
        /// `true`: only merges that were undone; `false`: only merges that were not.
        undone: bool,
    }
}

/// The page of the versions of a record to return.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VersionFilter {
    /// The `next` of the previous page; leave it out for the first page.
    pub after: Option<String>,
    /// Maximum number of versions, 1 to 1000; default 1000, which is all of them. A page of 4 MiB may have fewer
    /// versions and still a `next`.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
}

impl Paged for VersionFilter {
    fn after_cursor(&self) -> Option<&str> {
        self.after.as_deref()
    }

    fn requested_limit(&self) -> Option<u32> {
        Some(self.limit.unwrap_or(LIMIT_MAX))
    }

    /// Returns an empty text: the list has no filters.
    fn filter_text(&self) -> Result<String, Problem> {
        Ok(String::new())
    }
}

/// A time in the past.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AsOf {
    /// Only what was known at this time. RFC 3339, or ISO 8601 in UTC.
    #[param(format = DateTime)]
    pub as_of: Option<String>,
}

/// Restrictions on the data that a tool reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolScope {
    /// Only data known at this time. RFC 3339, or ISO 8601 in UTC.
    #[param(format = DateTime)]
    pub as_of: Option<String>,
    /// Only data from records with this tag; if given more than once, only from records with all of the tags.
    #[param(min_length = 1, max_length = 128)]
    pub tag: Option<String>,
    /// Only data from records that match a filter on tags and metadata, as JSON:
    /// `{"tags": {"any": ["a", "b"]}, "metadata": {"key": "lang", "eq": "de"}}`.
    #[param(max_length = 16_384)]
    pub filter: Option<String>,
}

//! Pages of lists, and what restricts them.

use domain::curation::Curation;
use domain::entity::Entity;
use domain::fact::{Aspect, Fact, Origin};
use domain::merge::{Merge, MergeOf};
use domain::page::Dimension;
use domain::topic::Topic;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::{ApiKey, DeadLetter, Erasure, PageHead, Record, Space, UnitView};
use crate::cursor::{Listed, Paged};
use crate::problem::Problem;

macro_rules! listed {
    ($($(#[$doc:meta])* $name:ident of #[$order:meta] $item:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
        pub struct $name {
            #[$order]
            pub items: Vec<$item>,
            /// The `after` of the next page; none after the last.
            pub next: Option<String>,
        }

        impl Listed for $name {
            type Item = $item;

            fn page(items: Vec<$item>, next: Option<String>) -> $name {
                $name { items, next }
            }
        }
    )*};
}

listed! {
    /// Some of the spaces.
    SpacePage of #[doc = "By name."] Space;
    /// Some of the records.
    RecordPage of #[doc = "In the order in which they were stored."] Record;
    /// Some of the units.
    UnitPage of #[doc = "In the order of their latest changes; units that were replaced are left out."] UnitView;
    /// Some of the facts.
    FactPage of #[doc = "By id."] Fact;
    /// Some of the entities.
    EntityPage of #[doc = "By id."] Entity;
    /// Some of the topics.
    TopicPage of #[doc = "By id."] Topic;
    /// Some of the pages.
    PagePage of #[doc = "By id, without their sections."] PageHead;
    /// Some of the merges.
    MergePage of #[doc = "By id."] Merge;
    /// Some of what people decided.
    CurationPage of #[doc = "By id."] Curation;
    /// Some of the receipts of erasures.
    ErasurePage of #[doc = "By id."] Erasure;
    /// Some of the keys.
    ApiKeyPage of #[doc = "By name."] ApiKey;
    /// Some of the messages that were given up.
    DeadLetterPage of #[doc = "By number, or space by space if the key does not open every space."] DeadLetter;
}

macro_rules! filters {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
        #[serde(default, deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub struct $name {
            /// The `next` of the page before; nothing for the first page.
            pub after: Option<String>,
            /// Items wanted, 1 to 1000; 100 if not given. A page of a restricted list, or one of 4 MiB, may have fewer and still
            /// a `next`.
            #[param(minimum = 1, maximum = 1000)]
            pub limit: Option<u32>,
            $($(#[$about])* pub $field: Option<$kind>,)*
        }

        impl Paged for $name {
            fn after(&self) -> Option<&str> {
                self.after.as_deref()
            }

            fn wanted(&self) -> Option<u32> {
                self.limit
            }

            fn restriction(&self) -> Result<String, Problem> {
                let mut every = self.clone();
                every.after = None;
                every.limit = None;
                serde_json::to_string(&every).map_err(|_| Problem::internal())
            }
        }
    )*};
}

filters! {
    /// Where a list goes on.
    Paging {}

    /// Which records are listed.
    RecordFilter {
        /// Only of this session: your name for it, or Mnemic's id.
        #[param(min_length = 1, max_length = 256)]
        session: String,
        /// Only of this actor, in any case.
        #[param(min_length = 1, max_length = 256)]
        actor: String,
        /// Only observed at or after. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        from: String,
        /// Only observed before.
        #[param(format = DateTime)]
        until: String,
        /// Only with this tag; given more than once, only with all of them.
        #[param(min_length = 1, max_length = 128)]
        tag: String,
        /// Only what a filter of tags and metadata takes, as JSON:
        /// `{"tags": {"any": ["a", "b"]}, "metadata": {"key": "lang", "eq": "de"}}`.
        #[param(max_length = 16_384)]
        filter: String,
    }

    /// Which units are listed.
    UnitFilter {
        /// Only of this session: your name for it, or Mnemic's id.
        #[param(min_length = 1, max_length = 256)]
        session: String,
        /// Only what this one said or did, in any case; an event of several is of none of them.
        #[param(min_length = 1, max_length = 256)]
        actor: String,
        /// Only what was observed by this moment. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
        /// Only turn units of records with this tag; given more than once, only with all of them.
        #[param(min_length = 1, max_length = 128)]
        tag: String,
        /// Only what a filter of tags and metadata takes, as JSON:
        /// `{"tags": {"any": ["a", "b"]}, "metadata": {"key": "lang", "eq": "de"}}`.
        #[param(max_length = 16_384)]
        filter: String,
    }

    /// Which facts are listed.
    FactFilter {
        /// Who or what it is about: the name, in any case, or the id of the entity.
        #[param(min_length = 1, max_length = 256)]
        subject: String,
        /// What is said of it, in any case: `likes`, `lives in`.
        #[param(min_length = 1, max_length = 256)]
        predicate: String,
        /// The group of predicates.
        aspect: Aspect,
        /// `true`: only what holds, at `as_of` or now; `false`: only what does not, or was withdrawn.
        current: bool,
        /// Only facts that were read by the rules (`rule`), or by a language model (`model`).
        origin: Origin,
        /// Facts as they were known at this moment. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// Which entities are listed.
    EntityFilter {
        /// The name, an alias or a role ("Ann's sister"), in any case.
        #[param(min_length = 1, max_length = 256)]
        name: String,
        /// Only what was named by this moment. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// Which topics are listed.
    TopicFilter {
        /// Only what was spoken of by this moment; label and number are those of today. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// Which pages are listed.
    PageFilter {
        /// Only of this dimension.
        dimension: Dimension,
        /// Whether archived pages are listed too; not if not given.
        archived: bool,
        /// Pages as they were at this moment. RFC 3339, or ISO 8601 in UTC.
        #[param(format = DateTime)]
        as_of: String,
    }

    /// How readings are listed.
    ReadingFilter {
        /// Whether each reading has the reply of the model; not if not given.
        output: bool,
        /// `true`: in the form that `PUT` takes, with your ids and the replies, and without `summary`.
        portable: bool,
    }

    /// Which merges are listed.
    MergeFilter {
        /// Only of entities, or only of units.
        of: MergeOf,
        /// Only those that were undone, or only those that were not.
        undone: bool,
    }
}

/// A moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AsOf {
    /// Only what was known at this moment. RFC 3339, or ISO 8601 in UTC.
    #[param(format = DateTime)]
    pub as_of: Option<String>,
}

/// What a tool may look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolScope {
    /// Only what was known at this moment. RFC 3339, or ISO 8601 in UTC.
    #[param(format = DateTime)]
    pub as_of: Option<String>,
    /// Only what records with this tag say; given more than once, only with all of them.
    #[param(min_length = 1, max_length = 128)]
    pub tag: Option<String>,
    /// Only what records say that a filter of tags and metadata takes, as JSON:
    /// `{"tags": {"any": ["a", "b"]}, "metadata": {"key": "lang", "eq": "de"}}`.
    #[param(max_length = 16_384)]
    pub filter: Option<String>,
}

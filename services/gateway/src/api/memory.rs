use chrono::{DateTime, Utc};
use domain::id::{ErasureId, MergeId, PageId, RecordId, SpaceId, UnitId};
use domain::page::{Dimension, Page, PageStatus};
use domain::relation::RelationKind;
use domain::topic::Topic;
use domain::unit::Unit;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A space and what it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Space {
    /// Its name.
    pub space: SpaceId,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Number of records stored.
    pub records: u64,
    /// Number of units in use.
    pub units: u64,
    /// The newest write that is searchable.
    pub watermark: String,
}

/// A space that is deleted while a store is away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Deleting {
    /// Its name.
    pub space: SpaceId,
    /// What is left to do, and who does it.
    pub detail: String,
    /// The id of the receipt; none if there was no such space any more when this was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureId>,
}

/// A topic and the event units that belong to it most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopicView {
    /// The topic.
    pub topic: Topic,
    /// At most 100 of its event units, the nearest to its centre first, ties by id.
    pub members: Vec<TopicMember>,
    /// What could not be looked at; not there if everything was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
    /// A stable code for each entry of `degraded`, in their order, such as `index_unavailable`; docs/ERRORS.md has all of
    /// them. Not there when all is well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<String>,
}

/// An event unit in a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopicMember {
    /// Cosine to the centre of the topic.
    pub similarity: f32,
    /// The unit.
    pub unit: UnitView,
}

/// A unit with what became of it: `status` is `merged` if it went into another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UnitView {
    /// The unit.
    #[serde(flatten)]
    pub unit: Unit,
    /// The unit that stands for it, if it went into another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<UnitId>,
    /// The merge that says why, under `/merges/{id}`; `undo_merge` takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<MergeId>,
    /// What went into it: at most 100, by when that was observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorbed: Vec<Absorbed>,
}

/// A unit that tells of the same event and went into another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Absorbed {
    /// The unit.
    pub unit: UnitId,
    /// Its records, for which the other one stands too.
    pub records: Vec<RecordId>,
    /// The merge; `undo_merge` takes it back.
    pub merge: MergeId,
    /// Why, in words.
    pub reason: String,
    /// Cosine of the two.
    pub similarity: f32,
    /// Whether they were judged the same.
    pub same_event: bool,
    /// Whether they share people, time or place.
    pub has_overlap: bool,
    /// How they stand to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<RelationKind>,
}

/// A page without its sections, as it is listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PageHead {
    /// Reads the page, under `/pages/{id}`.
    pub id: PageId,
    /// Where it stands.
    pub dimension: Dimension,
    /// Name of what it is about.
    pub title: String,
    /// One to three sentences. They begin with what a language model wrote of the page, if one did.
    pub summary: String,
    /// Other names, sorted.
    pub aliases: Vec<String>,
    /// Keywords, strongest first.
    pub tags: Vec<String>,
    /// Titles of its sections.
    pub sections: Vec<String>,
    /// 0 to 1.
    pub confidence: f32,
    /// When the newest thing on it was observed.
    pub updated_at: DateTime<Utc>,
    /// Whether it is offered.
    pub status: PageStatus,
}

impl From<Page> for PageHead {
    fn from(it: Page) -> PageHead {
        PageHead {
            id: it.id,
            dimension: it.dimension,
            title: it.title,
            summary: it.summary,
            aliases: it.aliases,
            tags: it.tags,
            sections: it.sections.into_iter().map(|it| it.title).collect(),
            confidence: it.confidence,
            updated_at: it.updated_at,
            status: it.status,
        }
    }
}

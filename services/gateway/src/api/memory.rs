use chrono::{DateTime, Utc};
use domain::id::{ErasureId, MergeId, PageId, RecordId, SpaceId, UnitId};
use domain::page::{Dimension, Page, PageStatus};
use domain::relation::RelationKind;
use domain::topic::Topic;
use domain::unit::Unit;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A space and the size of its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Space {
    /// Name of the space.
    pub space: SpaceId,
    /// Time at which the space was created.
    pub created_at: DateTime<Utc>,
    /// Number of records stored.
    pub records: u64,
    /// Number of units in use.
    pub units: u64,
    /// Watermark of the newest write that is searchable.
    pub watermark: String,
}

/// A deleted space whose data are not erased from every store yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Deleting {
    /// Name of the space.
    pub space: SpaceId,
    /// The remaining work, and the component that does it.
    pub detail: String,
    /// The id of the receipt; left out if the space did not exist when the request arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureId>,
}

/// A topic and its closest event units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopicView {
    /// The topic.
    pub topic: Topic,
    /// At most 100 of its event units, nearest to the centre of the topic first; ties by id.
    pub members: Vec<TopicMember>,
    /// Data that could not be read; left out if everything was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
    /// A stable code for each entry of `degraded`, in the same order, such as `index_unavailable`; docs/ERRORS.md lists
    /// all codes. Left out if `degraded` is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<String>,
}

/// An event unit in a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopicMember {
    /// Cosine similarity to the centre of the topic.
    pub similarity: f32,
    /// The unit.
    pub unit: UnitView,
}

/// A unit with its merges: `status` is `merged` if the unit was merged into another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UnitView {
    /// The unit.
    #[serde(flatten)]
    pub unit: Unit,
    /// The unit that replaces this one, if this one was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<UnitId>,
    /// The merge that gives the reason, under `/merges/{id}`; `undo_merge` takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<MergeId>,
    /// The units that were merged into this one: at most 100, by the time of their observation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorbed: Vec<Absorbed>,
}

/// A unit that describes the same event and was merged into another unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Absorbed {
    /// The unit.
    pub unit: UnitId,
    /// Records of the merged unit, which the other unit represents too.
    pub records: Vec<RecordId>,
    /// The merge; `undo_merge` takes it back.
    pub merge: MergeId,
    /// The reason, in words.
    pub reason: String,
    /// Cosine similarity of the two units.
    pub similarity: f32,
    /// Whether the two units were judged to be the same event.
    pub same_event: bool,
    /// Whether the two units share people, time or place.
    pub has_overlap: bool,
    /// The relation between the two units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<RelationKind>,
}

/// A page without its sections, as in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PageHead {
    /// Id that reads the page, under `/pages/{id}`.
    pub id: PageId,
    /// The dimension that contains it.
    pub dimension: Dimension,
    /// Name of its subject.
    pub title: String,
    /// One to three sentences. They begin with the summary of a language model, if there is one.
    pub summary: String,
    /// Other names of its subject, sorted.
    pub aliases: Vec<String>,
    /// Keywords, strongest first.
    pub tags: Vec<String>,
    /// Titles of its sections.
    pub sections: Vec<String>,
    /// Confidence, 0 to 1.
    pub confidence: f32,
    /// Time at which the newest item on the page was observed.
    pub updated_at: DateTime<Utc>,
    /// Whether the page is active or archived.
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

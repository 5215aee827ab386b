use chrono::{DateTime, Utc};
use domain::id::{PageId, SpaceId};
use domain::page::{Dimension, Page, PageStatus};
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

/// A topic and the event units that belong to it most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopicView {
    /// The topic.
    pub topic: Topic,
    /// At most 100 of its event units, the nearest to its centre first, ties by id.
    pub members: Vec<TopicMember>,
}

/// An event unit in a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopicMember {
    /// Cosine to the centre of the topic.
    pub similarity: f32,
    /// The unit.
    pub unit: Unit,
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
    /// One or two sentences.
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

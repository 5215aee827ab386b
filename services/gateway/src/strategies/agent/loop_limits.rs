//! Differences between the loops of the papers: their tools and their limits.

use domain::message::ExplorationStrategy;

use crate::api::{Limits, Strategy};

/// One loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopLimits {
    /// The method of exploration.
    pub(crate) walk: ExplorationStrategy,
    /// Names of its tools.
    pub(crate) tools: &'static [&'static str],
    /// Maximum number of turns, including the last one.
    pub(crate) turns: u32,
    /// Maximum number of tool calls in a turn.
    pub(crate) calls: u32,
}

/// CompassMem, section 3.4: three explorers continue from the best of their shared results.
const EXPLORE: LoopLimits = LoopLimits {
    walk: ExplorationStrategy::Explore,
    tools: &["expand_unit", "semantic_retrieve"],
    turns: 6,
    calls: 3,
};
/// MRAgent, section 3.3: eight turns with ten calls each.
const RECONSTRUCT: LoopLimits = LoopLimits {
    walk: ExplorationStrategy::Reconstruct,
    tools: &[
        "query_tag_events",
        "query_conversation_time",
        "query_event_keywords",
        "query_event_context",
        "query_topic_events",
        "query_personal_information",
        "query_personal_aspect",
    ],
    turns: 8,
    calls: 10,
};
/// REMem, section 3.3: five steps of reasoning; one turn is its single-step form.
const RECOLLECT: LoopLimits = LoopLimits {
    walk: ExplorationStrategy::Recollect,
    tools: &[
        "semantic_retrieve",
        "lexical_retrieve",
        "find_gist_contexts",
        "find_entity_contexts",
    ],
    turns: 5,
    calls: 4,
};
/// MemCog, section 3: six calls in sequence.
const NAVIGATE: LoopLimits = LoopLimits {
    walk: ExplorationStrategy::Navigate,
    tools: &["list_dimensions", "browse_dimension", "read_page", "follow_link"],
    turns: 7,
    calls: 1,
};

/// MemCog's proactive protocol: few turns, because most messages need none; the page tools of `navigate`, and search.
pub(crate) const RECALL: LoopLimits = LoopLimits {
    walk: ExplorationStrategy::Recall,
    tools: &[
        "list_dimensions",
        "browse_dimension",
        "read_page",
        "follow_link",
        "semantic_retrieve",
        "lexical_retrieve",
    ],
    turns: 3,
    calls: 3,
};

impl LoopLimits {
    /// Returns the loop of a strategy within the caller's limits; `None` for a strategy without a loop.
    pub(crate) fn from_strategy(strategy: Strategy, limits: Limits) -> Option<LoopLimits> {
        let table = match strategy {
            Strategy::Explore => EXPLORE,
            Strategy::Reconstruct => RECONSTRUCT,
            Strategy::Recollect => RECOLLECT,
            Strategy::Navigate => NAVIGATE,
            Strategy::Route | Strategy::Auto => return None,
        };
        Some(LoopLimits {
            turns: limits.turns.unwrap_or(table.turns),
            calls: limits.calls.unwrap_or(table.calls),
            ..table
        })
    }
}

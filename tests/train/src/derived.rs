//! What the services derive of a conversation, by their own rules: events and relations by the writer's, all else by the
//! clusterer's.

use std::collections::BTreeMap;

use clusterer::Acts;
use domain::id::SpaceId;
use domain::record::Record;
use domain::unit::{Grain, Unit};
use router::edges::Related;
use router::memory::Memory;
use writer::Stretch;

/// The units of a conversation and what is derived of them.
pub struct Derived {
    /// Turn units, then event units, by session.
    pub units: Vec<Unit>,
    /// Relations between turn units.
    pub related: Related,
    /// Facts, entities, topics, pages and merges, as the router keeps them.
    pub memory: Memory,
}

/// Derives everything from the sessions of a conversation, each in session order.
pub fn derived(space: &SpaceId, sessions: &[Vec<Record>]) -> Derived {
    let (mut units, mut related) = (Vec::new(), Related::new());
    for session in sessions {
        let all: Vec<usize> = (0..session.len()).collect();
        let turns = writer::write(session, &all);
        let stored: BTreeMap<_, _> = turns.iter().map(|it| (it.id, it.clone())).collect();
        let stretch = Stretch {
            records: session.clone(),
            starts: true,
            ends: true,
        };
        let fresh = session.iter().map(|it| it.id).collect();
        let segments = writer::segment(&stretch, &writer::plan(&stretch, &fresh), &stored);
        let between_turns =
            |it: &&domain::relation::Relation| stored.contains_key(&it.source) && stored.contains_key(&it.target);
        let relations = segments.relations.iter().filter(between_turns);
        related.extend(relations.map(|it| (it.source, it.target)));
        units.extend(turns);
        units.extend(segments.units.into_iter().filter(|it| it.grain == Grain::Event));
    }
    let mut organised = clusterer::Memory::default();
    for unit in &units {
        let vector = (unit.grain == Grain::Event).then(|| text::Table::builtin().embed(&unit.summary));
        organised.apply(unit, vector.as_deref());
    }
    let changed = organised.changed(space, &Acts::default(), &BTreeMap::new());
    Derived {
        memory: Memory::of(units.iter().cloned(), changed.put),
        related,
        units,
    }
}

//! Builds pages that can be browsed from units, facts, entities and topics (MemCog, section 3).
//!
//! Dimension > Page > Section: there is a page for each figure, place, topic and month, and for the preferences of
//! each figure, with typed links. Pages are pure functions of the inputs; only pages that a change affects are built
//! again.

mod contents;
mod inputs;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::fact::Fact;
use domain::id::{EntityId, FactId, MergeId, PageId, SpaceId, TopicId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::page::{Page, PageStatus};
use domain::topic::Topic;
use domain::unit::Unit;

use crate::ChangedObjects;
use crate::judgements::summaries::Summaries;
use crate::space::spill_file::SpillFile;
use contents::digest::hash_page;
use inputs::buckets::bucket::About;
use inputs::page_inputs::{PageInputs, Subject};

/// A page is archived if it was neither read nor changed for this number of days before the newest unit, unless
/// `KEPT_LEAST` keeps it.
const ARCHIVED_DAYS: i64 = 180;
/// Number of most recently read or changed pages that are never archived. Otherwise, one new unit after a year of
/// silence would archive everything that could be browsed.
const KEPT_LEAST: usize = 50;

/// A page, and the time at which it was last changed or read.
struct Built {
    page: Page,
    age: Option<DateTime<Utc>>,
}

/// The pages of one space.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    known: PageInputs,
    /// Subjects whose pages have to be built again.
    affected: BTreeSet<Subject>,
    /// Facts that the next changes may contain. Pages store these instead of copies.
    offered: HashMap<FactId, Arc<Fact>>,
    merges: BTreeMap<MergeId, UnitId>,
    /// Reported pages: the id and a digest of each.
    reported: BTreeMap<Subject, (PageId, u64)>,
    subjects: BTreeMap<PageId, Subject>,
    ages: BTreeSet<(DateTime<Utc>, Subject)>,
    age: BTreeMap<Subject, DateTime<Utc>>,
    read: BTreeMap<PageId, DateTime<Utc>>,
    /// The summaries by a language model.
    summaries: Summaries,
    pages_with_rejected_summary: BTreeSet<PageId>,
    /// Pages last changed or read before this moment are archived.
    border: Option<DateTime<Utc>>,
}

impl Pages {
    /// Applies the current state of a unit.
    pub fn apply_unit(&mut self, unit: &Unit) {
        // An erased record may have removed a reading about the page, even if the remaining text is the same.
        self.summaries.mark_for_lookup(unit.id);
        self.known.apply_unit(unit);
    }

    /// Spills what was not used since the last call to a file.
    pub fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.known.spill_unused(file);
    }

    /// Sets the units that users asked Mnemic to forget. Pages quote neither them nor their events and gists.
    pub fn set_forgotten(&mut self, forgotten: impl Iterator<Item = UnitId>) {
        self.known.set_forgotten(forgotten);
    }

    /// Returns the turn units of an event; nothing for any other unit.
    pub(crate) fn turns_of_event(&self, event: UnitId) -> Vec<UnitId> {
        self.known.facts_by_topic.turn_units_of_event(event)
    }

    /// Offers facts that the next changes may contain. The pages keep these instead of copies of them.
    pub fn share_facts(&mut self, facts: Vec<Arc<Fact>>) {
        self.offered = facts.into_iter().map(|it| (it.id, it)).collect();
    }

    /// Applies the results of other components: facts, entities, topics, members, merges.
    pub fn apply_changes(&mut self, changed: &ChangedObjects) {
        for id in &changed.removed {
            match id.kind {
                DerivedKind::Fact => self.set_fact(FactId::from_uuid(id.id), None),
                DerivedKind::Entity => self.set_entity(EntityId::from_uuid(id.id), None),
                DerivedKind::Topic => self.set_topic(TopicId::from_uuid(id.id), None),
                DerivedKind::Member => self.set_topic_of_event(UnitId::from_uuid(id.id), None),
                DerivedKind::Merge => self.remove_merge(MergeId::from_uuid(id.id)),
                DerivedKind::Page | DerivedKind::Standing => {}
            }
        }
        for item in &changed.put {
            match item {
                Derived::Fact(it) => self.set_fact(it.id, Some(it)),
                Derived::Entity(it) => self.set_entity(it.id, Some(it)),
                Derived::Topic(it) => self.set_topic(it.id, Some(it)),
                Derived::Member(it) => self.set_topic_of_event(it.unit, Some(it.topic)),
                Derived::Merge(it) => self.add_merge(it),
                Derived::Page(_) | Derived::Standing(_) => {}
            }
        }
        self.offered = HashMap::new();
    }

    /// Returns about how many pages wait to be rebuilt.
    pub(crate) fn count_affected(&self) -> usize {
        self.affected.len() + self.known.contents.touched.len()
    }

    /// Returns the pages that changed since the last call. `read` holds the time at which each page was last read.
    pub fn take_changes(&mut self, space: &SpaceId, read: &BTreeMap<PageId, DateTime<Utc>>) -> ChangedObjects {
        let mut affected = std::mem::take(&mut self.affected);
        let touched = std::mem::take(&mut self.known.contents.touched);
        affected.extend(touched.iter().filter_map(|it| self.known.covering_subject(it)));
        self.note_placed(&mut affected);
        self.note_reading(read, &mut affected);
        let mut near = BTreeSet::new();
        for subject in &affected {
            let head = self.known.current_head(space, subject);
            if self.known.heads.get(subject) == head.as_ref() {
                continue;
            }
            self.known.add_neighbours(subject, &mut near);
            match head {
                Some(head) => self.known.heads.insert(subject.clone(), head),
                None => self.known.heads.remove(subject),
            };
        }
        affected.append(&mut near);
        let mut built = BTreeMap::new();
        for subject in affected {
            let page = self.summed_up(space, &subject);
            self.set_age(&subject, page.as_ref().and_then(|it| it.age));
            built.insert(subject, page);
        }
        for subject in self.move_border() {
            if let Entry::Vacant(vacant) = built.entry(subject) {
                let page = self.summed_up(space, vacant.key());
                vacant.insert(page);
            }
        }
        let mut out = ChangedObjects::default();
        for (subject, page) in built {
            self.report_page(subject, page, &mut out);
        }
        out
    }

    fn report_page(&mut self, subject: Subject, built: Option<Built>, out: &mut ChangedObjects) {
        let known = self.reported.get(&subject).copied();
        let Some(Built { mut page, age }) = built else {
            self.forget_page(&subject, known, out);
            return;
        };
        if self.border.zip(age).is_some_and(|(border, age)| age < border) {
            page.status = PageStatus::Archived;
        }
        if let Some(other) = known.filter(|it| it.0 != page.id) {
            self.reported.remove(&subject);
            self.withdraw_page(other.0, out);
        }
        self.subjects.insert(page.id, subject.clone());
        let now = (page.id, hash_page(&page));
        if self.reported.insert(subject, now) != Some(now) {
            out.put.push(Derived::Page(page));
        }
    }

    /// Returns the page of a subject without regard to archiving. A page whose facts were all withdrawn has no age,
    /// and is kept for queries as of an earlier moment.
    fn build_page(&self, space: &SpaceId, subject: &Subject) -> Option<Built> {
        let Some(head) = self.known.heads.get(subject) else {
            let head = self.known.former_head(space, subject)?;
            let page = Page {
                status: PageStatus::Former,
                links: Vec::new(),
                ..self.known.build_page(subject, &head)
            };
            let has_former_lines = page.sections.iter().any(|it| !it.former.is_empty());
            return has_former_lines.then_some(Built { page, age: None });
        };
        let page = self.known.build_page(subject, head);
        let read = self.read.get(&page.id).copied();
        let age = Some(read.map_or(page.updated_at, |it| it.max(page.updated_at)));
        Some(Built { page, age })
    }

    /// Returns the page of a subject, with the summaries by a language model.
    fn summed_up(&mut self, space: &SpaceId, subject: &Subject) -> Option<Built> {
        let mut built = self.build_page(space, subject)?;
        self.sum_up(space, subject, &mut built.page);
        Some(built)
    }

    fn forget_page(&mut self, subject: &Subject, known: Option<(PageId, u64)>, out: &mut ChangedObjects) {
        self.reported.remove(subject);
        if let Some((page, _)) = known {
            self.withdraw_page(page, out);
        }
    }

    fn withdraw_page(&mut self, page: PageId, out: &mut ChangedObjects) {
        self.subjects.remove(&page);
        self.summaries.remove(&page);
        out.removed.push(DerivedId {
            kind: DerivedKind::Page,
            id: page.uuid(),
        });
    }

    /// Updates the border of archiving, and returns the pages whose status this changes.
    fn move_border(&mut self) -> BTreeSet<Subject> {
        let border = self.archiving_border();
        let moment = |it: Option<DateTime<Utc>>| it.unwrap_or(DateTime::<Utc>::MIN_UTC);
        let (before, now) = (moment(self.border), moment(border));
        self.border = border;
        // The subject of this id comes before all others.
        let first = |at: DateTime<Utc>| (at, Subject::Entity(EntityId::from_uuid(Default::default())));
        let (from, to) = (first(before.min(now)), first(before.max(now)));
        self.ages.range(from..to).map(|it| it.1.clone()).collect()
    }

    /// Returns the moment before which a page must have been read and changed last to be archived, or none if no page
    /// is archived.
    fn archiving_border(&self) -> Option<DateTime<Utc>> {
        let newest = self.known.contents.newest_time()?;
        let border = newest.checked_sub_signed(TimeDelta::days(ARCHIVED_DAYS))?;
        let last_kept = self.ages.iter().rev().nth(KEPT_LEAST - 1);
        last_kept.map(|it| border.min(it.0))
    }

    fn set_age(&mut self, subject: &Subject, age: Option<DateTime<Utc>>) {
        let before = match age {
            Some(age) => self.age.insert(subject.clone(), age),
            None => self.age.remove(subject),
        };
        if let Some(before) = before {
            self.ages.remove(&(before, subject.clone()));
        }
        if let Some(age) = age {
            self.ages.insert((age, subject.clone()));
        }
    }

    /// Adds the topics whose facts changed, and the topics with facts that close these or were closed by them.
    fn note_placed(&mut self, affected: &mut BTreeSet<Subject>) {
        let touched = std::mem::take(&mut self.known.facts_by_topic.touched);
        affected.extend(touched.into_iter().map(Subject::Topic));
        for id in std::mem::take(&mut self.known.facts_by_topic.moved) {
            let fact = self.known.facts.get(id);
            let against = fact
                .into_iter()
                .flat_map(|it| self.known.facts.closed_and_closing_facts(it));
            let topics = against.flat_map(|it| self.known.topics_of_unit(it.source));
            affected.extend(topics.map(Subject::Topic));
        }
    }

    fn note_reading(&mut self, read: &BTreeMap<PageId, DateTime<Utc>>, affected: &mut BTreeSet<Subject>) {
        if self.read == *read {
            return;
        }
        let other = read.iter().filter(|(page, at)| self.read.get(*page) != Some(*at));
        let lost = self.read.iter().filter(|(page, _)| !read.contains_key(*page));
        let pages = other.chain(lost).map(|it| it.0);
        affected.extend(pages.filter_map(|it| self.subjects.get(it)).cloned());
        self.read.clone_from(read);
    }

    fn set_fact(&mut self, id: FactId, fact: Option<&Fact>) {
        self.take_back(id, fact);
        let known = self.known.facts.shared_fact(id).cloned();
        let fact = fact.map(|fact| {
            let offered = self.offered.remove(&id).filter(|it| **it == *fact);
            offered.unwrap_or_else(|| Arc::new(fact.clone()))
        });
        let touched = self.known.facts.set_fact(id, fact.as_ref());
        let now = self.known.facts.shared_fact(id);
        if known.as_ref() != now {
            let (facts_by_topic, topics) = (&mut self.known.facts_by_topic, &self.known.contents.topics_of_events);
            known.iter().for_each(|it| facts_by_topic.count_fact(it, false, topics));
            now.into_iter()
                .for_each(|it| facts_by_topic.count_fact(it, true, topics));
        }
        let topics = touched.sources.iter().flat_map(|it| self.known.topics_of_unit(*it));
        self.affected.extend(topics.map(Subject::Topic));
        for entity in touched.entities {
            self.affected.insert(Subject::Entity(entity));
            self.affected.insert(Subject::Taste(entity));
        }
        self.affected.extend(touched.contrary.into_iter().map(Subject::Taste));
        let owners = touched.names.iter().filter_map(|it| self.known.names.owner_of_name(it));
        self.affected.extend(owners.map(Subject::Entity));
    }

    /// Keeps the last state of a withdrawn fact, for pages as of an earlier moment.
    fn take_back(&mut self, id: FactId, fact: Option<&Fact>) {
        let was = fact.filter(|it| it.withdrawn).and_then(|fact| {
            let earlier = fact.former.iter().rev().filter_map(|it| it.fact.as_ref());
            let earlier = earlier.into_iter().find(|it| !it.withdrawn)?;
            Some(Arc::new(Fact {
                former: fact.former.clone(),
                ..earlier.clone()
            }))
        });
        let known = self.known.withdrawn_facts.shared_fact(id).cloned();
        if known == was {
            return;
        }
        let touched = self.known.withdrawn_facts.set_fact(id, was.as_ref());
        let (facts_by_topic, topics) = (&mut self.known.facts_by_topic, &self.known.contents.topics_of_events);
        known
            .iter()
            .for_each(|it| facts_by_topic.count_withdrawn_fact(it, false, topics));
        was.iter()
            .for_each(|it| facts_by_topic.count_withdrawn_fact(it, true, topics));
        for entity in touched.entities {
            self.affected.extend([Subject::Entity(entity), Subject::Taste(entity)]);
        }
        let owners = touched.names.iter().filter_map(|it| self.known.names.owner_of_name(it));
        self.affected.extend(owners.map(Subject::Entity));
    }

    fn set_entity(&mut self, id: EntityId, entity: Option<&domain::entity::Entity>) {
        let names_and_roles = |it: &PageInputs| {
            let entity = it.names.find_entity(id);
            entity.map(|it| (it.name.clone(), it.aliases.clone(), it.roles.clone()))
        };
        let before = names_and_roles(&self.known);
        let names = self.known.names.set_entity(id, entity);
        self.affected.insert(Subject::Entity(id));
        // The number of mentions of a figure does not affect the page of its preferences.
        if names_and_roles(&self.known) != before {
            self.affected.insert(Subject::Taste(id));
        }
        for name in names {
            let claimants = self.known.names.entities_with_name(&name).map(Subject::Entity);
            self.affected.extend(claimants);
            self.known
                .add_mentioned_together(&About::Name(name), &mut self.affected);
        }
    }

    fn set_topic(&mut self, id: TopicId, topic: Option<&Topic>) {
        self.affected.insert(Subject::Topic(id));
        let order = |it: &Topic| it.first_seen;
        let moved = self.known.topics.get(&id).map(order) != topic.map(order);
        match topic {
            Some(topic) => self.known.topics.insert(id, topic.clone()),
            None => self.known.topics.remove(&id),
        };
        if moved {
            self.affected
                .extend(self.known.topics.keys().copied().map(Subject::Topic));
        }
    }

    fn set_topic_of_event(&mut self, event: UnitId, topic: Option<TopicId>) {
        let before = self.known.contents.set_topic_of_event(event, topic);
        self.known.facts_by_topic.move_event(event, before, topic);
    }

    fn add_merge(&mut self, merge: &Merge) {
        if merge.of == MergeOf::Units {
            let unit = UnitId::from_uuid(merge.merged);
            self.merges.insert(merge.id, unit);
            self.known
                .contents
                .update_merge(unit, merge.id, merge.same_event && !merge.undone);
        }
    }

    fn remove_merge(&mut self, merge: MergeId) {
        if let Some(unit) = self.merges.remove(&merge) {
            self.known.contents.update_merge(unit, merge, false);
        }
    }
}

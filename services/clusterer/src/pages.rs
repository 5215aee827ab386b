//! Builds pages that can be browsed from units, facts, entities and topics (MemCog, section 3).
//!
//! Dimension > Page > Section: there is a page for each figure, place, topic and month, and for the preferences of
//! each figure, with typed links. Pages are pure functions of the inputs; only pages that a change affects are built
//! again.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{EntityId, FactId, MergeId, PageId, SpaceId, TopicId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::page::{Page, PageStatus};
use domain::topic::Topic;
use domain::unit::Unit;
use known::{Known, Subject};

use crate::Changed;
use crate::summaries::Summaries;
use bucket::About;
use digest::digest;

mod bucket;
mod build;
mod digest;
mod facts;
mod known;
mod lines;
mod links;
mod model_summaries;
mod names;
mod placed;
mod sections;
mod store;
mod summary;

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
    known: Known,
    /// Subjects whose pages have to be built again.
    affected: BTreeSet<Subject>,
    merges: BTreeMap<MergeId, UnitId>,
    /// Reported pages: the id and a digest of each.
    told: BTreeMap<Subject, (PageId, u64)>,
    subjects: BTreeMap<PageId, Subject>,
    ages: BTreeMap<DateTime<Utc>, BTreeSet<Subject>>,
    age: BTreeMap<Subject, DateTime<Utc>>,
    read: BTreeMap<PageId, DateTime<Utc>>,
    /// What a language model said of pages. `unsummed` are the pages for which a user rejected that.
    summaries: Summaries,
    unsummed: BTreeSet<PageId>,
    /// Pages last changed or read before this moment are archived.
    border: Option<DateTime<Utc>>,
}

impl Pages {
    /// Applies the current state of a unit.
    pub fn apply_unit(&mut self, unit: &Unit) {
        // An erased record may have removed a reading about the page, even if the remaining text is the same.
        self.summaries.look_again(unit.id);
        self.known.note_founder(unit);
        self.known.store.apply(unit);
        self.known.placed.apply(unit);
    }

    /// Applies the results of other components: facts, entities, topics, members, merges.
    pub fn apply(&mut self, changed: &Changed) {
        for id in &changed.gone {
            match id.kind {
                DerivedKind::Fact => self.fact(FactId::from_uuid(id.id), None),
                DerivedKind::Entity => self.entity(EntityId::from_uuid(id.id), None),
                DerivedKind::Topic => self.topic(TopicId::from_uuid(id.id), None),
                DerivedKind::Member => self.place(UnitId::from_uuid(id.id), None),
                DerivedKind::Merge => self.unmerge(MergeId::from_uuid(id.id)),
                DerivedKind::Page | DerivedKind::Standing => {}
            }
        }
        for item in &changed.put {
            match item {
                Derived::Fact(it) => self.fact(it.id, Some(it)),
                Derived::Entity(it) => self.entity(it.id, Some(it)),
                Derived::Topic(it) => self.topic(it.id, Some(it)),
                Derived::Member(it) => self.place(it.unit, Some(it.topic)),
                Derived::Merge(it) => self.merge(it),
                Derived::Page(_) | Derived::Standing(_) => {}
            }
        }
    }

    /// Returns the pages that changed since the last call. `read` holds the time at which each page was last read.
    pub fn changed(&mut self, space: &SpaceId, read: &BTreeMap<PageId, DateTime<Utc>>) -> Changed {
        let mut affected = std::mem::take(&mut self.affected);
        let touched = std::mem::take(&mut self.known.store.touched);
        affected.extend(touched.iter().filter_map(|it| self.known.subject(it)));
        self.note_placed(&mut affected);
        self.note_reading(read, &mut affected);
        let mut near = BTreeSet::new();
        for subject in &affected {
            let head = self.known.head(space, subject);
            if self.known.heads.get(subject) == head.as_ref() {
                continue;
            }
            self.known.neighbours(subject, &mut near);
            match head {
                Some(head) => self.known.heads.insert(subject.clone(), head),
                None => self.known.heads.remove(subject),
            };
        }
        affected.append(&mut near);
        let mut built = BTreeMap::new();
        for subject in affected {
            let page = self.summed_up(space, &subject);
            self.aged(&subject, page.as_ref().and_then(|it| it.age));
            built.insert(subject, page);
        }
        for subject in self.move_border() {
            if let Entry::Vacant(vacant) = built.entry(subject) {
                let page = self.summed_up(space, vacant.key());
                vacant.insert(page);
            }
        }
        let mut out = Changed::default();
        for (subject, page) in built {
            self.tell(subject, page, &mut out);
        }
        out
    }

    fn tell(&mut self, subject: Subject, built: Option<Built>, out: &mut Changed) {
        let known = self.told.get(&subject).copied();
        let Some(Built { mut page, age }) = built else {
            self.forget(&subject, known, out);
            return;
        };
        if self.border.zip(age).is_some_and(|(border, age)| age < border) {
            page.status = PageStatus::Archived;
        }
        if let Some(other) = known.filter(|it| it.0 != page.id) {
            self.told.remove(&subject);
            self.withdraw(other.0, out);
        }
        self.subjects.insert(page.id, subject.clone());
        let now = (page.id, digest(&page));
        if self.told.insert(subject, now) != Some(now) {
            out.put.push(Derived::Page(page));
        }
    }

    /// Returns the page of a subject without regard to archiving. A page whose facts were all withdrawn has no age,
    /// and is kept for queries as of an earlier moment.
    fn page(&self, space: &SpaceId, subject: &Subject) -> Option<Built> {
        let Some(head) = self.known.heads.get(subject) else {
            let head = self.known.former_head(space, subject)?;
            let page = Page {
                status: PageStatus::Former,
                links: Vec::new(),
                ..self.known.page(subject, &head)
            };
            let left = page.sections.iter().any(|it| !it.former.is_empty());
            return left.then_some(Built { page, age: None });
        };
        let page = self.known.page(subject, head);
        let read = self.read.get(&page.id).copied();
        let age = Some(read.map_or(page.updated_at, |it| it.max(page.updated_at)));
        Some(Built { page, age })
    }

    /// Returns the page of a subject, with the summaries by a language model.
    fn summed_up(&mut self, space: &SpaceId, subject: &Subject) -> Option<Built> {
        let mut built = self.page(space, subject)?;
        self.sum_up(space, subject, &mut built.page);
        Some(built)
    }

    fn forget(&mut self, subject: &Subject, known: Option<(PageId, u64)>, out: &mut Changed) {
        self.told.remove(subject);
        if let Some((page, _)) = known {
            self.withdraw(page, out);
        }
    }

    fn withdraw(&mut self, page: PageId, out: &mut Changed) {
        self.subjects.remove(&page);
        self.summaries.remove(&page);
        out.gone.push(DerivedId {
            kind: DerivedKind::Page,
            id: page.uuid(),
        });
    }

    /// Updates the border of archiving, and returns the pages whose status this changes.
    fn move_border(&mut self) -> BTreeSet<Subject> {
        let border = self.border();
        let moment = |it: Option<DateTime<Utc>>| it.unwrap_or(DateTime::<Utc>::MIN_UTC);
        let (before, now) = (moment(self.border), moment(border));
        self.border = border;
        let (from, to) = (before.min(now), before.max(now));
        self.ages.range(from..to).flat_map(|it| it.1).cloned().collect()
    }

    /// Returns the moment before which a page must have been read and changed last to be archived, or none if no page
    /// is archived.
    fn border(&self) -> Option<DateTime<Utc>> {
        let newest = self.known.store.newest()?;
        let border = newest.checked_sub_signed(TimeDelta::days(ARCHIVED_DAYS))?;
        let mut kept = 0;
        let mut last_kept = self.ages.iter().rev().skip_while(|(_, subjects)| {
            kept += subjects.len();
            kept < KEPT_LEAST
        });
        last_kept.next().map(|(age, _)| border.min(*age))
    }

    fn aged(&mut self, subject: &Subject, age: Option<DateTime<Utc>>) {
        let before = match age {
            Some(age) => self.age.insert(subject.clone(), age),
            None => self.age.remove(subject),
        };
        if let Some(before) = before
            && let Some(subjects) = self.ages.get_mut(&before)
        {
            subjects.remove(subject);
            if subjects.is_empty() {
                self.ages.remove(&before);
            }
        }
        if let Some(age) = age {
            self.ages.entry(age).or_default().insert(subject.clone());
        }
    }

    /// Adds the topics whose facts changed, and the topics with facts that close these or were closed by them.
    fn note_placed(&mut self, affected: &mut BTreeSet<Subject>) {
        let touched = std::mem::take(&mut self.known.placed.touched);
        affected.extend(touched.into_iter().map(Subject::Topic));
        for id in std::mem::take(&mut self.known.placed.moved) {
            let fact = self.known.facts.get(id);
            let against = fact.into_iter().flat_map(|it| self.known.facts.against(it));
            let topics = against.flat_map(|it| self.known.placed.topics_of(it.source));
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

    fn fact(&mut self, id: FactId, fact: Option<&domain::fact::Fact>) {
        self.take_back(id, fact);
        let known = self.known.facts.get(id).cloned();
        let touched = self.known.facts.set(id, fact);
        let now = self.known.facts.get(id);
        if known.as_ref() != now {
            known.iter().for_each(|it| self.known.placed.fact(it, false));
            now.into_iter().for_each(|it| self.known.placed.fact(it, true));
        }
        let topics = touched.sources.iter().flat_map(|it| self.known.placed.topics_of(*it));
        self.affected.extend(topics.map(Subject::Topic));
        for entity in touched.entities {
            self.affected.insert(Subject::Entity(entity));
            self.affected.insert(Subject::Taste(entity));
        }
        self.affected.extend(touched.contrary.into_iter().map(Subject::Taste));
        let named = touched.names.iter().filter_map(|it| self.known.names.owner(it));
        self.affected.extend(named.map(Subject::Entity));
    }

    /// Keeps the last state of a withdrawn fact, for pages as of an earlier moment.
    fn take_back(&mut self, id: FactId, fact: Option<&domain::fact::Fact>) {
        let was = fact.filter(|it| it.withdrawn).and_then(|fact| {
            let told = fact.former.iter().rev().filter_map(|it| it.fact.as_ref());
            let told = told.into_iter().find(|it| !it.withdrawn)?;
            Some(domain::fact::Fact {
                former: fact.former.clone(),
                ..told.clone()
            })
        });
        let known = self.known.taken.get(id).cloned();
        if known == was {
            return;
        }
        let touched = self.known.taken.set(id, was.as_ref());
        known.iter().for_each(|it| self.known.placed.taken_back(it, false));
        was.iter().for_each(|it| self.known.placed.taken_back(it, true));
        for entity in touched.entities {
            self.affected.extend([Subject::Entity(entity), Subject::Taste(entity)]);
        }
        let named = touched.names.iter().filter_map(|it| self.known.names.owner(it));
        self.affected.extend(named.map(Subject::Entity));
    }

    fn entity(&mut self, id: EntityId, entity: Option<&domain::entity::Entity>) {
        let shown = |it: &Known| {
            let entity = it.names.get(id);
            entity.map(|it| (it.name.clone(), it.aliases.clone(), it.roles.clone()))
        };
        let before = shown(&self.known);
        let names = self.known.names.set(id, entity);
        self.affected.insert(Subject::Entity(id));
        // The number of mentions of a figure does not affect the page of its preferences.
        if shown(&self.known) != before {
            self.affected.insert(Subject::Taste(id));
        }
        for name in names {
            let claimants = self.known.names.claimants(&name).map(Subject::Entity);
            self.affected.extend(claimants);
            self.known.near(&About::Name(name), &mut self.affected);
        }
    }

    fn topic(&mut self, id: TopicId, topic: Option<&Topic>) {
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

    fn place(&mut self, event: UnitId, topic: Option<TopicId>) {
        self.known.store.place(event, topic);
        self.known.placed.place(event, topic);
    }

    fn merge(&mut self, merge: &Merge) {
        if merge.of == MergeOf::Units {
            let unit = UnitId::from_uuid(merge.merged);
            self.merges.insert(merge.id, unit);
            self.known
                .store
                .merge(unit, merge.id, merge.same_event && !merge.undone);
        }
    }

    fn unmerge(&mut self, merge: MergeId) {
        if let Some(unit) = self.merges.remove(&merge) {
            self.known.store.merge(unit, merge, false);
        }
    }
}

//! Objects that are derived from units: facts, entities, topics, members, pages, merges, standings.

use domain::ErrorKind;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::port::Graph;
use uuid::Uuid;

use super::sample::{derived, noon, space};
use super::{Ports, error_kind};

const KINDS: [DerivedKind; 7] = [
    DerivedKind::Fact,
    DerivedKind::Entity,
    DerivedKind::Topic,
    DerivedKind::Member,
    DerivedKind::Page,
    DerivedKind::Merge,
    DerivedKind::Standing,
];
/// Texts that have a special meaning to some store.
const HOSTILE: [&str; 8] = [
    "",
    "'); DROP TABLE derived; --",
    "`}) DETACH DELETE n //",
    "$space \\u0027 \\",
    "\"body\":null}",
    "\0\u{1}\n\r\t\u{2028}",
    "👩‍👩‍👧 \u{202e}עברית ‎文 \u{10ffff}",
    "a/b%'?1",
];

async fn open_empty(open: impl AsyncFn() -> Ports) -> Ports {
    let ports = open().await;
    for name in ["a", "b"] {
        ports.records.create_space(&space(name), noon()).await.unwrap();
    }
    ports
}

fn ids(items: &[Derived]) -> Vec<DerivedId> {
    items.iter().map(Derived::id).collect()
}

async fn put_derived(graph: &dyn Graph, items: &[Derived], gone: &[DerivedId]) {
    graph.put_derived(&space("a"), items, gone).await.unwrap();
}

/// Returns the changes after a sequence number as texts, and the last sequence number. The texts are sorted, because
/// the order inside one step is undefined.
async fn read_feed(graph: &dyn Graph, after: u64) -> (Vec<String>, u64) {
    let changes = graph.derived_changes(&space("a"), after, 99).await.unwrap();
    assert!(changes.is_sorted_by(|x, y| x.sequence < y.sequence));
    assert!(changes.iter().all(|it| it.sequence > after));
    assert!(
        changes
            .iter()
            .all(|it| it.item.as_ref().is_none_or(|item| item.id() == it.id))
    );
    let last = changes.last().map_or(after, |it| it.sequence);
    let words = |it: domain::port::DerivedChange| {
        let state = if it.item.is_some() { "put" } else { "gone" };
        format!("{:?} {} {state}", it.id.kind, it.id.id.as_u128())
    };
    let mut words: Vec<String> = changes.into_iter().map(words).collect();
    words.sort();
    (words, last)
}

/// Objects are stored by kind and id. A list is ordered by id; a lookup keeps the order of the request.
pub async fn they_are_listed_by_kind_and_id(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    let (a, b) = (space("a"), space("b"));
    let [one, two, three] = [1, 2, 3].map(|it| derived(it, "tea"));
    let all = [three.clone(), one.clone(), two].concat();
    put_derived(&*graph, &all, &[]).await;
    let later = derived(2, "coffee");
    put_derived(&*graph, &later, &[]).await;
    graph.put_derived(&b, &derived(2, "milk"), &[]).await.unwrap();
    for (n, kind) in KINDS.into_iter().enumerate() {
        let list = async |after, limit| graph.list_derived(&a, kind, after, limit).await.unwrap();
        assert_eq!(list(None, 2).await, [one[n].clone(), later[n].clone()]);
        assert_eq!(list(Some(later[n].id().id), 2).await, [three[n].clone()]);
        assert_eq!(list(Some(Uuid::nil()), 1).await, [one[n].clone()]);
        assert!(list(Some(Uuid::max()), 9).await.is_empty() && list(None, 0).await.is_empty());
        assert_eq!(
            graph.list_derived(&b, kind, None, 9).await.unwrap(),
            derived(2, "milk")[n..=n]
        );
    }
    let asked = [later[4].id(), derived(9, "")[0].id(), one[0].id(), three[5].id()];
    let found = graph.derived(&a, &asked).await.unwrap();
    assert_eq!(found, [later[4].clone(), one[0].clone(), three[5].clone()]);
    assert!(graph.derived(&b, &[one[0].id()]).await.unwrap().is_empty());

    put_derived(&*graph, &[], &[one[1].id(), derived(9, "")[1].id()]).await;
    let entities = graph.list_derived(&a, DerivedKind::Entity, None, 9).await.unwrap();
    assert_eq!(entities, [later[1].clone(), three[1].clone()]);
    assert!(graph.derived(&a, &[one[1].id()]).await.unwrap().is_empty());
    assert_eq!(
        graph.derived(&a, &[one[2].id()]).await.unwrap(),
        [one[2].clone()],
        "of another kind"
    );
}

/// The feed gives the latest change of every object with an increasing sequence. Putting an equal object makes no
/// change, and units do not appear in this feed.
pub async fn their_changes_are_fed_by_sequence(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    let (one, two) = (derived(1, "tea"), derived(2, "tea"));
    put_derived(&*graph, &one[..2], &[]).await;
    let (words, first) = read_feed(&*graph, 0).await;
    assert_eq!(words, ["Entity 1 put", "Fact 1 put"]);
    put_derived(&*graph, &two[..1], &[]).await;
    graph.put_derived(&space("b"), &derived(7, "milk"), &[]).await.unwrap();
    let (words, second) = read_feed(&*graph, first).await;
    assert_eq!(words, ["Fact 2 put"]);
    let page = graph.derived_changes(&space("a"), 0, 2).await.unwrap();
    assert_eq!(page.iter().map(|it| it.sequence).max(), Some(first), "cut at the limit");

    put_derived(&*graph, &[one[0].clone(), two[0].clone()], &[two[1].id()]).await;
    graph
        .put_units(&space("a"), &[super::sample::unit(1)], &[])
        .await
        .unwrap();
    assert_eq!(
        read_feed(&*graph, second).await,
        (Vec::new(), second),
        "nothing has changed"
    );
    assert_eq!(
        graph.changes(&space("a"), 0, 9).await.unwrap().len(),
        1,
        "units have a separate feed"
    );

    put_derived(&*graph, &derived(2, "coffee")[..1], &[one[0].id()]).await;
    let (words, third) = read_feed(&*graph, second).await;
    assert_eq!(words, ["Fact 1 gone", "Fact 2 put"]);
    put_derived(&*graph, &[], &[one[0].id()]).await;
    assert_eq!(
        read_feed(&*graph, third).await.0,
        Vec::<String>::new(),
        "it was gone before"
    );
    put_derived(&*graph, &one[..1], &[]).await;
    assert_eq!(read_feed(&*graph, third).await.0, ["Fact 1 put"], "and is back");
    assert_eq!(
        read_feed(&*graph, 0).await.0,
        ["Entity 1 put", "Fact 1 put", "Fact 2 put"]
    );
}

/// An object that a call both deletes and puts exists afterwards. If a call puts an id twice, the last object counts.
pub async fn what_is_gone_goes_before_what_is_put(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    let (tea, coffee) = (derived(1, "tea"), derived(1, "coffee"));
    put_derived(&*graph, &tea, &ids(&tea)).await;
    assert_eq!(graph.derived(&space("a"), &ids(&tea)).await.unwrap(), tea);
    put_derived(&*graph, &[tea.clone(), coffee.clone()].concat(), &[]).await;
    assert_eq!(graph.derived(&space("a"), &ids(&tea)).await.unwrap(), coffee);
    let gone = [ids(&tea), ids(&tea)].concat();
    put_derived(&*graph, &tea[..1], &gone).await;
    assert_eq!(graph.derived(&space("a"), &ids(&tea)).await.unwrap(), tea[..1]);
    put_derived(&*graph, &[], &[]).await;
    assert_eq!(graph.derived(&space("a"), &ids(&tea)).await.unwrap(), tea[..1]);
}

/// Every text is returned unchanged, next to all others.
pub async fn any_text_comes_back(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    let all: Vec<Derived> = (1..).zip(HOSTILE).flat_map(|(n, text)| derived(n, text)).collect();
    put_derived(&*graph, &all, &[]).await;
    assert_eq!(graph.derived(&space("a"), &ids(&all)).await.unwrap(), all);
    let changes = graph.derived_changes(&space("a"), 0, 99).await.unwrap();
    assert_eq!(changes.len(), all.len());
    assert!(
        changes
            .into_iter()
            .all(|it| it.item.is_some_and(|item| all.contains(&item)))
    );
}

/// A value that is not a finite number is rejected, and nothing of its step is stored.
pub async fn what_is_no_number_is_refused(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    let [fact, entity, _, member, page, merge, _] = derived(1, "tea");
    let mut broken = vec![entity, fact, member, page, merge];
    for it in &mut broken {
        match it {
            Derived::Fact(it) => it.confidence = f32::NAN,
            Derived::Entity(it) => it.synonyms[0].cosine = f32::INFINITY,
            Derived::Member(it) => it.similarity = f32::NAN,
            Derived::Page(it) => it.links[0].weight = f32::NAN,
            Derived::Merge(it) => it.similarity = f32::NEG_INFINITY,
            Derived::Topic(_) | Derived::Standing(_) => {}
        }
    }
    for it in broken {
        let [topic] = [derived(2, "tea")[2].clone()];
        let refused = graph.put_derived(&space("a"), &[topic, it], &[]).await;
        assert_eq!(error_kind(refused), Some(ErrorKind::Invalid));
    }
    assert!(graph.derived_changes(&space("a"), 0, 9).await.unwrap().is_empty());
}

/// A caller that read the stored state cannot overwrite changes that any call made since.
pub async fn what_is_put_out_of_turn_is_refused(open: impl AsyncFn() -> Ports) {
    let (Ports { graph, .. }, a) = (open_empty(&open).await, space("a"));
    let (tea, coffee, milk) = (derived(1, "tea"), derived(1, "coffee"), derived(2, "milk"));
    let turn = async || graph.derived_write_count(&a).await.unwrap();
    let at =
        async |turn, items: &[Derived], gone: &[DerivedId]| graph.put_derived_if_unchanged(&a, turn, items, gone).await;
    assert_eq!(turn().await, 0);
    at(0, &tea, &[]).await.unwrap();
    assert_eq!(error_kind(at(0, &coffee, &ids(&tea)).await), Some(ErrorKind::Conflict));
    assert_eq!(error_kind(at(2, &milk, &ids(&tea)).await), Some(ErrorKind::Conflict));
    assert_eq!(graph.derived(&a, &[ids(&tea), ids(&milk)].concat()).await.unwrap(), tea);
    assert_eq!(turn().await, 1);
    at(1, &[], &[]).await.unwrap();
    assert_eq!(
        error_kind(at(1, &coffee, &[]).await),
        Some(ErrorKind::Conflict),
        "nothing was put"
    );
    put_derived(&*graph, &tea, &[]).await;
    assert_eq!(
        error_kind(at(2, &coffee, &[]).await),
        Some(ErrorKind::Conflict),
        "put by another call"
    );
    assert_eq!(turn().await, 3);
    at(3, &coffee, &[]).await.unwrap();
    assert_eq!(graph.derived(&a, &ids(&tea)).await.unwrap(), coffee);

    graph.put_derived_if_unchanged(&space("b"), 0, &tea, &[]).await.unwrap();
    let unknown = graph.put_derived_if_unchanged(&space("c"), 0, &tea, &[]).await;
    assert_eq!(error_kind(unknown), Some(ErrorKind::NotFound));
    assert_eq!(graph.derived_write_count(&space("c")).await.unwrap(), 0);
    drop(graph);
    let Ports { graph, records, .. } = open().await;
    assert_eq!(graph.derived_write_count(&a).await.unwrap(), 4);
    assert!(records.delete_space(&a).await.unwrap() && records.create_space(&a, noon()).await.unwrap());
    assert_eq!(graph.derived_write_count(&a).await.unwrap(), 0, "another space");
}

/// If several callers write at the same turn, exactly one of them succeeds.
pub async fn of_a_turn_one_gets_through(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    for turn in 0..8 {
        let (a, items) = (space("a"), ["tea", "coffee", "milk"].map(|it| derived(1, it)));
        let puts = items.iter().map(|it| graph.put_derived_if_unchanged(&a, turn, it, &[]));
        let outcomes = futures::future::join_all(puts).await;
        let through: Vec<usize> = (0..3).filter(|it| outcomes[*it].is_ok()).collect();
        assert_eq!(through.len(), 1);
        let stored = graph.derived(&a, &ids(&items[0])).await.unwrap();
        assert_eq!(stored, items[through[0]]);
        let mut refused = outcomes.into_iter().filter_map(error_kind);
        assert!(refused.all(|it| it == ErrorKind::Conflict));
    }
}

/// All objects survive a restart of the store, and the sequence continues.
pub async fn they_survive(open: impl AsyncFn() -> Ports) {
    let a = space("a");
    let ports = open_empty(&open).await;
    let all = derived(1, "tea");
    put_derived(&*ports.graph, &all, &[]).await;
    put_derived(&*ports.graph, &[], &[all[3].id()]).await;
    let before = ports.graph.derived_changes(&a, 0, 99).await.unwrap();
    drop(ports);

    let graph = open().await.graph;
    assert_eq!(graph.derived_changes(&a, 0, 99).await.unwrap(), before);
    assert_eq!(graph.derived(&a, &ids(&all)).await.unwrap().len(), 6);
    put_derived(&*graph, &derived(2, "tea")[..1], &[]).await;
    let last = before.iter().map(|it| it.sequence).max().unwrap();
    assert_eq!(graph.derived_changes(&a, last, 99).await.unwrap().len(), 1);
}

//! A larger budget never shows less: every line of a pack is in every larger pack, with at least the same sentences.

use std::collections::BTreeSet;

use domain::evidence::PackItem;
use domain::id::UnitId;
use domain::unit::Unit;
use proptest::prelude::*;
use router::space::view::View;

use crate::talk::{ask, ask_with_gists, gist, request, turn_from_line, view_of_gists};

const ASKED: &str = "When does the bakery with the oven open?";

const SENTENCES: [&str; 12] = [
    "The bakery opens beside the old harbour in June.",
    "Ines bought a stone oven for the bakery.",
    "Piet painted the sign of the bakery.",
    "It rained.",
    "We argued about the rent of the bakery for two hours, and the landlord came down by ten euros in the end.",
    "My sister wants rye bread, spelt bread, rolls, two cakes and a tart with plums for her wedding.",
    "The oven broke.",
    "Nobody came.",
    "In June the ferry brings tourists to the harbour, they eat and leave.",
    "Deliveries of flour come on Tuesdays at five.",
    "He said the tiles, the lamps, the drains, the counter and the chimney cost more than the oven and the sign together.",
    "Good night!",
];

/// Generates turns with one to nine sentences, by three speakers, over some weeks.
fn talk() -> impl Strategy<Value = Vec<Unit>> {
    let sentences = prop::collection::vec(0..SENTENCES.len(), 1..10);
    let turn = (0..28_usize, 0..3_usize, sentences);
    prop::collection::vec(turn, 1..60).prop_map(|turns| {
        let units = turns.into_iter().enumerate().map(|(at, (day, actor, sentences))| {
            let text: Vec<&str> = sentences.into_iter().map(|it| SENTENCES[it]).collect();
            let time = format!("2024-05-{:02}T{:02}:{:02}:00Z", day + 1, at / 60, at % 60);
            let actor = ["Ines", "Piet", "Maximiliane Achterberg"][actor];
            turn_from_line(at, &format!("{time}|{actor}|{}", text.join(" ")))
        });
        units.collect()
    })
}

/// Generates gists, each of one to three neighbouring turns. Several may be of one turn.
fn gists() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    prop::collection::vec((0..60_usize, 1..4_usize, 0..SENTENCES.len()), 0..80)
}

/// Returns the gists of a talk.
fn gists_of(units: &[Unit], gists: &[(usize, usize, usize)]) -> Vec<Unit> {
    let numbered = gists.iter().zip(0..);
    let read = numbered.map(|((first, count, sentence), number)| {
        let first = first % units.len();
        let turns = &units[first..(first + count).min(units.len())];
        let text = format!("{} told of number {number}: {}", turns[0].actor, SENTENCES[*sentence]);
        gist(number, turns, &text)
    });
    read.collect()
}

fn shown(view: &View, tokens: u32) -> Vec<PackItem> {
    let routed = ask(view, &request(ASKED, tokens));
    assert!(
        routed.pack.tokens <= tokens,
        "{} of {tokens} tokens",
        routed.pack.tokens
    );
    routed.pack.items
}

/// Returns the sentences of a line.
fn sentences(item: &PackItem) -> Vec<&'static str> {
    SENTENCES.into_iter().filter(|it| item.text.contains(it)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_larger_budget_shows_every_line_of_a_smaller_one(
        units in talk(),
        mut budgets in prop::collection::vec(20..2_100_u32, 2..6),
    ) {
        let view = View::from_units(units);
        budgets.extend([256, 512, 1_024]);
        budgets.sort_unstable();
        let packs: Vec<Vec<PackItem>> = budgets.iter().map(|it| shown(&view, *it)).collect();
        check_growth(&budgets, &packs)?;
    }

    #[test]
    fn a_larger_budget_shows_every_line_of_a_smaller_one_with_gists(
        units in talk(),
        gists in gists(),
        mut budgets in prop::collection::vec(20..2_100_u32, 2..6),
    ) {
        let gists = gists_of(&units, &gists);
        let (view, view_of_gists) = (View::from_units(units), view_of_gists(gists.clone()));
        budgets.extend([256, 512, 1_024]);
        budgets.sort_unstable();
        let mut packs = Vec::new();
        for &tokens in &budgets {
            let pack = ask_with_gists(&view, &view_of_gists, &request(ASKED, tokens)).pack;
            prop_assert!(pack.tokens <= tokens, "{} of {tokens} tokens", pack.tokens);
            let packed: BTreeSet<UnitId> = pack.items.iter().map(|it| it.unit).collect();
            for gist in gists.iter().filter(|it| packed.contains(&it.id)) {
                let mut turns = gist.records.iter().map(|it| UnitId::of_turn(*it));
                prop_assert!(!turns.all(|it| packed.contains(&it)), "both are packed: {gist:?}");
            }
            packs.push(pack.items);
        }
        check_growth(&budgets, &packs)?;
    }
}

/// Checks that each pack shows every line of the pack before it, with at least the same sentences.
fn check_growth(budgets: &[u32], packs: &[Vec<PackItem>]) -> Result<(), TestCaseError> {
    for pair in packs.windows(2) {
        for item in &pair[0] {
            let larger = pair[1].iter().find(|it| it.unit == item.unit);
            prop_assert!(larger.is_some(), "{budgets:?}: lost {item:?}");
            let (less, more) = (sentences(item), larger.map(sentences).unwrap_or_default());
            prop_assert!(
                less.iter().all(|it| more.contains(it)),
                "{budgets:?}: {less:?} became {more:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn packs_use_nearly_the_whole_budget() {
    let units = (0..40).map(|at| {
        let text = [
            SENTENCES[at % 12],
            SENTENCES[(at * 5 + 1) % 12],
            SENTENCES[(at * 7 + 3) % 12],
        ]
        .join(" ");
        turn_from_line(
            at,
            &format!("2024-05-{:02}T09:00:00Z|Ines|Day {at}: {text}", at % 28 + 1),
        )
    });
    let view = View::from_units(units);
    for tokens in [128, 256, 512] {
        let used: u32 = shown(&view, tokens).iter().map(|it| it.tokens).sum();
        assert!(used > tokens * 9 / 10, "{used} of {tokens} tokens");
    }
}

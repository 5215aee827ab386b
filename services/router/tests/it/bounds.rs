//! Excluded units are never evidence, and the router answers unusual questions and budgets.

use chrono::DateTime;
use domain::id::UnitId;
use domain::message::RoutedV1;
use proptest::prelude::*;
use router::space::view::View;

use crate::talk::{ask, packed, request, units};

#[test]
fn times_and_filters_exclude_units() {
    let view = View::from_units(units());
    let mut asked = request("What did Liv and Omar do with Biscuit, bowls and pottery?", 500);
    let all = ask(&view, &asked).units;
    assert_eq!(all, 8);
    // The moment itself is included.
    asked.as_of = Some(DateTime::parse_from_rfc3339("2024-04-11T18:00:00Z").unwrap());
    let early = ask(&view, &asked);
    assert_eq!(early.units, 5);
    assert!(
        packed(&early)
            .iter()
            .all(|it| ["r0", "r1", "r2", "r3", "r4"].contains(it))
    );
    assert!(
        early
            .scenes
            .iter()
            .flat_map(|it| &it.turns)
            .all(|it| Some(it.observed_at) <= asked.as_of)
    );
    asked.filter.actors = vec!["Omar".to_owned()];
    assert!(ask(&view, &asked).pack.items.iter().all(|it| it.actor == "Omar"));
    asked.filter.sessions = vec!["2024-03-02".to_owned()];
    assert_eq!(ask(&view, &asked).units, 2);
}

#[test]
fn a_filter_accepts_session_ids_of_packs_and_names_in_any_case() {
    let view = View::from_units(units());
    let mut asked = request("What did Omar make?", 500);
    let made = |routed: RoutedV1| -> Vec<UnitId> { routed.pack.items.iter().map(|it| it.unit).collect() };
    asked.filter.sessions = vec!["2024-04-11".to_owned()];
    let named = ask(&view, &asked);
    assert_eq!(named.units, 3);
    let session = named.pack.items[0].session.to_string();
    asked.filter.sessions = vec![session.to_uppercase()];
    assert_eq!(made(ask(&view, &asked)), made(named));
    asked.filter.sessions.push("2024-05-20".to_owned());
    assert_eq!(ask(&view, &asked).units, 4);

    asked.filter.actors = vec!["oMAR".to_owned()];
    assert_eq!(ask(&view, &asked).units, 2);
    asked.filter.actors = vec!["oma".to_owned()];
    assert_eq!(ask(&view, &asked).units, 0, "a whole name");
    let mut greek = units();
    for it in &mut greek {
        it.actor = "ΟΔΥΣΣΕΥΣ".to_owned();
    }
    asked.filter.actors = vec!["Οδυσσευς".to_owned()];
    assert_eq!(ask(&View::from_units(greek), &asked).units, 4);
}

#[test]
fn unusual_questions_are_answered() {
    let long = "biscuit waffles unheard ".repeat(500);
    for view in [View::default(), View::from_units(units())] {
        for question in ["", "?", "🎉🎉", "zxqv plorf", "Что это?", "Liv", long.as_str()] {
            let routed = ask(&view, &request(question, 120));
            assert!(routed.pack.tokens <= 120);
            assert_eq!(routed.units, view.turns().len() as u64, "{question}");
            assert!(
                routed.explained.iter().all(|it| it.scores.support.is_finite()),
                "{question}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn packs_never_exceed_their_budget(question in "(\\PC{0,12}|Liv|Omar|dog|bowl|when|what|mug|view| ){0,12}", budget in 0_u32..300) {
        let view = View::from_units(units());
        let pack = ask(&view, &request(&question, budget)).pack;
        let recounted: usize = pack.items.iter().map(|it| text::count_tokens(&it.text) + 1).sum();
        prop_assert_eq!(pack.tokens as usize, recounted);
        prop_assert!(pack.tokens <= budget);
    }

    #[test]
    fn packs_stop_when_they_hold_enough_probability(question in "(Liv|Omar|dog|bowl|when|what|mug|view| ){1,12}", enough in 0.01_f32..1.0) {
        let view = View::from_units(units());
        let mut asked = request(&question, 300);
        let whole = ask(&view, &asked).pack;
        asked.enough = enough;
        let pack = ask(&view, &asked).pack;
        let held: f32 = pack.items.iter().map(|it| it.probability).sum();
        let most = pack.items.iter().map(|it| it.probability).fold(0.0, f32::max);
        prop_assert!(pack == whole || held >= enough && held - most < enough, "{held} of {enough}");
        prop_assert!(pack.items.iter().all(|it| whole.items.iter().any(|other| other.unit == it.unit)));
    }
}

//! Hits of a sentence encoder count, even if question and turn share no word.

use domain::port::{Hit, SearchResult};
use router::route;
use router::route::query::Query;
use router::route::scoring::edges::Related;
use router::route::scoring::heads::Weights;
use router::route::similarity::encoder_similarity::Encoded;
use router::space::view::View;

use crate::talk::{request, units};

/// Returns hits for turns of the talk, with the given cosines.
fn hits(cosines: &[(usize, f32)]) -> Vec<Hit> {
    let units = units();
    let hit = |&(at, score): &(usize, f32)| Hit {
        unit: units[at].id,
        part: 0,
        score,
    };
    cosines.iter().map(hit).collect()
}

#[test]
fn cosines_are_scaled_between_the_least_and_the_best_hit() {
    let view = View::from_units(units());
    let found = hits(&[(6, 0.8), (5, 0.5), (0, 0.2), (5, 0.3)]);
    let encoded = Encoded::from_hits(&view, &found);
    let at = |turn: usize| view.position_of_unit(units()[turn].id).unwrap();
    let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-6, "{a} {b}");
    for (turn, between, over_best) in [(6, 1.0, 1.0), (5, 0.5, 0.625), (0, 0.0, 0.25), (3, 0.0, 0.25)] {
        near(encoded.scaled_cosine(at(turn)), between);
        near(encoded.over_best(at(turn)), over_best);
    }
    assert!(!encoded.is_empty() && Encoded::default().is_empty());
}

/// Returns the position of a turn in the ranking if the encoder finds `best` much more similar than all others.
fn rank(turn: usize, best: usize) -> usize {
    let view = View::from_units(units());
    let request = request("Which accident happened there?", 512);
    let cosines: Vec<(usize, f32)> = (0..8).map(|it| (it, if it == best { 0.7 } else { 0.1 })).collect();
    let mut query = Query::from_question(&request.question, &view, route::question_moment(&view, &request));
    query.encoded = Encoded::from_hits(&view, &hits(&cosines));
    let (found, related) = (SearchResult::default(), Related::new());
    let routed = route::route_turns(
        &view,
        &query,
        &found,
        &related,
        &request,
        Weights::builtin_for_encoder().unwrap(),
    );
    let name = format!("r{turn}");
    routed
        .ranked
        .iter()
        .position(|it| it.external_ids == [name.as_str()])
        .unwrap()
}

#[test]
fn turns_that_the_encoder_finds_rank_higher() {
    for (turn, other) in [(2, 6), (6, 2), (3, 6)] {
        assert!(rank(turn, turn) < rank(turn, other), "r{turn}");
    }
    assert_eq!(rank(6, 6), 0);
}

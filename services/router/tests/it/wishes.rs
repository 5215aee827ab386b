//! A standing wish is in the pack of a question that asks what to do, even if they share no word.

use domain::unit::Unit;
use router::space::view::View;

use crate::talk::{ask, packed, request, turn_from_line};

const TALK: &str = "\
2024-05-01T09:00:00Z|user|How far is it from Graz to Maribor by train?
2024-05-01T09:01:00Z|assistant|About seventy kilometres, a little over an hour.
2024-05-01T09:02:00Z|user|Good. From now on, give me every distance in miles, please.
2024-05-01T09:03:00Z|assistant|Noted, miles it is.
2024-05-02T09:00:00Z|user|My train to Maribor was late and I missed the match.
2024-05-02T09:01:00Z|assistant|What a pity. Shall I look for the score?
2024-05-03T09:00:00Z|user|I watched the trains from the bridge with my nephew.
2024-05-03T09:01:00Z|assistant|That sounds like a fine afternoon by the rails.
2024-05-04T09:00:00Z|user|The ticket to Trieste was dear but the trip along the coast was long and lovely.
2024-05-04T09:01:00Z|assistant|The coast is at its best in May.";

fn units() -> Vec<Unit> {
    TALK.lines()
        .enumerate()
        .map(|(at, line)| turn_from_line(at, line))
        .collect()
}

#[test]
fn a_standing_wish_is_packed_if_the_question_asks_what_to_do() {
    let view = View::from_units(units());
    let rank = |question: &str| {
        let routed = ask(&view, &request(question, 400));
        routed.ranked.iter().position(|it| it.external_ids == ["r2"]).unwrap()
    };
    let to_do = rank("Can you plan a walk along the coast for me?");
    let past = rank("Which walk along the coast was planned?");
    assert!(to_do < past, "{to_do} and {past}");
    assert!(packed(&ask(&view, &request("Can you plan a walk along the coast for me?", 60))).contains(&"r2"));
}

#[test]
fn a_clipped_line_keeps_the_standing_wish_of_a_long_message() {
    let long = "2024-05-05T09:00:00Z|user|The museum was full and the guide spoke of lamps, helmets and boots for an hour. \
                My brother bought a lamp and a helmet for the cellar. Always put prices in francs. \
                Then we had soup and cake in the miners' hall with the guide and his wife.";
    let view = View::from_units(units().into_iter().chain([turn_from_line(10, long)]));
    let pack = ask(
        &view,
        &request("What should a day at the museum cost, can you plan it?", 60),
    )
    .pack;
    let shown = pack.items.iter().find(|it| it.external_ids == ["r10"]).unwrap();
    assert!(shown.text.contains("Always put prices in francs."), "{}", shown.text);
}

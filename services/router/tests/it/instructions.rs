//! For a language model that answers, standing wishes are packed for every question, and take little room.

use domain::derived::Derived;
use domain::fact::Aspect;
use domain::message::RouteV1;
use host::Context;
use router::{Config, Router};

use crate::derived::{derived, turn};
use crate::stores::{moment, put};
use crate::talk::{packed, space, turn_from_line, units};

const ASKED: &str = "Which town did the beagle breed club meet in?";

/// Returns the callers' ids of the pack for a question, with or without standing instructions.
async fn asked(router: &Router, tokens: u32, instructions: bool) -> Vec<String> {
    let request = RouteV1 {
        instructions,
        ..RouteV1::new(space(), ASKED.to_owned(), tokens)
    };
    let routed = router.route_question(request).await.unwrap();
    assert!(routed.pack.tokens <= tokens);
    packed(&routed).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn standing_instructions_are_packed_if_requested_and_still_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    let club = (8..40).map(|it| {
        let line = format!("2024-06-01T10:{it}:00Z|Liv|The beagle breed club of Biscuit met in town number {it}.");
        turn_from_line(it, line.replace("10:8:", "10:08:").replace("10:9:", "10:09:").as_str())
    });
    put(&ctx, &units().into_iter().chain(club).collect::<Vec<_>>()).await;
    let mut facts: Vec<Derived> = derived();
    for derived in &mut facts {
        let Derived::Fact(fact) = derived else { continue };
        // One fact still holds, and the other has ended.
        if fact.object == "1 mug" || fact.object == "Bergen" {
            fact.aspect = Aspect::Instruction;
        }
    }
    ctx.backends.graph.put_derived(&space(), &facts, &[]).await.unwrap();
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    let [holds, ended] = [turn(6), turn(4)].map(|unit| {
        let all = units();
        all.iter().find(|it| it.id == unit).unwrap().external_ids[0].clone()
    });

    let plain = asked(&router, 160, false).await;
    assert!(!plain.contains(&holds), "{plain:?}");
    let shown = asked(&router, 160, true).await;
    assert!(shown.contains(&holds) && !shown.contains(&ended), "{shown:?}");
    assert!(shown.len() > 3, "it leaves room for evidence: {shown:?}");
    let little = asked(&router, 60, true).await;
    assert!(!little.contains(&holds), "{little:?}");
    ctx.shutdown.cancel();
}

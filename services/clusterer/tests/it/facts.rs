//! Tests of facts over time: scenarios, and any order of delivery.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use clusterer::{Acts, Entities, Facts};
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::fact::Fact;
use domain::id::{CurationId, SessionId};
use domain::unit::Unit;
use proptest::prelude::*;

use crate::held::Held;
use crate::world::shuffled;
use crate::{space, unit};

const SCENARIOS: &str = include_str!("../data/facts.txt");

#[derive(Debug, Default)]
struct Scenario {
    name: String,
    units: Vec<Unit>,
    acts: Vec<String>,
    /// Questions with their expected answers.
    asked: Vec<(String, String)>,
}

/// Components of one space, and the contents of a store.
#[derive(Default)]
struct Memory {
    entities: Entities,
    facts: Facts,
    held: Held,
}

impl Memory {
    fn take<'a>(&mut self, units: impl IntoIterator<Item = &'a Unit>, acts: &Acts) {
        for unit in units {
            self.entities.apply_unit(unit);
            self.facts.apply_unit(unit);
        }
        self.entities.take_changes(&space(), acts);
        self.held.take(self.facts.take_changes(&self.entities, acts));
    }

    fn facts(&self) -> Vec<&Fact> {
        let found = self
            .held
            .0
            .values()
            .filter_map(|it| if let Derived::Fact(it) = it { Some(it) } else { None });
        found.collect()
    }

    fn fact(&self, shown: &str) -> &Fact {
        let found = self.facts().into_iter().filter(|it| self::shown(it) == shown);
        let first = found.min_by_key(|it| it.recorded_at);
        first.unwrap_or_else(|| panic!("no {shown}: {:?}", self.facts()))
    }

    /// Returns the facts that hold on one day as known on another day, as subject, predicate and object.
    fn answer(&self, asked: &str) -> String {
        let (held, seen) = asked.split_once(" seen ").unwrap_or((asked, asked));
        let known = self.facts().into_iter().filter_map(|it| it.known_at(day(seen)));
        let mut holding: Vec<String> = known.filter(|it| it.holds_at(day(held))).map(|it| shown(&it)).collect();
        holding.sort();
        if holding.is_empty() {
            "nothing".to_owned()
        } else {
            holding.join("; ")
        }
    }
}

#[test]
fn scenarios_are_answered_correctly() {
    let mut wrong = Vec::new();
    let all = scenarios();
    assert!(all.len() >= 40, "{} scenarios", all.len());
    for scenario in all {
        let mut memory = Memory::default();
        memory.take(&scenario.units, &Acts::default());
        let (acts, removed) = done(&scenario, &mut memory);
        memory.take(&removed, &acts);
        for (asked, expected) in &scenario.asked {
            let mut expected: Vec<&str> = expected.split("; ").collect();
            expected.sort_unstable();
            let (expected, answer) = (expected.join("; "), memory.answer(asked));
            if answer != expected {
                wrong.push(format!(
                    "{} ? {asked}\n  expected {expected}\n  answered {answer}",
                    scenario.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn undoing_the_decisions_of_a_user_restores_the_facts() {
    for scenario in scenarios().into_iter().filter(|it| !it.acts.is_empty()) {
        let (mut memory, mut plain) = (Memory::default(), Memory::default());
        plain.take(&scenario.units, &Acts::default());
        memory.take(&scenario.units, &Acts::default());
        let (acts, removed) = done(&scenario, &mut memory);
        memory.take(&removed, &acts);
        assert_ne!(memory.held, plain.held, "{}", scenario.name);
        memory.take(&scenario.units, &Acts::default());
        assert_eq!(memory.held, plain.held, "{}", scenario.name);
    }
}

#[test]
fn a_fact_stated_by_another_person_names_the_speaker_and_is_less_certain() {
    let scenario = scenario_of("2024-01-10 Ben: I live in Oslo.\n2024-05-10 Nora: Ben lives in Bergen.");
    let mut memory = Memory::default();
    memory.take(&scenario.units, &Acts::default());
    let (own, other) = (memory.fact("Ben lives in Oslo"), memory.fact("Ben lives in Bergen"));
    assert_eq!((own.told_by.as_str(), other.told_by.as_str()), ("Ben", "Nora"));
    assert!(own.confidence > other.confidence && own.entity == other.entity && own.entity.is_some());
}

#[test]
fn a_reply_completes_the_statement_that_its_question_began() {
    let mut memory = Memory::default();
    let mut scenario = scenario_of("2024-01-10 Nora: I live in Porto.\n2024-05-10 Nora: Cork.");
    scenario.units[1].question = "Where do you live now?".to_owned();
    memory.take(&scenario.units, &Acts::default());
    let (old, new) = (memory.fact("Nora lives in Porto"), memory.fact("Nora lives in Cork"));
    assert_eq!(old.retired_by, Some(new.id));
}

#[test]
fn a_contradiction_months_later_in_a_session_is_a_change() {
    for denial in ["Actually, I live in Braga.", "No, I live in Braga."] {
        let mut scenario = scenario_of(&format!("2024-01-10 Nora: I live in Porto.\n2024-06-10 Nora: {denial}"));
        scenario.units[1].session = scenario.units[0].session;
        let mut memory = Memory::default();
        memory.take(&scenario.units, &Acts::default());
        let (old, new) = (memory.fact("Nora lives in Porto"), memory.fact("Nora lives in Braga"));
        assert_eq!(old.valid_until, Some(new.recorded_at), "{denial}");
        assert_eq!(new.valid_from.start, new.recorded_at, "{denial}");
    }
}

#[test]
fn a_no_that_answers_a_question_corrects_nothing() {
    let mut scenario = scenario_of("2024-01-10 Nora: I live in Porto.\n2024-01-10 Nora: No, I live in Braga.");
    scenario.units[1].question = "Do you live in Faro?".to_owned();
    let mut memory = Memory::default();
    memory.take(&scenario.units, &Acts::default());
    let (old, new) = (memory.fact("Nora lives in Porto"), memory.fact("Nora lives in Braga"));
    assert_eq!(old.valid_until, Some(new.recorded_at));
    assert!(old.valid_from.start < new.recorded_at);
}

#[test]
fn a_denial_that_answers_a_question_changes_nothing_else() {
    let mut scenario = scenario_of("2024-01-10 Ben: I live in Oslo.\n2024-01-10 Ben: No, it's Fido.");
    scenario.units[1].question = "Is that dog called Rex?".to_owned();
    let mut memory = Memory::default();
    memory.take(&scenario.units, &Acts::default());
    assert_eq!(memory.answer("2024-01-11"), "Ben lives in Oslo");
    assert_eq!(memory.facts().len(), 1);
}

#[test]
fn the_cost_per_fact_does_not_grow_with_thousands_of_one_kind() {
    let line = |at: usize| format!("2024-01-10 Nora: I bought a book called Zorb{at}.\n");
    let scenario = scenario_of(&(0..20_000).map(line).collect::<String>());
    let mut memory = Memory::default();
    let start = std::time::Instant::now();
    memory.take(&scenario.units, &Acts::default());
    let took = start.elapsed();
    let holding = memory.facts().into_iter().filter(|it| it.valid_until.is_none()).count();
    assert_eq!(holding, 20_000);
    assert!(took.as_secs() < 25, "{took:?}");
}

#[test]
fn a_repeated_statement_is_one_fact_with_more_confidence() {
    let mut memory = Memory::default();
    memory.take(&scenario_of("2024-01-10 Nora: I like oysters.").units, &Acts::default());
    let once = memory.fact("Nora likes oysters").clone();
    let twice = scenario_of("2024-01-10 Nora: I like oysters.\n2024-05-10 Nora: I like oysters.");
    memory.take(&twice.units, &Acts::default());
    assert_eq!(memory.facts().len(), 1);
    let now = memory.fact("Nora likes oysters");
    assert!(now.confidence > once.confidence);
    assert_eq!(
        (now.id, now.recorded_at, &now.valid_from),
        (once.id, once.recorded_at, &once.valid_from)
    );
}

#[test]
fn a_closed_fact_names_the_fact_that_closed_it_and_the_time_of_that_statement() {
    let mut memory = Memory::default();
    let scenario = scenario_of("2024-01-10 Nora: I live in Porto.\n2024-06-05 Nora: I moved to Cork in March.");
    memory.take(&scenario.units, &Acts::default());
    let (old, new) = (memory.fact("Nora lives in Porto"), memory.fact("Nora lives in Cork"));
    assert_eq!(old.retired_by, Some(new.id));
    assert_eq!(old.valid_until, Some(new.valid_from.start));
    assert_eq!(old.closed_at, Some(new.recorded_at));
    assert_eq!(new.valid_from.words, "March");
}

#[test]
fn an_end_replaced_by_an_earlier_one_is_known_until_then() {
    let mut memory = Memory::default();
    let scenario = scenario_of(
        "2024-06-05 Nora: We're moving to Utrecht in September.\n2024-07-05 Nora: We're moving to Utrecht in November.",
    );
    memory.take(&scenario.units[..1], &Acts::default());
    let alone = memory.fact("Nora is moving to Utrecht in September").clone();
    assert!(alone.valid_until > Some(day("2024-09-01")));
    memory.take(&scenario.units, &Acts::default());
    let put_off = memory.fact("Nora is moving to Utrecht in September");
    assert!(put_off.valid_until < alone.valid_until);
    assert_eq!(put_off.known_at(day("2024-06-06")), Some(alone));
    assert_eq!(put_off.known_at(day("2024-07-06")).as_ref(), Some(put_off));
}

#[test]
fn a_correction_replaces_a_fact_and_both_are_kept() {
    let mut memory = Memory::default();
    let scenario = scenario_of("2024-01-10 Nora: I live in Porto.\n! 2024-05-10 correct Nora lives in Porto -> Faro");
    memory.take(&scenario.units, &Acts::default());
    let former_fact = memory.fact("Nora lives in Porto").clone();
    done(&scenario, &mut memory);
    let (old, new) = (memory.fact("Nora lives in Porto"), memory.fact("Nora lives in Faro"));
    let at = day("2024-05-10");
    assert_eq!(
        (old.id, old.withdrawn, old.retired_by),
        (former_fact.id, true, Some(new.id))
    );
    assert_eq!(old.known_at(at - TimeDelta::seconds(1)), Some(former_fact.clone()));
    assert_eq!(old.known_at(at).map(|it| it.withdrawn), Some(true));
    assert_eq!((new.recorded_at, &new.valid_from), (at, &former_fact.valid_from));
    assert_eq!(new.known_at(at - TimeDelta::seconds(1)), None);
    assert_eq!(
        (new.source, &new.told_by, new.former.len()),
        (former_fact.source, &former_fact.told_by, 0)
    );
}

#[test]
fn a_decision_has_the_same_effect_whenever_it_arrives() {
    for scenario in scenarios().into_iter().filter(|it| !it.acts.is_empty()) {
        let mut at_once = Memory::default();
        at_once.take(&scenario.units, &Acts::default());
        let (acts, removed) = done(&scenario, &mut at_once);
        at_once.take(&removed, &acts);
        for seed in 0..6 {
            let units = shuffled(&scenario.units, seed);
            let mut memory = Memory::default();
            let none = Acts::default();
            for unit in &units {
                memory.take([unit], if seed % 2 == 0 { &acts } else { &none });
            }
            memory.take(&removed, &acts);
            assert_eq!(memory.held, at_once.held, "{} order {seed}", scenario.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn facts_do_not_depend_on_the_order_of_deliveries(
        order in Just(everything()).prop_shuffle(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let removed: BTreeMap<_, _> = removed.iter().map(|it| it.get(&order)).map(|it| (it.id, it.without_content())).collect();
        let rest: Vec<&Unit> = order.iter().filter(|it| !removed.contains_key(&it.id)).collect();
        let mut at_once = Memory::default();
        let mut sorted = rest.clone();
        sorted.sort_by_key(|it| (it.observed_at, it.id));
        at_once.take(sorted, &Acts::default());

        let mut memory = Memory::default();
        let mut cuts: Vec<usize> = cuts.iter().map(|it| it.index(order.len())).collect();
        cuts.extend([0, order.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            memory.take(&order[pair[0]..pair[1]], &Acts::default());
        }
        memory.take(again.iter().map(|it| it.get(&order)), &Acts::default());
        memory.take(removed.values(), &Acts::default());
        prop_assert_eq!(memory.held, at_once.held);
    }
}

/// Returns the units of all scenarios.
fn everything() -> Vec<Unit> {
    scenarios().into_iter().flat_map(|it| it.units).collect()
}

/// Performs the acts of a scenario in order. Returns the acts, and the units whose records were erased.
fn done(scenario: &Scenario, memory: &mut Memory) -> (Acts, Vec<Unit>) {
    let line = |it: &str| scenario.units[it.parse::<usize>().unwrap() - 1].clone();
    let id = |number: &str| CurationId::from_external_id(&space(), number);
    let mut removed = Vec::new();
    let mut curations = Vec::new();
    for (number, done) in (1..).zip(&scenario.acts) {
        let dated = done
            .split_once(' ')
            .filter(|it| it.0.starts_with(|it: char| it.is_ascii_digit()));
        let (at, done) = dated.map_or((day("2024-02-28"), done.as_str()), |it| (day(it.0), it.1));
        let (verb, rest) = done.split_once(' ').unwrap();
        let act = match verb {
            "retire" => Act::RetireFact {
                fact: memory.fact(rest).id,
            },
            "correct" => {
                let (fact, object) = rest.split_once(" -> ").unwrap();
                Act::CorrectFact {
                    fact: memory.fact(fact).id,
                    object: object.to_owned(),
                }
            }
            "forget" => Act::ForgetUnit { unit: line(rest).id },
            "undo" => Act::Undo { curation: id(rest) },
            "erase" => {
                removed.push(line(rest).without_content());
                continue;
            }
            other => panic!("{other}"),
        };
        curations.push(Curation {
            id: id(&number.to_string()),
            at,
            by: String::new(),
            act,
            reason: String::new(),
        });
        memory.take([], &Acts::from_curations(&curations));
    }
    (Acts::from_curations(&curations), removed)
}

fn scenarios() -> Vec<Scenario> {
    let parts = SCENARIOS.split("\n= ").skip(1);
    let mut number = 0;
    parts
        .map(|it| {
            let (name, lines) = it.split_once('\n').unwrap();
            let mut scenario = numbered(lines, &mut number);
            scenario.name = name.to_owned();
            scenario
        })
        .collect()
}

fn scenario_of(lines: &str) -> Scenario {
    numbered(lines, &mut 0)
}

fn numbered(lines: &str, number: &mut usize) -> Scenario {
    let mut scenario = Scenario::default();
    for line in lines.lines().filter(|it| !it.is_empty()) {
        if let Some(act) = line.strip_prefix("! ") {
            scenario.acts.push(act.to_owned());
        } else if let Some(asked) = line.strip_prefix("? ") {
            let (asked, expected) = asked.split_once(": ").unwrap();
            scenario.asked.push((asked.to_owned(), expected.to_owned()));
        } else {
            let (when, speech) = line.split_once(' ').unwrap();
            let (actor, text) = speech.split_once(": ").unwrap();
            let mut unit = unit(*number, actor, text);
            unit.participants.retain(|it| it != actor);
            unit.session = SessionId::from_name(&space(), when);
            unit.observed_at =
                day(when).fixed_offset() - TimeDelta::hours(8) + TimeDelta::minutes(i64::try_from(*number).unwrap());
            if actor == "user" {
                unit.addressee = "assistant".to_owned();
            }
            *number += 1;
            scenario.units.push(unit);
        }
    }
    scenario
}

/// Returns noon of a day.
fn day(text: &str) -> DateTime<Utc> {
    let date: NaiveDate = text.parse().unwrap();
    date.and_hms_opt(12, 0, 0).unwrap().and_utc()
}

fn shown(it: &Fact) -> String {
    format!("{} {} {}", it.subject, it.predicate, it.object)
}

//! The parts of a question, and its cues.

use domain::message::PlanV1;
use domain::port::ModelAllowance;
use reader::plan_question;

fn parts(question: &str) -> Vec<String> {
    let planned = plan_question(&request(question));
    assert_eq!(planned.spent.calls, 0);
    let [whole, parts @ ..] = planned.subgoals.as_slice() else {
        panic!("no subgoal: {question}");
    };
    assert_eq!(whole, question.trim());
    assert!(parts.len() <= 4, "{question}: {parts:?}");
    parts.to_vec()
}

fn cues(question: &str) -> Vec<String> {
    plan_question(&request(question)).cues
}

fn request(question: &str) -> PlanV1 {
    PlanV1 {
        space: "s".parse().unwrap(),
        question: question.to_owned(),
        asked_at: None,
        allow: ModelAllowance::default(),
    }
}

const PARTED: &[(&str, &[&str])] = &[
    // Two questions in one.
    (
        "Where did Mira move and what did she do there?",
        &["Where did Mira move?", "What did Mira do there?"],
    ),
    (
        "When and where did Mira marry?",
        &["When did Mira marry?", "Where did Mira marry?"],
    ),
    (
        "Which city did Mira visit? Who went with her?",
        &["Which city did Mira visit?", "Who went with her?"],
    ),
    // Relations of time.
    (
        "What did Mira buy after she moved to Porto?",
        &["What did Mira buy?", "Mira moved to Porto"],
    ),
    (
        "Before Mira moved to Porto, where did she work?",
        &["Where did Mira work?", "Mira moved to Porto"],
    ),
    (
        "When Mira broke her arm, who drove her to school?",
        &["Who drove Mira to school?", "Mira broke her arm"],
    ),
    (
        "How long after the wedding did Mira quit?",
        &["Did Mira quit?", "The wedding"],
    ),
    (
        "How many days passed between the wedding and the flood?",
        &["The wedding", "The flood"],
    ),
    // Chains.
    (
        "Where does the friend who gave Mira a kayak live?",
        &["The friend gave Mira a kayak", "Where does the friend live?"],
    ),
    (
        "What is the name of the teacher who lives in Porto?",
        &["The teacher lives in Porto", "What is the name of the teacher?"],
    ),
    (
        "What colour is the boat that Jonas painted?",
        &["Jonas painted the boat", "What colour is the boat?"],
    ),
    (
        "Who is the neighbour whose roof leaked?",
        &["The neighbour's roof leaked", "Who is the neighbour?"],
    ),
    // Comparisons and choices.
    (
        "Does Mira prefer tea or coffee?",
        &["Does Mira prefer tea?", "Does Mira prefer coffee?"],
    ),
    (
        "Who moved first, Mira or Jonas?",
        &["Mira moved first", "Jonas moved first"],
    ),
    (
        "Which does Mira like more, tea or coffee?",
        &["Does Mira like more tea?", "Does Mira like more coffee?"],
    ),
    (
        "Did Mira read more books than Jonas?",
        &["Did Mira read books?", "Did Jonas read books?"],
    ),
    (
        "Does Mira like tea more than coffee?",
        &["Does Mira like tea?", "Does Mira like coffee?"],
    ),
    // Several subjects.
    (
        "What do both Mira and Jonas collect?",
        &["What does Mira collect?", "What does Jonas collect?"],
    ),
    (
        "Where were Mira, Jonas and Ada Berg born?",
        &[
            "Where was Mira born?",
            "Where was Jonas born?",
            "Where was Ada Berg born?",
        ],
    ),
    (
        "How old are Mira as well as Jonas?",
        &["How old is Mira?", "How old is Jonas?"],
    ),
    // Lists.
    (
        "What did Mira say about her job, her dog and her garden?",
        &[
            "What did Mira say about her job?",
            "What did Mira say about her dog?",
            "What did Mira say about her garden?",
        ],
    ),
    (
        "Did Mira visit museums and parks in Porto?",
        &["Did Mira visit museums in Porto?", "Did Mira visit parks in Porto?"],
    ),
    (
        "When did Mira sell her car and buy a kayak?",
        &["When did Mira sell her car?", "When did Mira buy a kayak?"],
    ),
    (
        "How did Mira's job and car change?",
        &["How did Mira's job change?", "How did Mira's car change?"],
    ),
];

#[test]
fn a_question_for_two_things_is_split() {
    let mut wrong = Vec::new();
    for (question, expected) in PARTED {
        let found = parts(question);
        if found != *expected {
            wrong.push(format!("{question}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_question_for_one_thing_is_not_split() {
    for question in [
        "Where does Mira live?",
        "When did Mira move to Porto?",
        "What did Mira do before 2020?",
        "What happened between Mira and Jonas?",
        "What are the pros and cons?",
        "Is Mira coming or not?",
        "Since when does Mira paint?",
        "What did Mira say when?",
        "And?",
        "  ",
        "",
        "who that which whose where",
        "or or and and than than",
        "Wohin zog Mira und was machte sie dort?",
        "美玲はいつどこで結婚しましたか？",
        "أين تعيش ميرا؟",
    ] {
        assert_eq!(parts(question), Vec::<String>::new(), "{question}");
    }
}

#[test]
fn names_nouns_and_verbs_are_cues_in_order() {
    for (question, expected) in [
        ("Where did Mira move after the flood?", vec!["Mira", "move", "flood"]),
        (
            "What kind of boat does Jonas's father sail in New York?",
            vec!["boat", "Jonas", "father", "sail", "New York"],
        ),
        ("Tell me about kayaks, kayaks and Kayaks!", vec!["kayaks"]),
        ("What happened on 17 June?", vec!["17", "June"]),
        ("Wohin zog Mira?", vec!["wohin", "zog", "Mira"]),
        ("カヌーは青い", vec!["カヌーは青い"]),
        ("Who was it?", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(cues(question), expected, "{question}");
    }
}

#[test]
fn parts_and_cues_of_long_questions_are_bounded() {
    let long = format!(
        "Did Mira see {}?",
        vec!["a cat and a dog, a hen or an ox"; 400].join(" and ")
    );
    assert!(parts(&long).len() <= 4);
    assert!(cues(&"word\u{301}s, and é or 日 than 本 & that which ".repeat(300)).len() <= 30);
    let many: Vec<String> = (0..200).map(|it| format!("Name{it}")).collect();
    assert_eq!(cues(&many.join(" and ")).len(), 30);
}

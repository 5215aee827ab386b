//! What people are allergic to: stated outright, and often more than one thing.

use domain::anchor::AnswerKind::{self, How, WhatDoes, WhatIs, YesNo};
use domain::evidence::Sufficiency;

use crate::talk::{Case, Talk, check};

fn friends() -> Talk {
    Talk::new(
        "@ 2025-05-05
         Theo: I am allergic to walnuts, so no cake.
         Ines: My daughter is allergic to kiwi.
         Theo: The boiler is loud again.

         @ 2025-06-02
         Theo: I'm allergic to bees, we found out in June.

         @ 2025-06-09
         Ines: Theo is allergic to cats, so no visit.
         Ines: I'm allergic to latex.

         @ 2025-07-02
         Ines: I'm not allergic to latex, the test says.
         Theo: Cat came over again.",
    )
}

#[test]
fn all_allergies_of_a_person_are_answered() {
    let cases: &[Case] = &[
        (WhatIs, "", "", "What is Theo allergic to?", "walnuts, bees, cats"),
        (
            WhatIs,
            "allergies",
            "have",
            "What allergies does Theo have?",
            "walnuts, bees, cats",
        ),
        (
            YesNo,
            "",
            "have",
            "Does Theo have an allergy, and to what?",
            "walnuts, bees, cats",
        ),
        (WhatIs, "", "", "What is Ines' daughter allergic to?", "refused"),
        (WhatIs, "", "", "What is Ines's daughter allergic to?", "kiwi"),
        (WhatIs, "", "", "What is Ines allergic to?", "refused"),
    ];
    check(&friends(), cases);
    let found = friends().ask(WhatIs, "What is Theo allergic to?");
    assert_eq!(
        found.verdict.status,
        Sufficiency::Supported,
        "several values are no conflict"
    );
    assert_eq!(found.verdict.reasons, ["stated on 9 June 2025"]);
    assert_eq!(found.answer.unwrap().supports.len(), 3);
}

#[test]
fn only_questions_for_stated_allergies_get_an_answer() {
    let cases: &[Case] = &[
        (WhatIs, "", "", "What is Jonas allergic to?", "refused"),
        (WhatIs, "food", "", "What food is Theo allergic to?", "refused"),
        (YesNo, "", "", "Is Theo allergic to walnuts?", "Yes"),
        (YesNo, "", "", "Is Theo allergic to milk?", "refused"),
        (How, "", "", "How is Theo today?", "refused"),
        (WhatDoes, "", "say", "What did Theo say about his allergies?", "refused"),
    ];
    check(&friends(), cases);
}

#[test]
fn a_denial_by_another_person_does_not_remove_a_stated_allergy() {
    let talk = Talk::new(
        "@ 2025-05-05
         Theo: I am allergic to walnuts.
         Ines: Noted!

         @ 2025-06-05
         Ines: Theo is not allergic to walnuts, he just dislikes them.",
    );
    assert_eq!(talk.answer(WhatIs, "What is Theo allergic to?"), "walnuts");
    assert!(talk.ask(YesNo, "Is Theo allergic to walnuts?").answer.is_none());
}

#[test]
fn a_denial_removes_one_value_of_a_list() {
    let ask = |stated: &str, later: &str| {
        let talk = Talk::new(&format!(
            "@ 2025-02-01\nNoor: I'm allergic to {stated}.\nIdris: Noted!\n\n@ 2025-04-02\nNoor: {later}"
        ));
        talk.answer(WhatIs, "What is Noor allergic to?")
    };
    let stated = "penicillin and walnuts";
    assert_eq!(ask(stated, "It rained all day."), stated);
    assert_eq!(ask(stated, "I'm not allergic to penicillin after all."), "walnuts");
    assert_eq!(ask(stated, "I'm not allergic to penicillin."), "walnuts");
    assert_eq!(ask("nuts and cats", "I'm no longer allergic to cats."), "nuts");
    assert_eq!(ask("tree nuts", "I'm not allergic to nuts."), "refused");
}

#[test]
fn an_allergy_that_its_teller_later_calls_wrong_is_withheld() {
    let ask = |later: &str| {
        let talk = Talk::new(&format!(
            "@ 2025-02-01\nNoor: My daughter is allergic to cats.\nIdris: Noted!\n\n@ 2025-02-19\nNoor: {later}"
        ));
        talk.answer(WhatIs, "What is Noor's daughter allergic to?")
    };
    let wrong = "The allergy test came back: it's not cats at all, it's dust mites.";
    assert_eq!(ask(wrong), "refused");
    assert_eq!(ask("Cats are not welcome at our place."), "cats");
}

#[test]
fn the_user_of_an_assistant_gets_his_or_her_own_allergies() {
    let talk = Talk::new(
        "user: By the way, I'm allergic to penicillin, please keep that in mind.
         assistant: Noted, I'll remember your penicillin allergy.",
    );
    assert_eq!(talk.answer(WhatIs, "What am I allergic to?"), "penicillin");
}

#[test]
fn allergies_are_answered_in_other_languages() {
    let mut wrong = Vec::new();
    for (line, question, expected) in [
        (
            "Lena: Ich bin allergisch gegen Haselnüsse, das habe ich beim Arzt erfahren.\nJonas: Gute Besserung!",
            "Wogegen ist Lena allergisch?",
            "Haselnüsse",
        ),
        (
            "Lena: Ich bin übrigens allergisch gegen Haselnüsse.\nJonas: Gute Besserung!",
            "Wogegen ist Lena allergisch?",
            "Haselnüsse",
        ),
        (
            "Sanne: Ik ben trouwens allergisch voor noten.\nDaan: Wat jammer!",
            "Waarvoor is Sanne allergisch?",
            "noten",
        ),
        (
            "Diego: Soy alérgico a las nueces, me lo dijo el médico.\nCarmen: ¡Qué pena!",
            "¿A qué es alérgico Diego?",
            "nueces",
        ),
        (
            "Luc: Je suis allergique aux noix, le médecin me l'a dit.\nClaire: Quel dommage !",
            "À quoi Luc est-il allergique ?",
            "noix",
        ),
        (
            "Marco: Sono allergico alle noci, me l'ha detto il medico.\nGiulia: Che peccato!",
            "A cosa è allergico Marco?",
            "noci",
        ),
        (
            "Paulo: Sou alérgico a nozes.\nRita: Que pena!",
            "A que é alérgico Paulo?",
            "nozes",
        ),
        (
            "Sanne: Ik ben allergisch voor noten, zei de dokter.\nDaan: Wat jammer!",
            "Waarvoor is Sanne allergisch?",
            "noten",
        ),
    ] {
        let talk = Talk::new(line);
        let answer = talk.answer(AnswerKind::Other, question);
        if answer != expected {
            wrong.push(format!("{question} is {expected}, not {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! What is said and asked in other languages than English.

use domain::anchor::AnswerKind::{WhatIs, Where, Who, YesNo};

use crate::gaps::check;
use crate::talk::Talk;

fn harbour() -> Talk {
    Talk::new(
        "Andrés: Soy carpintero en un taller pequeño. Mi jefe se llama Ramiro.
         Pilar: Mi hermano Tomás ha sido padre.
         Andrés: Ayer me compré un velero. Costó 4500 euros.
         Pilar: ¿De qué color es?
         Andrés: Es azul con una raya blanca.
         Pilar: El fin de semana me rompí la muñeca. Ya no bebo café, solo té.
         Andrés: Visito a mi abuela en Oviedo.",
    )
}

#[test]
fn the_frame_of_a_question_and_of_what_is_said_is_read() {
    check(
        &harbour(),
        &[
            (Who, "", "broke", "¿Quién se rompió la muñeca?", "Pilar"),
            (WhatIs, "", "", "¿De qué color es el velero?", "azul"),
            (WhatIs, "", "", "¿Cómo se llama el jefe de Andrés?", "Ramiro"),
            (WhatIs, "", "", "¿Cómo se llama el hermano de Pilar?", "Tomás"),
            (Where, "", "live", "¿Dónde vive la abuela de Andrés?", "Oviedo"),
            (WhatIs, "", "", "What is Andrés' boss called?", "Ramiro"),
        ],
    );
}

#[test]
fn yes_and_no_are_said_as_it_was_asked() {
    let talk = Talk::new(
        "Jonas: Ich wohne in Graz und liebe Fisch nicht.
         Lena: Ich arbeite als Krankenschwester.",
    );
    check(&talk, &[(YesNo, "", "live", "Wohnt Jonas in Graz?", "Ja")]);
}

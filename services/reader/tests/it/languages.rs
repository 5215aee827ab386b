//! Statements and questions in languages other than English.

use domain::anchor::AnswerKind::WhatIs;

use crate::talk::{Talk, check};

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
fn questions_and_statements_in_spanish_are_understood() {
    check(
        &harbour(),
        &[
            (WhatIs, "", "", "¿De qué color es el velero?", "azul"),
            (WhatIs, "", "", "¿Cómo se llama el jefe de Andrés?", "Ramiro"),
            (WhatIs, "", "", "¿Cómo se llama el hermano de Pilar?", "Tomás"),
            (WhatIs, "", "", "What is Andrés's boss called?", "Ramiro"),
        ],
    );
}

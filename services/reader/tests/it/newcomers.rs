//! What people type who try Mnemic with a talk of their own.

use domain::anchor::AnswerKind::WhatDoes;

use crate::gaps::check;
use crate::talk::Talk;

#[test]
fn what_somebody_makes_may_be_several_things() {
    let talk = Talk::new(
        "@ 2025-02-03
         Ona: I grow tomatoes.
         Ruth: Lovely.
         Ona: I also grow basil.",
    );
    check(
        &talk,
        &[(WhatDoes, "", "grow", "What does Ona grow?", "tomatoes, basil")],
    );
}

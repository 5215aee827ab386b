//! Several corrections by hand of the same turn.

use domain::anchor::AnswerKind::{self, Where};
use domain::evidence::Amendment;

use crate::talk::{Talk, read};

fn answer(text: &str, amended: &[(&str, Option<&str>)], kind: AnswerKind, verb: &str, question: &str) -> String {
    let mut request = Talk::new(text).request(kind, question, "", verb);
    for turn in request.scenes.iter_mut().flat_map(|it| &mut it.turns) {
        let amended = amended.iter().map(|(was, now)| Amendment {
            was: (*was).to_owned(),
            now: now.map(str::to_owned),
            at: "2025-02-01T00:00:00Z".parse().unwrap(),
        });
        turn.amended = amended.collect();
    }
    read(&request).answer.map_or("refused".to_owned(), |it| it.text)
}

#[test]
fn an_inserted_correction_is_not_corrected_again() {
    let line = "Lea: I live in Graz.";
    for amended in [
        [("Graz", Some("Linz")), ("Linz", Some("Wels"))],
        [("Linz", Some("Wels")), ("Graz", Some("Linz"))],
    ] {
        assert_eq!(answer(line, &amended, Where, "live", "Where does Lea live?"), "Linz");
    }
}

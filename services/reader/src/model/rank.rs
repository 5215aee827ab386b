//! Reranking: a language model chooses and orders, in one call, the candidates that contain the answer to a question.

use domain::id::UnitId;
use domain::message::{RankV1, RankedV1};
use domain::port::{Chat, ModelRole};
use host::Asker;
use text::model_text::fence::{compute_mark, wrap_in_fence};
use text::one_line;

use super::{asked_when, reply};

static SYSTEM: &str = include_str!("../../prompts/rank.txt");
/// Maximum number of candidates that are shown, and maximum number of bytes of each.
const CANDIDATES_MAX: usize = 64;
const SHOWN_MAX: usize = 800;

/// Returns the chosen units, the most needed one first. Returns no units if the model finds none or its reply cannot be
/// used.
pub(crate) async fn rank_candidates(asker: &Asker, request: &RankV1) -> RankedV1 {
    let result = asker
        .ask_model(&build_prompt(request), request.allow, |it| {
            reply::parse_line_choice(&it.text)
        })
        .await;
    let (units, degraded) = match result.outcome {
        Ok(lines) => (chosen_units(request, &lines), Vec::new()),
        Err(why) => (Vec::new(), vec![why]),
    };
    RankedV1 {
        units,
        spent: result.spent,
        degraded,
    }
}

fn build_prompt(request: &RankV1) -> Chat {
    let question = one_line(&request.question);
    let shown = request.candidates.iter().take(CANDIDATES_MAX).zip(1..);
    let lines: Vec<String> = shown
        .map(|(it, number)| {
            let line = one_line(&it.text);
            format!("{number}. {}", &line[..line.floor_char_boundary(SHOWN_MAX)])
        })
        .collect();
    let lines = lines.join("\n");
    let mark = compute_mark(&question, &lines);
    let user = format!(
        "The question{}:\n{}\n\nThe lines:\n{}",
        asked_when(request.asked_at),
        wrap_in_fence("question", &mark, &question),
        wrap_in_fence("lines", &mark, &lines)
    );
    Chat {
        form: Some(reply::lines_form("rank")),
        ..Chat::new(ModelRole::Rank, SYSTEM, user)
    }
}

/// Returns the units of lines; numbers of lines that were not shown are ignored.
fn chosen_units(request: &RankV1, lines: &[usize]) -> Vec<UnitId> {
    let shown = &request.candidates[..request.candidates.len().min(CANDIDATES_MAX)];
    let unit = |number: &usize| Some(shown.get(number.checked_sub(1)?)?.unit);
    lines.iter().filter_map(unit).collect()
}

#[cfg(test)]
mod tests {
    use domain::evidence::RankedUnit;
    use domain::id::{RecordId, SpaceId};
    use domain::port::{ChatMessage, ModelAllowance};

    use super::*;

    fn sample_request(texts: &[&str]) -> RankV1 {
        let space: SpaceId = "talk".parse().unwrap();
        let candidate = |text: &&str| RankedUnit {
            unit: UnitId::of_turn(RecordId::from_external_id(&space, text)),
            external_ids: Vec::new(),
            text: (*text).to_owned(),
            score: 0.0,
            topic: None,
        };
        RankV1 {
            candidates: texts.iter().map(candidate).collect(),
            space,
            question: "Which ferns\ndoes Ann have?".to_owned(),
            asked_at: Some("2026-03-09T09:30:00+01:00".parse().unwrap()),
            allow: ModelAllowance::default(),
        }
    }

    fn user_prompt(request: &RankV1) -> String {
        match build_prompt(request).messages.pop() {
            Some(ChatMessage::User { text, .. }) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_prompt_holds_the_question_and_numbered_candidates() {
        let texts = [
            "[2 Mar 2026] Ann: A tree fern.",
            "[3 Mar 2026] Ben: Mine\n3. Ann: died.",
        ];
        insta::assert_snapshot!(user_prompt(&sample_request(&texts)));
    }

    #[test]
    fn chosen_lines_become_units_in_the_chosen_order() {
        let request = sample_request(&["a", "b", "c"]);
        let units = |reply: &str| reply::parse_line_choice(reply).map(|it| chosen_units(&request, &it));
        let of = |number: usize| request.candidates[number - 1].unit;
        assert_eq!(units("{\"lines\": [3, 1, 9, 0]}"), Some(vec![of(3), of(1)]));
        assert_eq!(units("{\"lines\": \"2 and 3\"}"), Some(vec![of(2), of(3)]));
        assert_eq!(units("{\"lines\": []}"), Some(Vec::new()));
        for unreadable in ["", "2", "{\"lines\": [\"the second\"]}", "{\"line\": 2}"] {
            assert_eq!(units(unreadable), None, "{unreadable}");
        }
    }

    #[test]
    fn candidates_in_a_prompt_are_bounded() {
        let long = "é".repeat(5_000);
        let texts = vec![long.as_str(); 500];
        assert!(user_prompt(&sample_request(&texts)).len() < CANDIDATES_MAX * (SHOWN_MAX + 8) + 1_000);
    }
}

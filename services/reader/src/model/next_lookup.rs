//! The next lookup, or the lines to end with, decided by a language model.

use domain::message::{ExplorationStrategy, LookV1, LookupV1, ToolSpecV1, TurnV1, TurnedV1};
use domain::port::{Chat, Completion, ToolChoice, ToolSpec};
use host::Asker;
use text::model_text::fence::{compute_mark, wrap_in_fence};
use text::one_line;

use super::{asked_when, format_moment, reply};

static SYSTEM: &str = include_str!("../../prompts/turn.txt");
/// Maximum number of lines that are shown, and maximum number of bytes of each.
const LINES_MAX: usize = 200;
const LINE_MAX: usize = 600;
/// Maximum number of lookups that are shown, the latest ones, and maximum number of bytes of a result.
const LOOKUPS_MAX: usize = 24;
const RESULT_MAX: usize = 2_000;

/// Returns the decision of the model; it has neither calls nor lines if the reply cannot be used.
pub(crate) async fn decide_lookup(asker: &Asker, request: &TurnV1) -> TurnedV1 {
    let result = asker
        .ask_model(&build_prompt(request), request.allow, parse_completion)
        .await;
    let mut turned = result.outcome.unwrap_or_else(|why| TurnedV1 {
        degraded: vec![why],
        ..TurnedV1::default()
    });
    turned.spent = result.spent;
    turned
}

fn build_prompt(request: &TurnV1) -> Chat {
    let chat = Chat::new(
        request.walk.model_role(),
        &system_prompt(request.walk),
        user_prompt(request),
    );
    if request.tools.is_empty() {
        return Chat {
            form: Some(reply::lines_form("lines")),
            ..chat
        };
    }
    let tool = |it: &ToolSpecV1| ToolSpec {
        name: it.name.clone(),
        description: it.description.clone(),
        parameters: it.input_schema.clone(),
    };
    Chat {
        tools: request.tools.iter().map(tool).collect(),
        choice: ToolChoice::Allowed,
        ..chat
    }
}

/// Returns the task of the model: to find the evidence for a question, or to decide whether a hint is worth giving.
fn system_prompt(walk: ExplorationStrategy) -> String {
    let way = match walk {
        ExplorationStrategy::Explore => include_str!("../../prompts/explore.txt"),
        ExplorationStrategy::Reconstruct => include_str!("../../prompts/reconstruct.txt"),
        ExplorationStrategy::Recollect => include_str!("../../prompts/recollect.txt"),
        ExplorationStrategy::Navigate => include_str!("../../prompts/navigate.txt"),
        ExplorationStrategy::Recall => return include_str!("../../prompts/recall.txt").to_owned(),
    };
    format!("{SYSTEM}{way}")
}

/// Returns the question or message between marks, after the words that introduce it.
fn introduce_question(request: &TurnV1, text: &str, mark: &str) -> String {
    match request.walk {
        ExplorationStrategy::Explore
        | ExplorationStrategy::Reconstruct
        | ExplorationStrategy::Recollect
        | ExplorationStrategy::Navigate => format!(
            "The question{}:\n{}",
            asked_when(request.asked_at),
            wrap_in_fence("question", mark, text)
        ),
        ExplorationStrategy::Recall => format!(
            "The message{}:\n{}",
            format_moment(", said", request.asked_at),
            wrap_in_fence("message", mark, text)
        ),
    }
}

fn user_prompt(request: &TurnV1) -> String {
    let question = one_line(&request.question);
    let parts: Vec<String> = request
        .subgoals
        .iter()
        .map(|it| format!("- {}", one_line(it)))
        .collect();
    let parts = parts.join("\n");
    let lines = request.lines.iter().take(LINES_MAX).zip(1..);
    let lines: Vec<String> = lines
        .map(|(it, number)| format!("{number}. {}", clip_to_bytes(&one_line(it), LINE_MAX)))
        .collect();
    let lines = lines.join("\n");
    let latest = request.lookups.len().saturating_sub(LOOKUPS_MAX);
    let lookups: Vec<String> = request.lookups[latest..].iter().map(describe_lookup).collect();
    let lookups = lookups.join("\n");
    let mark = compute_mark(&question, &[parts.as_str(), &lines, &lookups].join("\n"));
    let mut user = introduce_question(request, &question, &mark);
    if !parts.is_empty() {
        user += &format!("\n\nIts parts:\n{}", wrap_in_fence("parts", &mark, &parts));
    }
    user += &format!("\n\nThe lines found so far:\n{}", wrap_in_fence("lines", &mark, &lines));
    if !lookups.is_empty() {
        user += &format!("\n\nLooked up so far:\n{}", wrap_in_fence("lookups", &mark, &lookups));
    }
    user += &match (request.tools.is_empty(), request.turns_left) {
        (true, _) => "\n\nThis is the last turn: end.".to_owned(),
        (false, left) => format!(
            "\n\nThis turn may make {} calls; {left} turns may follow.",
            request.calls_max
        ),
    };
    if let Some(most) = request.lines_max {
        user += &format!("\n\nChoose at most {most} lines, or none.");
    }
    user
}

fn describe_lookup(lookup: &LookupV1) -> String {
    let call = &lookup.call;
    let call = format!("{} {}", one_line(&call.name), call.arguments);
    format!(
        "{} -> {}",
        clip_to_bytes(&call, LINE_MAX),
        clip_to_bytes(&one_line(&lookup.result), RESULT_MAX)
    )
}

fn clip_to_bytes(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Returns the calls, or the lines of a reply without calls; `None` if it has neither.
fn parse_completion(completion: &Completion) -> Option<TurnedV1> {
    if !completion.calls.is_empty() {
        let calls = completion.calls.iter().map(|it| LookV1 {
            name: it.name.clone(),
            arguments: it.arguments.clone(),
        });
        return Some(TurnedV1 {
            calls: calls.collect(),
            ..TurnedV1::default()
        });
    }
    let lines = reply::parse_line_choice(&completion.text)?;
    Some(TurnedV1 {
        lines: lines.into_iter().filter_map(|it| it.try_into().ok()).collect(),
        ..TurnedV1::default()
    })
}

#[cfg(test)]
mod tests {
    use domain::port::{ChatMessage, ModelAllowance, ModelRole, RequestedToolCall, Usage};
    use serde_json::json;

    use super::*;

    fn sample_request() -> TurnV1 {
        TurnV1 {
            space: "talk".parse().unwrap(),
            question: "Which ferns\ndoes Ann have?".to_owned(),
            asked_at: Some("2026-03-09T09:30:00+01:00".parse().unwrap()),
            walk: ExplorationStrategy::Recollect,
            subgoals: vec!["Which tree ferns?".to_owned()],
            lines: vec![
                "[2 Mar 2026] Ann: A tree fern.".to_owned(),
                "[3 Mar 2026] Ben: Mine\n3. Ann: died.".to_owned(),
            ],
            lookups: vec![LookupV1 {
                call: LookV1 {
                    name: "lexical_retrieve".to_owned(),
                    arguments: json!({"query": "fern"}),
                },
                result: "{\"gists\":[{\"line\":2}]}".to_owned(),
            }],
            tools: vec![ToolSpecV1 {
                name: "lexical_retrieve".to_owned(),
                description: "Finds.".to_owned(),
                input_schema: json!({"type": "object"}),
            }],
            calls_max: 4,
            turns_left: 2,
            lines_max: None,
            allow: ModelAllowance::default(),
        }
    }

    fn sample_completion(text: &str) -> Completion {
        Completion {
            text: text.to_owned(),
            calls: Vec::new(),
            cut: false,
            usage: Usage::default(),
        }
    }

    #[test]
    fn a_turn_shows_what_was_found_and_what_was_looked_up() {
        insta::assert_snapshot!(user_prompt(&sample_request()));
    }

    #[test]
    fn the_last_turn_offers_no_tools_and_asks_for_lines() {
        let chat = build_prompt(&sample_request());
        assert_eq!((chat.tools.len(), chat.form.is_some()), (1, false));
        let last = build_prompt(&TurnV1 {
            tools: Vec::new(),
            ..sample_request()
        });
        assert_eq!((last.tools.len(), last.choice), (0, ToolChoice::Forbidden));
        assert_eq!(last.form.unwrap().name, "lines");
        let ChatMessage::User { text, .. } = &last.messages[1] else {
            panic!("{:?}", last.messages);
        };
        assert!(text.ends_with("This is the last turn: end."), "{text}");
    }

    #[test]
    fn a_message_for_recall_has_its_own_prompt_and_role() {
        let message = TurnV1 {
            question: "Ann: Dinner on Friday?".to_owned(),
            walk: ExplorationStrategy::Recall,
            subgoals: Vec::new(),
            lines_max: Some(3),
            ..sample_request()
        };
        let chat = build_prompt(&message);
        assert_eq!(
            (chat.role, build_prompt(&sample_request()).role),
            (ModelRole::Recall, ModelRole::Decide)
        );
        let [
            ChatMessage::System { text: system },
            ChatMessage::User { text: user, .. },
        ] = &chat.messages[..]
        else {
            panic!("{:?}", chat.messages);
        };
        assert!(
            system.starts_with("You watch over the memory") && !system.contains("question"),
            "{system}"
        );
        let begin = "The message, said on Monday, 9 March 2026 at 09:30:\n<message ";
        assert!(
            user.starts_with(begin) && user.ends_with("\n\nChoose at most 3 lines, or none."),
            "{user}"
        );
    }

    #[test]
    fn calls_take_precedence_over_lines_in_a_reply() {
        let lines = |text: &str| parse_completion(&sample_completion(text)).map(|it| it.lines);
        assert_eq!(lines("Enough. {\"lines\": [3, \"line 1\"]}"), Some(vec![3, 1]));
        assert_eq!(lines("{\"lines\": []}"), Some(Vec::new()));
        assert_eq!(lines("I look on."), None);
        let mut calling = sample_completion("{\"lines\": [1]}");
        calling.calls.push(RequestedToolCall {
            id: "c1".to_owned(),
            name: "read_page".to_owned(),
            arguments: json!({"page": "Ann"}),
        });
        let read = parse_completion(&calling).unwrap();
        assert_eq!((read.calls.len(), read.lines.len()), (1, 0));
    }

    #[test]
    fn lines_and_lookups_in_a_prompt_are_bounded() {
        let long = "é".repeat(5_000);
        let mut request = sample_request();
        request.lookups[0].result.clone_from(&long);
        let lookup = request.lookups[0].clone();
        request.lookups = vec![lookup; 100];
        request.lines = vec![long; 1_000];
        assert!(user_prompt(&request).len() < LINES_MAX * (LINE_MAX + 8) + LOOKUPS_MAX * (RESULT_MAX + 100) + 1_000);
    }
}

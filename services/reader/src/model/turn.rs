//! The next lookup, or the lines to end with, decided by a language model.

use domain::message::{LookV1, LookupV1, ToolSpecV1, TurnV1, TurnedV1, Walk};
use domain::port::{Chat, Completion, ToolChoice, ToolSpec};
use host::Asker;
use text::fence::{fenced, mark};
use text::one_line;

use super::{asked_when, reply, when};

static SYSTEM: &str = include_str!("../../prompts/turn.txt");
/// Most lines that are shown, and most bytes of each.
const LINES_MAX: usize = 200;
const LINE_MAX: usize = 600;
/// Most lookups that are shown, the latest ones, and most bytes of a result.
const LOOKUPS_MAX: usize = 24;
const RESULT_MAX: usize = 2_000;

/// Returns the decision of the model; it has neither calls nor lines if the reply cannot be used.
pub(crate) async fn decide(asker: &Asker, request: &TurnV1) -> TurnedV1 {
    let asked = asker.ask(&prompt(request), request.allow, read).await;
    let mut turned = asked.outcome.unwrap_or_else(|why| TurnedV1 {
        degraded: vec![why],
        ..TurnedV1::default()
    });
    turned.spent = asked.spent;
    turned
}

fn prompt(request: &TurnV1) -> Chat {
    let chat = Chat::new(request.walk.role(), &system(request.walk), user(request));
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
fn system(walk: Walk) -> String {
    let way = match walk {
        Walk::Explore => include_str!("../../prompts/explore.txt"),
        Walk::Reconstruct => include_str!("../../prompts/reconstruct.txt"),
        Walk::Recollect => include_str!("../../prompts/recollect.txt"),
        Walk::Navigate => include_str!("../../prompts/navigate.txt"),
        Walk::Recall => return include_str!("../../prompts/recall.txt").to_owned(),
    };
    format!("{SYSTEM}{way}")
}

/// Returns the question or message between marks, after the words that introduce it.
fn asked(request: &TurnV1, text: &str, mark: &str) -> String {
    match request.walk {
        Walk::Explore | Walk::Reconstruct | Walk::Recollect | Walk::Navigate => format!(
            "The question{}:\n{}",
            asked_when(request.asked_at),
            fenced("question", mark, text)
        ),
        Walk::Recall => format!(
            "The message{}:\n{}",
            when(", said", request.asked_at),
            fenced("message", mark, text)
        ),
    }
}

fn user(request: &TurnV1) -> String {
    let question = one_line(&request.question);
    let parts: Vec<String> = request
        .subgoals
        .iter()
        .map(|it| format!("- {}", one_line(it)))
        .collect();
    let parts = parts.join("\n");
    let lines = request.lines.iter().take(LINES_MAX).zip(1..);
    let lines: Vec<String> = lines
        .map(|(it, number)| format!("{number}. {}", clipped(&one_line(it), LINE_MAX)))
        .collect();
    let lines = lines.join("\n");
    let latest = request.lookups.len().saturating_sub(LOOKUPS_MAX);
    let lookups: Vec<String> = request.lookups[latest..].iter().map(told).collect();
    let lookups = lookups.join("\n");
    let mark = mark(&question, &[parts.as_str(), &lines, &lookups].join("\n"));
    let mut user = asked(request, &question, &mark);
    if !parts.is_empty() {
        user += &format!("\n\nIts parts:\n{}", fenced("parts", &mark, &parts));
    }
    user += &format!("\n\nThe lines found so far:\n{}", fenced("lines", &mark, &lines));
    if !lookups.is_empty() {
        user += &format!("\n\nLooked up so far:\n{}", fenced("lookups", &mark, &lookups));
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

fn told(lookup: &LookupV1) -> String {
    let call = &lookup.call;
    let call = format!("{} {}", one_line(&call.name), call.arguments);
    format!(
        "{} -> {}",
        clipped(&call, LINE_MAX),
        clipped(&one_line(&lookup.result), RESULT_MAX)
    )
}

fn clipped(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Returns the calls, or the lines of a reply without calls; `None` if it has neither.
fn read(completion: &Completion) -> Option<TurnedV1> {
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
    let lines = reply::lines(&completion.text)?;
    Some(TurnedV1 {
        lines: lines.into_iter().filter_map(|it| it.try_into().ok()).collect(),
        ..TurnedV1::default()
    })
}

#[cfg(test)]
mod tests {
    use domain::port::{ChatMessage, ModelAllowance, ModelRole, ToolCall, Usage};
    use serde_json::json;

    use super::*;

    fn request() -> TurnV1 {
        TurnV1 {
            space: "talk".parse().unwrap(),
            question: "Which ferns\ndoes Ann have?".to_owned(),
            asked_at: Some("2026-03-09T09:30:00+01:00".parse().unwrap()),
            walk: Walk::Recollect,
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

    fn completion(text: &str) -> Completion {
        Completion {
            text: text.to_owned(),
            calls: Vec::new(),
            cut: false,
            usage: Usage::default(),
        }
    }

    #[test]
    fn a_turn_shows_what_was_found_and_what_was_looked_up() {
        insta::assert_snapshot!(user(&request()));
    }

    #[test]
    fn the_last_turn_offers_no_tools_and_asks_for_lines() {
        let chat = prompt(&request());
        assert_eq!((chat.tools.len(), chat.form.is_some()), (1, false));
        let last = prompt(&TurnV1 {
            tools: Vec::new(),
            ..request()
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
            walk: Walk::Recall,
            subgoals: Vec::new(),
            lines_max: Some(3),
            ..request()
        };
        let chat = prompt(&message);
        assert_eq!(
            (chat.role, prompt(&request()).role),
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
        let lines = |text: &str| read(&completion(text)).map(|it| it.lines);
        assert_eq!(lines("Enough. {\"lines\": [3, \"line 1\"]}"), Some(vec![3, 1]));
        assert_eq!(lines("{\"lines\": []}"), Some(Vec::new()));
        assert_eq!(lines("I look on."), None);
        let mut calling = completion("{\"lines\": [1]}");
        calling.calls.push(ToolCall {
            id: "c1".to_owned(),
            name: "read_page".to_owned(),
            arguments: json!({"page": "Ann"}),
        });
        let read = read(&calling).unwrap();
        assert_eq!((read.calls.len(), read.lines.len()), (1, 0));
    }

    #[test]
    fn lines_and_lookups_in_a_prompt_are_bounded() {
        let long = "é".repeat(5_000);
        let mut request = request();
        request.lookups[0].result.clone_from(&long);
        let lookup = request.lookups[0].clone();
        request.lookups = vec![lookup; 100];
        request.lines = vec![long; 1_000];
        assert!(user(&request).len() < LINES_MAX * (LINE_MAX + 8) + LOOKUPS_MAX * (RESULT_MAX + 100) + 1_000);
    }
}

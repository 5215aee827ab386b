//! What came of a call of a tool: tests that failed, a build that went through, as programs write it.

use text::stem;

use super::polarity::NEAR;
use crate::pool::{Line, Pool};
use crate::question::Question;

/// Verbs of what goes well, by stem.
const WELL: [&str; 12] = [
    "pass", "succeed", "success", "complet", "finish", "work", "build", "compil", "deploy", "run", "ran", "through",
];
/// Verbs of what goes wrong, by stem.
const ILL: [&str; 6] = ["fail", "crash", "break", "broke", "error", "abort"];

/// Keys whose number is how many went wrong.
const ILL_COUNTS: [&str; 4] = ["failed", "failures", "errors", "failing"];
/// Keys whose number is 0 if all went well.
const CODES: [&str; 7] = [
    "exit code",
    "exit_code",
    "exitcode",
    "exit status",
    "exit_status",
    "returncode",
    "return code",
];
/// Keys whose value says how it went.
const STATES: [&str; 5] = ["status", "state", "result", "outcome", "conclusion"];
/// Keys whose value is true if all went well.
const FLAGS: [&str; 4] = ["ok", "success", "passed", "successful"];

/// Says whether what was run went well; none if a text does not tell.
pub(super) fn of(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let ill = ILL_COUNTS.iter().find_map(|it| counted(&lower, it)).map(|it| it == 0);
    let code = CODES.iter().find_map(|it| number_after(&lower, it)).map(|it| it == 0);
    let flag = FLAGS.iter().find_map(|it| match value(&lower, it)? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    });
    let state = STATES.iter().find_map(|it| state(value(&lower, it)?));
    code.or(ill).or(flag).or(state)
}

/// "failed": 1, failed=1, "1 failed".
fn counted(lower: &str, key: &str) -> Option<u32> {
    let before = |at: usize| {
        let word = text::words(&lower[..at]).last().copied()?;
        let joined = lower[..at].trim_end().ends_with(word);
        word.parse().ok().filter(|_| joined)
    };
    places(lower, key).find_map(|at| before(at).or_else(|| number_at(&lower[at + key.len()..])))
}

fn number_after(lower: &str, key: &str) -> Option<u32> {
    places(lower, key).find_map(|at| number_at(&lower[at + key.len()..]))
}

/// Returns the number that follows a key with nothing but marks, "of" or "was" between.
fn number_at(rest: &str) -> Option<u32> {
    let marks = |it: char| it.is_whitespace() || matches!(it, '"' | '\'' | ':' | '=' | '(');
    let rest = rest.trim_start_matches(marks);
    let rest = ["of ", "was ", "is "]
        .iter()
        .find_map(|it| rest.strip_prefix(it))
        .unwrap_or(rest);
    let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Returns the word that a key is said to have: `"status": "failure"`, "status=ok".
fn value<'a>(lower: &'a str, key: &str) -> Option<&'a str> {
    places(lower, key).find_map(|at| {
        let rest = lower[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let rest = rest.strip_prefix([':', '='])?.trim_start_matches(['"', '\'', ' ']);
        let end = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
        Some(&rest[..end]).filter(|it| !it.is_empty())
    })
}

fn state(word: &str) -> Option<bool> {
    match word {
        "success" | "succeeded" | "successful" | "passed" | "pass" | "ok" | "completed" | "complete" | "done"
        | "green" | "0" | "200" | "201" | "204" => Some(true),
        "failure" | "failed" | "fail" | "error" | "errored" | "aborted" | "crashed" | "timeout" | "cancelled"
        | "red" | "400" | "401" | "403" | "404" | "500" | "502" | "503" | "504" => Some(false),
        _ => None,
    }
}

/// Returns where a key stands as a word.
fn places<'a>(lower: &'a str, key: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let whole =
        move |at: &usize| !part(lower[..*at].chars().next_back()) && !part(lower[at + key.len()..].chars().next());
    lower.match_indices(key).map(|it| it.0).filter(whole)
}

/// Answers whether something went well, or wrong, by the last outcome that is told of it: whether to deny it, and the line.
pub(super) fn told(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<(bool, usize)> {
    let words = text::words(&question.lower);
    let says = |list: &[&str]| words.iter().skip(1).any(|it| list.contains(&stem(it).as_str()));
    let wrong = says(&ILL);
    if !wrong && !says(&WELL) {
        return None;
    }
    let cover = |it: &Line<'_>| it.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let best = lines.iter().map(|it| cover(&pool.lines[*it])).fold(0.0, f32::max);
    let near = lines.iter().filter(|it| cover(&pool.lines[**it]) >= NEAR * best);
    let outcomes = near.filter_map(|it| Some((*it, of(&pool.lines[*it].turn.text)?)));
    let (line, well) = outcomes.max_by_key(|it| (pool.lines[it.0].turn.observed_at, it.0))?;
    Some((well == wrong, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_as_programs_write_them() {
        for (text, expected) in [
            ("{\"passed\": 3, \"failed\": 0}", Some(true)),
            ("test result: FAILED. 3 passed; 1 failed; 0 ignored", Some(false)),
            ("process ended with exit code 0", Some(true)),
            ("exit status: 2", Some(false)),
            ("{\"status\": 503}", Some(false)),
            ("status=ok", Some(true)),
            ("{\"ok\": false}", Some(false)),
            ("We passed the harbour and failed to see it.", None),
            ("The status of the harbour is unknown.", None),
            ("I passed.", None),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}

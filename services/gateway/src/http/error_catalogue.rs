//! The catalogue of errors: the sections of docs/ERRORS.md about problems, refusals, degraded parts, tools and the
//! proxy.

use std::fmt::Write;

use domain::code::{DegradedCode, Explanation, ReasonCode, ToolCode};

use crate::api::problem::ProblemCode;
use crate::proxy::ProxyCode;

const PROBLEMS: &str = "\
## Problems

Every error of the HTTP API is a problem document ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)). Programs compare `type`, \
which is `urn:mnemic:problem:` and one of the codes below. `detail` says what went wrong in this request, and `help` is the \
address of the section on the code. `title` and `detail` are for people and may change.

A kind of problem may have another status than the one below if a protocol requires it: the API of mem0 answers 400 instead of \
412 and 422, and `protocol` has the status that the library of the protocol returns.
";

const REASONS: &str = "\
## Refusals

`verdict.code` of a query says why there is no answer. It is missing if there is an answer, or if a language model decided. \
`verdict.reasons` says the same in sentences, and `verdict.nearest` has the records that came nearest.
";

const DEGRADED: &str = "\
## Degraded responses

`degraded` has a sentence for each part that a response was made without, and `degraded_codes` has the code of each sentence, in \
the same order. Both are empty or absent if nothing was left out. Programs should treat a code that they do not know like `other`.
";

const TOOLS: &str = "\
## Tools

An invalid call of a tool gets status 200 and `error.code`; over MCP, it gets `isError` and only the sentence.
";

const PROXY: &str = "\
## Proxy

Errors of `/v1/chat/completions` have the shape of OpenAI's API, with `error.code`. Apart from the codes below it may be the code \
of a [problem](#problems); 422 becomes 400. Errors of the endpoint itself come back unchanged.
";

/// Returns the generated sections of docs/ERRORS.md as Markdown, in a fixed order.
pub fn error_catalogue() -> String {
    let mut text = PROBLEMS.to_owned();
    for code in ProblemCode::ALL {
        let explained = code.explanation();
        let (urn, status, title) = (code.to_urn(), code.http_status().as_u16(), code.title());
        let _ = write!(
            text,
            "\n### {}\n\n`{urn}`, status {status}: \"{title}\"\n\n- Meaning: {}\n- Cause: {}\n- What to do: {}\n",
            code.name(),
            explained.meaning,
            explained.cause,
            explained.action,
        );
    }
    add_code_table(
        &mut text,
        REASONS,
        ReasonCode::ALL.iter().map(|it| (it.name(), it.explanation())),
    );
    add_code_table(
        &mut text,
        DEGRADED,
        DegradedCode::ALL.iter().map(|it| (it.name(), it.explanation())),
    );
    add_code_table(
        &mut text,
        TOOLS,
        ToolCode::ALL.iter().map(|it| (it.name(), it.explanation())),
    );
    add_code_table(
        &mut text,
        PROXY,
        ProxyCode::ALL.iter().map(|it| (it.name(), it.explanation())),
    );
    text
}

/// Adds a section with a table of codes.
fn add_code_table(text: &mut String, section: &str, codes: impl Iterator<Item = (&'static str, Explanation)>) {
    let _ = write!(
        text,
        "\n{section}\n| code | meaning | cause | what to do |\n| --- | --- | --- | --- |\n"
    );
    for (code, explained) in codes {
        let Explanation { meaning, cause, action } = explained;
        let _ = writeln!(text, "| `{code}` | {meaning} | {cause} | {action} |");
    }
}

//! Reads lines from standard input and writes the times that each one names, then the mean time for a line.
//!
//! A line may begin with its own reference and a tab; otherwise the argument is the reference. `cargo run --release -p
//! text --example times -- 2023-06-15T14:30:00Z < lines.txt`

use std::io::{BufRead, Write};
use std::time::Instant;

use chrono::DateTime;
use text::time::{find_times, render_mention, render_span};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reference = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "2023-06-15T14:30:00Z".to_owned());
    let reference = DateTime::parse_from_rfc3339(&reference)?;
    let lines = std::io::stdin().lock().lines().collect::<Result<Vec<_>, _>>()?;
    let split = |line: &str| {
        let own = line
            .split_once('\t')
            .and_then(|(at, text)| Some((DateTime::parse_from_rfc3339(at).ok()?, text)));
        own.map_or_else(|| (reference, line.to_owned()), |(at, text)| (at, text.to_owned()))
    };
    let lines: Vec<_> = lines.iter().map(|line| split(line)).collect();
    let mut out = std::io::stdout().lock();
    for (reference, line) in &lines {
        for mention in find_times(line, *reference) {
            let exact = render_span(&mention.span, *reference.offset());
            let answer = render_mention(&mention.span, *reference);
            let words = &mention.span.words;
            writeln!(out, "{words}\t{:?}\t{exact}\t{answer}\t{line}", mention.kind)?;
        }
    }
    let start = Instant::now();
    let found: usize = lines
        .iter()
        .map(|(reference, line)| find_times(line, *reference).len())
        .sum();
    let each = start.elapsed() / u32::try_from(lines.len().max(1))?;
    writeln!(out, "{} lines, {found} times, {each:?} a line", lines.len())?;
    Ok(())
}

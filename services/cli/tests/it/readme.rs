//! The curl commands of the README, run in order against a server.

use crate::server::{Server, fresh_directory};

/// A request as curl would send it.
struct Call {
    method: &'static str,
    path: String,
    body: Option<String>,
}

/// Returns the words of a shell command: separated by blanks, with text between single quotes kept whole.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut open, mut quoted) = (vec![String::new()], false, false);
    for it in command.chars() {
        match it {
            '\'' => (open, quoted) = (true, !quoted),
            it if it.is_whitespace() && !quoted => {
                if open {
                    words.push(String::new());
                }
                open = false;
            }
            it => {
                open = true;
                words.last_mut().unwrap().push(it);
            }
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

/// Returns the commands of a text that begin with `curl`, each up to the line that closes its quotes.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if open || line.starts_with("curl ") {
            match commands.last_mut().filter(|_| open) {
                Some(command) => *command += &format!("\n{line}"),
                None => commands.push(line.to_owned()),
            }
            open ^= line.matches('\'').count() % 2 == 1;
        }
    }
    commands
}

fn call(command: &str) -> Call {
    let words = words(command);
    let behind = |flag: &str| words.iter().position(|it| it == flag).map(|at| words[at + 1].clone());
    let body = behind("-d");
    let method = match (behind("-X").as_deref(), &body) {
        (Some("PUT"), _) => "PUT",
        (Some(other), _) => panic!("teach this test {other}"),
        (None, Some(_)) => "POST",
        (None, None) => "GET",
    };
    let path = words.iter().find_map(|it| it.strip_prefix("localhost:7077"));
    Call {
        method,
        path: path.unwrap_or_else(|| panic!("no address in {command}")).to_owned(),
        body,
    }
}

#[tokio::test]
async fn every_curl_command_in_the_readme_works() {
    let server = Server::start(&fresh_directory("readme")).await;
    let root = server.base.trim_end_matches("/v1").to_owned();
    let commands = commands(include_str!("../../../../README.md"));
    assert!(commands.len() >= 6, "{commands:?}");
    let mut watermark = String::new();
    for command in &commands {
        let Call { method, path, body } = call(command);
        let request = server.http.request(method.parse().unwrap(), format!("{root}{path}"));
        let request = match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(body.replace("THE WATERMARK", &watermark)),
            None => request,
        };
        let (status, reply) = server.send(request).await;
        assert!((200..300).contains(&status), "{command}\n{status} {reply}");
        let shown = match path.split(['?', '/']).nth(4).unwrap_or_default() {
            "records" => {
                reply["watermark"].as_str().unwrap().clone_into(&mut watermark);
                server.settled("ann").await;
                &reply["items"]
            }
            "query" => &reply["pack"]["items"],
            "facts" => &reply["items"],
            "recall" => &reply["hints"],
            _ => continue,
        };
        assert!(
            shown.as_array().is_some_and(|it| !it.is_empty()),
            "{command}\nshows nothing: {reply}"
        );
    }
    assert!(!watermark.is_empty());
}

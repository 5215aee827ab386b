//! Tests of pictures with a small HTTP server on this machine.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use super::*;

const GIF: &[u8] = b"GIF89a a fern";

/// Starts a server that answers the first request of each connection by its path. Returns its port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, port));
        }
    });
    port
}

fn answer(mut stream: TcpStream, port: u16) {
    let mut head = vec![0; 4_096];
    let read = stream.read(&mut head).unwrap_or_default();
    let head = String::from_utf8_lossy(&head[..read]).into_owned();
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let typed = |media_type: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    };
    let reply = match path.as_str() {
        "/fern.gif" => typed("image/gif", GIF),
        "/named-png" => typed("image/png", GIF),
        "/page" => typed("text/html", GIF),
        "/lie" => typed("image/png", b"<html>"),
        "/announced" => {
            b"HTTP/1.1 200 OK\r\ncontent-type: image/gif\r\ncontent-length: 10000000000\r\n\r\nGIF89a".to_vec()
        }
        "/elsewhere" => {
            format!("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{port}/fern.gif\r\ncontent-length: 0\r\n\r\n")
                .into_bytes()
        }
        "/busy" => b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n".to_vec(),
        "/endless" => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: image/gif\r\nconnection: close\r\n\r\nGIF89a";
            let _ = stream.write_all(head);
            while stream.write_all(&[7; 65_536]).is_ok() {}
            return;
        }
        "/slow" => {
            // Sends nothing until the client closes the connection.
            let _ = stream.read(&mut [0]);
            return;
        }
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    };
    let _ = stream.write_all(&reply);
}

fn pictures(hosts: &[&str]) -> PictureOptions {
    PictureOptions {
        hosts: hosts.iter().map(|it| (*it).to_owned()).collect(),
        bytes_max: 100_000,
        timeout_secs: 60,
        ..PictureOptions::default()
    }
}

/// Returns why there is no picture, and whether a retry may succeed.
async fn failure(options: &PictureOptions, uri: &str) -> (String, bool) {
    let error = Pictures::new(options).unwrap().fetch_picture(uri).await.unwrap_err();
    (error.to_string(), error.may_pass())
}

#[tokio::test]
async fn a_picture_of_an_allowed_host_is_fetched() {
    let port = server();
    let at_address = Pictures::new(&pictures(&[&format!("127.0.0.1:{port}")])).unwrap();
    let uri = format!("http://127.0.0.1:{port}/fern.gif");
    assert_eq!(at_address.fetch_picture(&uri).await.unwrap().bytes(), GIF);
    // The bytes determine the kind, not the header.
    let named = at_address
        .fetch_picture(&format!("http://127.0.0.1:{port}/named-png"))
        .await
        .unwrap();
    assert_eq!(named.kind(), PictureKind::Gif);
}

#[tokio::test]
async fn hosts_that_are_not_on_the_list_are_refused() {
    let port = server();
    let listed = pictures(&["pictures.example.com", "*.example.org"]);
    for uri in [
        format!("http://127.0.0.1:{port}/fern.gif"),
        format!("http://localhost:{port}/fern.gif"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[fd00:ec2::254]/latest/meta-data/".to_owned(),
    ] {
        let (why, may_pass) = failure(&listed, &uri).await;
        assert!(
            why.contains("is not in [writer.pictures] hosts") && !may_pass,
            "{uri}: {why}"
        );
    }
    for uri in [
        "file:///etc/passwd",
        "ftp://pictures.example.com/a.png",
        "gopher://x",
        "fern.png",
        "http://u:p@pictures.example.com/a",
    ] {
        let (why, may_pass) = failure(&listed, uri).await;
        assert!(why.starts_with("image_uri ") && !may_pass, "{uri}: {why}");
    }
}

#[tokio::test]
async fn a_name_with_an_internal_address_is_refused_unless_allowed() {
    let port = server();
    let uri = format!("http://localhost:{port}/fern.gif");
    let listed = pictures(&[&format!("localhost:{port}")]);
    let (why, may_pass) = failure(&listed, &uri).await;
    assert!(why.contains("allow_private_addresses") && !may_pass, "{why}");
    let inside = PictureOptions {
        allow_private_addresses: true,
        ..listed
    };
    assert_eq!(
        Pictures::new(&inside)
            .unwrap()
            .fetch_picture(&uri)
            .await
            .unwrap()
            .bytes(),
        GIF
    );
}

#[tokio::test]
async fn the_connection_goes_to_the_address_that_was_checked() {
    let port = server();
    let pictures = Pictures::new(&pictures(&[])).unwrap();
    // No name server knows this name, so a second look-up would fail.
    let url = Url::parse(&format!("http://pictures.invalid:{port}/fern.gif")).unwrap();
    let checked = pinned_client::connecting_to(vec![SocketAddr::from(([127, 0, 0, 1], port))]).unwrap();
    assert_eq!(pictures.send_request(checked, url).await.unwrap().bytes(), GIF);
}

#[tokio::test]
async fn other_files_large_pictures_and_redirects_are_refused() {
    let port = server();
    let options = pictures(&[&format!("127.0.0.1:{port}")]);
    for (path, expected, may_pass) in [
        ("page", "not a PNG", false),
        ("lie", "not a PNG", false),
        ("announced", "more than 100000 bytes", false),
        ("endless", "more than 100000 bytes", false),
        ("elsewhere", "redirects are not followed", false),
        ("missing", "answers 404", false),
        ("busy", "answers 503", true),
    ] {
        let (why, passes) = failure(&options, &format!("http://127.0.0.1:{port}/{path}")).await;
        assert!(why.contains(expected) && passes == may_pass, "{path}: {why}");
    }
}

#[tokio::test]
async fn a_fetch_from_a_host_that_does_not_answer_times_out() {
    let port = server();
    let hasty = PictureOptions {
        timeout_secs: 1,
        ..pictures(&[&format!("127.0.0.1:{port}")])
    };
    let (why, may_pass) = failure(&hasty, &format!("http://127.0.0.1:{port}/slow")).await;
    assert!(why.contains("took longer than 1 s") && may_pass, "{why}");
}

#[tokio::test]
async fn a_data_uri_contains_the_picture() {
    let options = pictures(&[]);
    let pictures = Pictures::new(&options).unwrap();
    let uri = format!("data:image/gif;base64,{}", STANDARD.encode(GIF));
    assert_eq!(pictures.fetch_picture(&uri).await.unwrap().bytes(), GIF);
    let large = format!(
        "data:image/gif;base64,{}",
        STANDARD.encode([b"GIF89a".as_slice(), &[0; 100_000]].concat())
    );
    for (uri, expected) in [
        ("data:image/gif,GIF89a", "without base64"),
        ("data:image/gif;base64,!", "cannot be read"),
        ("data:image/svg+xml;base64,PHN2Zz4=", "not a PNG"),
        ("data:image/png;base64,PHN2Zz4=", "not a PNG"),
        ("data:image/png", "not a data URI"),
        (&large, "more than 100000 bytes"),
    ] {
        let (why, may_pass) = failure(&options, uri).await;
        assert!(why.contains(expected) && !may_pass, "{why}");
    }
}

#[test]
fn unusable_options_are_errors() {
    for options in [
        pictures(&["https://example.com"]),
        PictureOptions {
            bytes_max: 17 << 20,
            ..pictures(&[])
        },
    ] {
        let error = Pictures::new(&options).map(drop).unwrap_err().to_string();
        assert!(error.starts_with("[writer.pictures] "), "{error}");
    }
}

//! Passwords and certificates.

use std::path::Path;
use std::process::Command;

use adapters::servers::neo4j::{Neo4j, Options, SetupError, provision_schema};
use domain::{Classify, ErrorKind};
use system::servers::neo4j::Server;

use super::sample::{noon, space};

/// Creates `{name}.crt` and `{name}.key`, self-signed, for `localhost`.
fn create_certificate(dir: &Path, name: &str) {
    let made = Command::new("openssl")
        .args("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split(' '))
        .args("-addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE".split(' '))
        .args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.crt")])
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

/// Only the right password over a connection with the right certificate is accepted, and no error contains the
/// password.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_right_password_and_certificate_are_accepted() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["server", "other"] {
        create_certificate(dir.path(), name);
    }
    let conf = format!(
        "server.bolt.tls_level=OPTIONAL\ndbms.ssl.policy.bolt.enabled=true\ndbms.ssl.policy.bolt.client_auth=NONE
dbms.ssl.policy.bolt.base_directory={}\ndbms.ssl.policy.bolt.private_key=server.key
dbms.ssl.policy.bolt.public_certificate=server.crt\n",
        dir.path().display()
    );
    let Some(server) = Server::start(true, &conf).await.unwrap() else {
        return;
    };
    let plain = server.options("access");
    let trusting = |name: &str| Options {
        url: plain.url.replace("bolt://", "bolt+s://"),
        ca_file: Some(dir.path().join(format!("{name}.crt"))),
        ..plain.clone()
    };
    let encrypted = trusting("server");
    assert_eq!(provision_schema(&encrypted).await.unwrap(), []);
    let it = Neo4j::connect(&encrypted).await.unwrap();
    assert!(it.records.create_space(&space("a"), noon()).await.unwrap());

    let system = Options {
        ca_file: None,
        ..encrypted.clone()
    };
    for distrusted in [trusting("other"), system] {
        let refused = Neo4j::connect(&distrusted).await.err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused:?}");
    }
    let guessed = Options {
        password: "a wrong guess".into(),
        ..plain.clone()
    };
    let refused = Neo4j::connect(&guessed).await.err().unwrap();
    assert!(matches!(refused, SetupError::Credentials { .. }), "{refused:?}");
    assert!(!format!("{refused:?} {refused}").contains("guess"));
    let it = Neo4j::connect(&plain).await.unwrap();
    assert!(it.records.space(&space("a")).await.unwrap().is_some());
}

//! Access control: credentials, certificates, and permissions of the services.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use adapters::servers::nats::{
    Credentials, NatsBus, Options, Role, Tls, Topic, permissions_of_role, provision_streams,
};
use domain::port::{Bus, DeadLetters, Frame};
use domain::{Classify, ErrorKind, PortError};
use futures::StreamExt;
use system::servers::nats::Nats;
use tokio::time::timeout;

use super::{SOON, options_of_server, sample_frame};

fn error_kind<T>(result: Result<T, PortError>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

/// The error says that a password is wrong or missing, and does not show it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_error_names_wrong_credentials() {
    let Some(server) = Nats::start("authorization { user: mnemic, password: correct }") else {
        return;
    };
    let with = |user: &str, password: &str| Options {
        credentials: Credentials {
            user: user.to_owned(),
            password: password.into(),
            ..Credentials::default()
        },
        ..options_of_server(&server)
    };
    provision_streams(&with("mnemic", "correct")).await.unwrap();
    for wrong in [with("mnemic", "mistaken"), with("", "")] {
        let error = NatsBus::connect(&wrong).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = format!("{error} {error:?} {wrong:?}");
        assert!(
            text.contains("refuses the credentials") && !text.contains("mistaken"),
            "{text}"
        );
    }
}

/// A token and an nkey work in place of a password.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_nkeys_are_accepted() {
    // A published sample pair.
    const SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const PUBLIC: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
    let dir = tempfile::tempdir().unwrap();
    let nkey_file = dir.path().join("seed");
    std::fs::write(&nkey_file, format!("{SEED}\n")).unwrap();
    let token = Credentials {
        token: "t0ken".into(),
        ..Credentials::default()
    };
    let nkey = Credentials {
        nkey_file,
        ..Credentials::default()
    };
    let by_key = format!("authorization {{ users: [{{ nkey: {PUBLIC} }}] }}");
    for (access, good, bad) in [
        ("authorization { token: \"t0ken\" }", &token, &nkey),
        (by_key.as_str(), &nkey, &token),
    ] {
        let Some(server) = Nats::start(access) else { return };
        let with = |credentials: &Credentials| Options {
            credentials: credentials.clone(),
            ..options_of_server(&server)
        };
        assert_eq!(error_kind(provision_streams(&with(good)).await), None);
        assert_eq!(
            error_kind(provision_streams(&with(bad)).await),
            Some(ErrorKind::Invalid)
        );
    }
}

fn run_openssl(dir: &Path, arguments: &[&str]) -> Option<()> {
    let mut command = Command::new("openssl");
    command
        .args(arguments)
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().ok()?.success().then_some(())
}

/// Creates a certificate authority, and a certificate and key for each name. Returns `None` if openssl fails.
fn create_certificates(dir: &Path, names: &[&str]) -> Option<()> {
    std::fs::write(dir.join("extensions"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n").ok()?;
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let own = [
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=test authority",
        "-days",
        "2",
    ];
    run_openssl(dir, &[&["req", "-x509"], &curve[..], &own].concat())?;
    for name in names {
        let (key, request, certificate) = (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
        let subject = format!("/CN={name}");
        run_openssl(
            dir,
            &[
                &["req"],
                &curve[..],
                &["-keyout", &key, "-out", &request, "-subj", &subject],
            ]
            .concat(),
        )?;
        let sign = [
            "x509",
            "-req",
            "-in",
            &request,
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
        ];
        run_openssl(
            dir,
            &[
                &sign[..],
                &["-out", &certificate, "-extfile", "extensions", "-days", "2"],
            ]
            .concat(),
        )?;
    }
    Some(())
}

/// Client and server check each other's certificates. The error names a wrong certificate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_are_checked_both_ways() {
    let dir = tempfile::tempdir().unwrap();
    if create_certificates(dir.path(), &["server", "client"]).is_none() {
        eprintln!("skipped: no openssl");
        return;
    }
    let path = |name: &str| dir.path().join(name);
    let files = format!(
        "tls {{ cert_file: {:?}, key_file: {:?}, ca_file: {:?}, verify: true }}",
        path("server.pem"),
        path("server.key"),
        path("ca.pem")
    );
    let Some(server) = Nats::start(&files) else { return };
    let good = Tls {
        ca_file: path("ca.pem"),
        cert_file: path("client.pem"),
        cert_key_file: path("client.key"),
    };
    let with = |tls: Tls| Options {
        tls,
        ..options_of_server(&server)
    };
    let options = with(good.clone());
    provision_streams(&options).await.unwrap();
    let bus = NatsBus::connect(&options).await.unwrap();
    bus.publish(sample_frame("a", "", "1")).await.unwrap();

    let no_certificate = Tls {
        cert_file: PathBuf::new(),
        ..good.clone()
    };
    let unknown_authority = Tls {
        ca_file: PathBuf::new(),
        ..good
    };
    for tls in [no_certificate, unknown_authority] {
        let error = NatsBus::connect(&with(tls)).await.err().unwrap();
        assert!(
            matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Invalid),
            "{error}"
        );
        let causes = format!("{error:?}");
        assert!(
            causes.contains("ertificate") || causes.contains("UnknownIssuer"),
            "{causes}"
        );
    }
}

/// Starts a server on which every service has the permissions that are printed for it. Returns the server, and a
/// function that returns the options of a service.
async fn start_guarded_server(prefix: &str) -> Option<(Nats, impl Fn(Role) -> Options)> {
    let base = Options {
        prefix: prefix.to_owned(),
        partitions: 4,
        bytes_max: 64 << 20,
        dead_letters_bytes_max: 64 << 20,
        // This is longer than a call takes on a busy machine. A refusal does not wait for it.
        call_timeout_ms: 10_000,
        publish_timeout_ms: 60_000,
        topics: Topic::of_mnemic(),
        ..Options::default()
    };
    let user = |role: &Role| {
        let granted = permissions_of_role(*role, &base);
        format!("{{ user: {0}, password: {0}, {granted} }}", role.name())
    };
    let users: Vec<String> = Role::ALL.iter().map(user).collect();
    let server = Nats::start(&format!("authorization {{ users: [\n{}\n] }}", users.join("\n")))?;
    let url = server.url();
    let of = move |role: Role| Options {
        url: url.clone(),
        service: role.name().to_owned(),
        credentials: Credentials {
            user: role.name().to_owned(),
            password: role.name().into(),
            ..Credentials::default()
        },
        ..base.clone()
    };
    assert_eq!(provision_streams(&of(Role::Operator)).await.unwrap(), []);
    Some((server, of))
}

fn frame_on_subject(subject: &str, payload: &str) -> Frame {
    Frame {
        subject: subject.to_owned(),
        ..sample_frame("a", payload, payload)
    }
}

/// With the permissions that are printed for it, every service can do its work, and the server rejects nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_work_with_the_permissions_printed_for_them() {
    let Some((_server, of)) = start_guarded_server("works").await else {
        return;
    };
    let connect = async |role| NatsBus::connect(&of(role)).await.unwrap();
    let (gateway, writer, clusterer) = (
        connect(Role::Gateway).await,
        connect(Role::Writer).await,
        connect(Role::Clusterer).await,
    );
    let (records, units) = ("records-accepted.v1", "units-written.v1");
    gateway.publish(frame_on_subject(records, "1")).await.unwrap();
    gateway.publish(frame_on_subject(records, "1")).await.unwrap();
    assert_eq!(gateway.backlog(records, "writer").await.unwrap(), 1);
    assert_eq!(gateway.backlog_of_space(records, "a").await.unwrap(), 1);
    let mut accepted = writer.subscribe(records, "writer").await.unwrap();
    let first = timeout(SOON, accepted.next()).await.unwrap().unwrap().unwrap();
    first.settler.extend().await.unwrap();
    first.settler.dead_letter("broken").await.unwrap();
    let letters = gateway.list(0, 9).await.unwrap();
    writer.amend(letters[0].id, b"less").await.unwrap();
    let letters = writer.of_space("a", 0, 9).await.unwrap();
    assert_eq!((letters.len(), gateway.count().await.unwrap()), (1, 1));
    gateway.replay(letters[0].id).await.unwrap();
    let again = timeout(SOON, accepted.next()).await.unwrap().unwrap().unwrap();
    assert_eq!((again.attempt, again.position), (1, letters[0].position));
    again.settler.dead_letter("broken").await.unwrap();
    let letters = writer.of_space("a", 0, 9).await.unwrap();
    writer.discard(letters[0].id).await.unwrap();
    assert_eq!(gateway.count().await.unwrap(), 0);
    assert_eq!(writer.backlog(records, "writer").await.unwrap(), 0);

    let organised = "units-organised.v1";
    for (bus, subject, group) in [(&clusterer, organised, "clusterer"), (&writer, units, "segmenter")] {
        writer.publish(frame_on_subject(subject, "2")).await.unwrap();
        let mut written = bus.subscribe(subject, group).await.unwrap();
        let delivery = timeout(SOON, written.next()).await.unwrap().unwrap().unwrap();
        delivery.settler.retry_after(Duration::ZERO).await.unwrap();
        let delivery = timeout(SOON, written.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(delivery.attempt, 2);
        delivery.settler.done().await.unwrap();
    }
    let (router, reader) = (Role::Router, Role::Reader);
    for (role, subject) in [
        (router, "route.v1"),
        (router, "tools.v1"),
        (router, "tool.v1"),
        (router, "recall.v1"),
        (reader, "answer.v1"),
        (reader, "plan.v1"),
    ] {
        let bus = connect(role).await;
        let mut inquiries = bus.serve(subject).await.unwrap();
        let serving = tokio::spawn(async move {
            while let Some(inquiry) = inquiries.next().await {
                (inquiry.reply)(Ok(inquiry.frame.payload));
            }
        });
        assert_eq!(
            gateway.request(frame_on_subject(subject, "?"), SOON).await.unwrap(),
            b"?"
        );
        serving.abort();
        assert_eq!(bus.count_refusals(), 0, "{role:?}");
    }
    gateway.publish(frame_on_subject(records, "3")).await.unwrap();
    gateway.erase("a").await.unwrap();
    assert_eq!(gateway.backlog(records, "writer").await.unwrap(), 0);
    gateway.publish(frame_on_subject(records, "3")).await.unwrap();
    for (bus, name) in [(&gateway, "gateway"), (&writer, "writer"), (&clusterer, "clusterer")] {
        assert_eq!(bus.count_refusals(), 0, "{name}");
    }
}

/// An operation of another service is rejected immediately and counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_cannot_perform_the_operations_of_another_service() {
    let Some((_server, of)) = start_guarded_server("refused").await else {
        return;
    };
    let refused = Some(ErrorKind::Unavailable);
    let connect = async |role| NatsBus::connect(&of(role)).await.unwrap();
    let (router, clusterer, writer, gateway) = (
        connect(Role::Router).await,
        connect(Role::Clusterer).await,
        connect(Role::Writer).await,
        connect(Role::Gateway).await,
    );
    gateway
        .publish(frame_on_subject("records-accepted.v1", "1"))
        .await
        .unwrap();
    assert_eq!(
        error_kind(router.publish(frame_on_subject("records-accepted.v1", "2")).await),
        refused
    );
    assert_eq!(error_kind(router.erase("a").await), refused);
    assert_eq!(error_kind(writer.erase("a").await), refused);
    assert_eq!(error_kind(router.list(0, 9).await), refused);
    assert!(router.subscribe("records-accepted.v1", "writer").await.is_err());
    assert_eq!(
        error_kind(gateway.publish(frame_on_subject("units-written.v1", "3")).await),
        refused
    );
    assert!(clusterer.subscribe("records-accepted.v1", "writer").await.is_err());
    assert!(clusterer.subscribe("units-written.v1", "segmenter").await.is_err());
    assert!(clusterer.subscribe("units-organised.v1", "made up").await.is_err());
    for (bus, name) in [
        (&router, "router"),
        (&clusterer, "clusterer"),
        (&writer, "writer"),
        (&gateway, "gateway"),
    ] {
        assert!(bus.count_refusals() > 0, "{name}");
    }
}

/// Publishes an empty message to each subject as a role, and returns how many of them the server refuses.
fn count_refused_publishes(server: &Nats, role: Role, subjects: &[&str]) -> usize {
    let url = server.url();
    let mut connection = TcpStream::connect(url.trim_start_matches("nats://")).unwrap();
    let user = role.name();
    let mut commands = format!("CONNECT {{\"user\": \"{user}\", \"pass\": \"{user}\", \"verbose\": false}}\r\n");
    for subject in subjects {
        commands += &format!("PUB {subject} 0\r\n\r\n");
    }
    connection.write_all((commands + "PING\r\n").as_bytes()).unwrap();
    let lines = BufReader::new(connection).lines().map(Result::unwrap);
    lines
        .take_while(|it| it != "PONG")
        .filter(|it| it.starts_with("-ERR"))
        .count()
}

/// The command `nats account backup` publishes to the first subject, and `nats account restore` to the second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_operator_may_copy_and_restore_streams() {
    let Some((server, _of)) = start_guarded_server("copied").await else {
        return;
    };
    let subjects = ["$JS.SNAPSHOT.ACK.copied-dead.1", "$JS.SNAPSHOT.RESTORE.copied-dead.1"];
    for role in Role::ALL {
        let refused = if role == Role::Operator { 0 } else { subjects.len() };
        assert_eq!(count_refused_publishes(&server, role, &subjects), refused, "{role:?}");
    }
}

//! The memory of every earlier release in `tests/releases` opens with this version and has the same content.
//! `tests/releases/make` generated these memories.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::upkeep::needs_migration;
use serde_json::{Value, json};

use crate::server::{Server, fresh_directory, mnemic};

/// Returns the folders of the releases, by name.
fn releases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases");
    let entries = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|it| it.is_dir()).collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

fn unpack(release: &Path, data: &Path) {
    let target = File::create(data.join("mnemic.sqlite")).unwrap();
    let mut gzip = Command::new("gzip");
    gzip.args(["--decompress", "--stdout"])
        .arg(release.join("mnemic.sqlite.gz"))
        .stdout(target);
    assert!(gzip.status().unwrap().success());
}

/// Asserts that every field of `expected` is in `found` with the same value. `found` may have more fields.
fn assert_holds(expected: &Value, found: &Value) {
    let expected = expected.as_object().unwrap();
    for (field, value) in expected {
        assert_eq!(&found[field], value, "{field} of {found}");
    }
}

/// Returns the fields of facts that state the knowledge.
fn known(facts: &[Value]) -> Vec<[String; 3]> {
    let mut known: Vec<_> = facts
        .iter()
        .map(|it| ["subject", "predicate", "object"].map(|field| it[field].as_str().unwrap().to_owned()))
        .collect();
    known.sort();
    known
}

fn listed(of_space: &Value, kind: &str) -> Vec<Value> {
    of_space[kind].as_array().unwrap().clone()
}

/// Compares the memory over `data` with the answers of the release.
async fn assert_holds_all(data: &Path, expected: &Value) {
    let server = Server::start(data).await;
    for (space, of_space) in expected["spaces"].as_object().unwrap() {
        let found = server.list(&format!("/spaces/{space}/records")).await;
        let records = listed(of_space, "records");
        assert_eq!(found.len(), records.len());
        for record in &records {
            let id = record["id"].as_str().unwrap();
            let (status, found) = server.get(&format!("/spaces/{space}/records/{id}")).await;
            assert_eq!(status, 200, "{found}");
            assert_holds(record, &found);
        }
        let facts = known(&server.list(&format!("/spaces/{space}/facts")).await);
        for fact in known(&listed(of_space, "facts")) {
            assert!(facts.contains(&fact), "{fact:?} is not among {facts:?}");
        }
        let curations = server.list(&format!("/spaces/{space}/curations")).await;
        let ids = |curations: &[Value]| curations.iter().map(|it| it["id"].clone()).collect::<Vec<Value>>();
        assert_eq!(ids(&curations), ids(&listed(of_space, "curations")));
    }
    for asked in expected["answers"].as_array().unwrap() {
        let body = json!({ "question": asked["question"], "answer": true, "budget": { "ms": 20_000 } });
        let (status, found) = server.post("/spaces/talk/query", &body).await;
        assert_eq!(status, 200, "{found}");
        assert_eq!(found["answer"]["text"], asked["answer"], "{found}");
        assert_eq!(found["verdict"]["status"], asked["verdict"], "{found}");
    }
    let erased = expected["erased"].as_str().unwrap();
    assert_eq!(server.get(&format!("/spaces/talk/records/{erased}")).await.0, 404);
    // The memory is usable: records sent again are known, and new records are found.
    let records = listed(&expected["spaces"]["talk"], "records");
    let again = json!({ "id": "1", "session": records[0]["session"], "actor": records[0]["actor"], "text": records[0]["text"],
        "observed_at": records[0]["observed_at"] });
    let new =
        json!({ "id": "new", "actor": "Ines", "text": "My bicycle is green.", "observed_at": "2026-03-17T08:00:00Z" });
    let (status, body) = server
        .post("/spaces/talk/records", &json!({ "records": [again, new] }))
        .await;
    assert_eq!(status, 202, "{body}");
    assert_eq!(body["items"][0]["status"], "duplicate", "{body}");
    server.written("talk", body["watermark"].as_str().unwrap()).await;
    let (_, found) = server
        .post(
            "/spaces/talk/query",
            &json!({ "question": "What colour is the bicycle of Ines?", "budget": { "ms": 20_000 } }),
        )
        .await;
    assert!(found["pack"]["text"].as_str().unwrap().contains("green"), "{found}");
}

/// A copy made before the upgrade keeps the format of the release, so it is the way back to that release. After a restore
/// of the copy, everything is as before, and the file can be upgraded again.
#[tokio::test]
async fn the_memory_of_an_earlier_release_opens_and_has_a_way_back() {
    for release in releases() {
        let name = release.file_name().unwrap().to_str().unwrap();
        let data = fresh_directory(&format!("upgrade-{name}"));
        unpack(&release, &data);
        let copy = data.join("before.sqlite");
        let mut backup = mnemic();
        backup.arg("backup").arg(&copy).env("MNEMIC_BACKENDS__DIR", &data);
        let output = backup.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(needs_migration(&data).unwrap(), "a copy brings nothing up to date");

        let expected: Value = serde_json::from_reader(File::open(release.join("expected.json")).unwrap()).unwrap();
        assert_holds_all(&data, &expected).await;
        assert!(!needs_migration(&data).unwrap());

        let back = fresh_directory(&format!("upgrade-{name}-back"));
        std::fs::copy(&copy, back.join("mnemic.sqlite")).unwrap();
        assert!(needs_migration(&back).unwrap(), "the copy is that of the release");
        assert_holds_all(&back, &expected).await;
    }
}

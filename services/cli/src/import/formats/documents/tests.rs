use std::io::Cursor;

use serde_json::Value;

use super::*;

fn read_all(mut documents: Documents) -> Vec<Result<Value, String>> {
    let (mut piece, mut all) = (Vec::new(), Vec::new());
    loop {
        match documents.read_next(&mut piece).unwrap() {
            NextPiece::Piece => all.push(Ok(serde_json::from_slice(&piece).unwrap())),
            NextPiece::Broken(why) => all.push(Err(why)),
            NextPiece::End => return all,
        }
    }
}

fn read_document(text: &[u8], name: &str, kind: Kind) -> Vec<Result<Value, String>> {
    let source = Box::new(Cursor::new(text.to_vec()));
    read_all(Documents::of_source(source, Path::new(name), kind))
}

#[test]
fn the_parts_of_a_document_are_records_of_one_session() {
    let text = "\u{feff}---\ntitle: Oslo\nauthor: Ann\ndate: 2026-03-02\n---\n# Moving\r\nWe moved.\r\n\n# Food\nFish.\n\n# Food\nFish.\n";
    let records: Vec<Value> = read_document(text.as_bytes(), "diary/2025-01-01 oslo.md", Kind::Markdown)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(records.len(), 3);
    assert!(records.iter().all(|it| it["session"] == "2025-01-01 oslo.md"
        && it["metadata"]["title"] == "Oslo"
        && it["observed_at"] == "2026-03-02T00:00:00Z"));
    assert_eq!(
        (&records[0]["text"], &records[1]["metadata"]["heading"]),
        (&json!("# Moving\n\nWe moved."), &json!("Food"))
    );
    assert_eq!(
        (&records[0]["metadata"]["author"], records[1]["metadata"].get("author")),
        (&json!("Ann"), None)
    );
    assert_eq!(records[1]["text"], records[2]["text"]);
    assert_ne!(records[1]["id"], records[2]["id"]);
    // The same text with one more section: existing parts keep their ids.
    let longer = text.replace("# Food", "# New\nWords.\n\n# Food");
    let again: Vec<Value> = read_document(longer.as_bytes(), "2025-01-01 oslo.md", Kind::Markdown)
        .into_iter()
        .map(|it| it.unwrap()["id"].clone())
        .collect();
    assert!(records.iter().all(|it| again.contains(&it["id"])));
    let dated = read_document(b"Rain.", "2026-03-02.txt", Kind::Text).remove(0).unwrap();
    assert_eq!(dated["observed_at"], "2026-03-02T00:00:00Z");
}

#[test]
fn very_long_lines_are_read_in_pieces_without_losing_characters() {
    let joined = |text: &str| -> String {
        let records = read_document(text.as_bytes(), "long.txt", Kind::Text);
        let texts: Vec<String> = records
            .into_iter()
            .map(|it| it.unwrap()["text"].as_str().unwrap().to_owned())
            .collect();
        texts.join(" ")
    };
    let cut = joined(&format!("a{}", "é".repeat(100_000)));
    assert_eq!(cut.chars().filter(|it| *it == 'é').count(), 100_000);
    let words = "käse ".repeat(40_000);
    assert_eq!(
        joined(&words).split_whitespace().filter(|it| *it == "käse").count(),
        40_000
    );
}

#[test]
fn files_that_are_not_text_are_reported_and_the_others_are_imported() {
    let all = read_document(b"Fine.\n\nBad \xff byte.\n", "x.txt", Kind::Text);
    assert_eq!((all.len(), &all[0].as_ref().unwrap()["text"]), (2, &json!("Fine.")));
    assert!(all[1].as_ref().unwrap_err().starts_with("x.txt: line 3: not in UTF-8"));
    let all = read_document(b"\xff\xfea\0", "x.txt", Kind::Text);
    assert!(all[0].as_ref().unwrap_err().contains("UTF-16"));
    let folder = std::env::temp_dir().join(format!("mnemic-documents-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("b")).unwrap();
    for (name, text) in [
        ("b/2.md", "Two"),
        ("a.txt", "One"),
        (".hidden.md", "No"),
        ("c.png", "No"),
        ("z.md", "\u{1}Three"),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let mut left_out = LeftOut::default();
    let documents = Documents::of_folder(find_documents(&folder, &mut left_out).unwrap(), left_out);
    let passed = documents.passed_over();
    let sessions: Vec<Value> = read_all(documents)
        .into_iter()
        .map(|it| it.unwrap()["session"].clone())
        .collect();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(sessions, ["a.txt", "b/2.md", "z.md"]);
    assert_eq!(
        passed,
        ["files that are neither .md nor .txt: 1", "hidden files and folders: 1"]
    );
}

#[test]
fn a_document_has_other_ids_when_its_date_has_come() {
    let planned = EntryTime::first_of(&[json!("2999-01-15")]);
    let mut come = planned.clone();
    come.usable = come.future.take();
    let part = Part {
        text: "The fair opens.".to_owned(),
        heading: String::new(),
    };
    let record_at = |time: &EntryTime| {
        let name = "2999-01-15 fair.md".to_owned();
        let mut reader = Reader::new(Box::new(std::io::empty()), name, Kind::Markdown);
        reader.record_from_part(&part, time.clone(), &mut LeftOut::default())
    };
    let (early, late) = (record_at(&planned), record_at(&come));
    assert_eq!(
        (early.get("observed_at"), &early["metadata"]["date"]),
        (None, &json!("2999-01-15T00:00:00Z"))
    );
    assert_eq!(
        (&late["observed_at"], late["metadata"].get("date")),
        (&json!("2999-01-15T00:00:00Z"), None)
    );
    assert_ne!(early["id"], late["id"]);
    assert_eq!(
        record_at(&planned),
        early,
        "an import before that time finds its records"
    );
}

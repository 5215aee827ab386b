//! Texts of hundreds of kilobytes: one record for its owner, many units for the search.

use crate::server::{Server, fresh_directory};
use fixtures::wait_until;
use serde_json::{Value, json};

/// Returns a document of 348 KB with one unique statement each at its beginning, in its middle and at its end.
fn document() -> String {
    let mut text = String::from("# Notes of the harbour museum\n\nThe quaxbank lies under the northern staircase.\n\n");
    for number in 0.. {
        if text.len() > 348_000 {
            break;
        }
        if number == 600 {
            text.push_str("The zibbelfish of the aquarium eats only dried barley.\n\n");
        }
        text.push_str(&format!(
            "## Cabinet {number}\n\nCabinet {number} holds {} ropes and {} lanterns — some of them näher am Fenster. \
             The keeper counted them in week {}, and wrote the figures on a card.\r\n\r\n",
            number * 7 % 31,
            number * 5 % 23,
            number % 52
        ));
    }
    text.push_str("The morvaine lamp was given back to the lighthouse.\n");
    text
}

/// Returns the lines of the evidence pack for a question that sees the write with the watermark `after`.
async fn pack(api: &Server, question: &str, after: &Value) -> Vec<Value> {
    let body = json!({ "question": question, "after": after, "budget": { "tokens": 512, "ms": 20_000 } });
    let (status, reply) = api.post("/spaces/talk/query", &body).await;
    assert_eq!(status, 200, "{reply}");
    reply["pack"]["items"].as_array().unwrap().clone()
}

const ASKED: [(&str, &str); 3] = [
    ("Where does the quaxbank lie?", "quaxbank"),
    ("What does the zibbelfish eat?", "zibbelfish"),
    ("To whom was the morvaine lamp given back?", "morvaine"),
];

async fn a_long_text_is_one_record_of_many_units(api: &Server) {
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let text = document();
    assert!((348_000..349_000).contains(&text.len()));
    let records = json!([
        { "id": "museum", "session": "s", "actor": "Ann", "text": text, "observed_at": "2026-03-02T18:00:00Z" },
        { "id": "fern", "session": "s", "actor": "Ann", "text": "I repotted the fern.", "observed_at": "2026-03-02T18:05:00Z" },
    ]);
    let (status, accepted) = api.post("/spaces/talk/records", &json!({ "records": records })).await;
    assert_eq!(status, 202, "{accepted}");
    api.written("talk", accepted["watermark"].as_str().unwrap()).await;

    for (question, word) in ASKED {
        let items = pack(api, question, &accepted["watermark"]).await;
        let found = items.iter().find(|it| it["text"].as_str().unwrap().contains(word));
        let found = found.unwrap_or_else(|| panic!("{question}: {items:?}"));
        assert_eq!(found["external_ids"], json!(["museum"]));
        assert!(
            found["text"].as_str().unwrap().len() < 8_100,
            "a part, not the whole text"
        );
    }
    let listed = api.list("/spaces/talk/records").await;
    assert_eq!(listed.len(), 2);
    let (_, kept) = api.get("/spaces/talk/records/museum").await;
    assert!(kept["text"] == json!(text), "byte by byte as it was sent");
    let units = api.list("/spaces/talk/units").await;
    let parts = units
        .iter()
        .filter(|it| it["grain"] == "turn" && it["external_ids"] == json!(["museum"]));
    let parts: Vec<&str> = parts.map(|it| it["text"].as_str().unwrap()).collect();
    assert!((44..120).contains(&parts.len()), "{}", parts.len());
    assert!(parts.iter().all(|it| it.len() <= 8_000));

    // The same text again changes nothing; another text under the same id is a conflict.
    let (status, again) = api
        .post("/spaces/talk/records", &json!({ "records": [records[0]] }))
        .await;
    assert_eq!(
        (status, &again["items"][0]["status"]),
        (202, &json!("duplicate")),
        "{again}"
    );

    let (status, erased) = api.delete("/spaces/talk/records/museum").await;
    assert_eq!(status, 202, "{erased}");
    api.written("talk", erased["watermark"].as_str().unwrap()).await;
    let left = api.list("/spaces/talk/units").await;
    let left: Vec<&Value> = left
        .iter()
        .filter(|it| it["external_ids"].to_string().contains("museum"))
        .collect();
    assert!(left.is_empty(), "{} units are left", left.len());
    for (question, word) in ASKED {
        let items = pack(api, question, &erased["watermark"]).await;
        assert!(
            items.iter().all(|it| !it["text"].as_str().unwrap().contains(word)),
            "{items:?}"
        );
    }
    assert_eq!(
        pack(api, "Who repotted the fern?", &erased["watermark"]).await.len(),
        1,
        "the other record stays"
    );
}

async fn too_long_a_text_is_refused_and_the_others_go_in(api: &Server) {
    assert_eq!(api.put("/spaces/long").await.0, 201);
    let (least, most) = ("a longer word ".repeat(82_400), "a word  ".repeat(131_072));
    assert!(least.len() > 1_100 << 10 && most.len() == 1 << 20);
    let records = json!([
        { "id": "1", "text": "I repotted the fern." },
        { "id": "2", "text": least },
        { "id": "3", "text": most },
    ]);
    let (status, reply) = api.post("/spaces/long/records", &json!({ "records": records })).await;
    assert_eq!(status, 202, "{reply}");
    let outcomes: Vec<&Value> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["status"])
        .collect();
    assert_eq!(outcomes, [&json!("accepted"), &json!("rejected"), &json!("accepted")]);
    let detail = reply["items"][1]["problem"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("text: has 1153600 bytes, more than 1048576"),
        "{detail}"
    );
    api.written("long", reply["watermark"].as_str().unwrap()).await;
    assert_eq!(api.list("/spaces/long/records").await.len(), 2);
}

#[tokio::test]
async fn long_texts_are_found_kept_and_erased() {
    let data = fresh_directory("long-texts");
    let server = Server::start(&data).await;
    a_long_text_is_one_record_of_many_units(&server).await;
    too_long_a_text_is_refused_and_the_others_go_in(&server).await;
    let holds = |word: &str| {
        let files = std::fs::read_dir(&data).unwrap().map(|it| it.unwrap().path());
        let mut files = files.filter(|it| it.is_file());
        files.any(|it| {
            std::fs::read(it)
                .unwrap()
                .windows(word.len())
                .any(|it| it == word.as_bytes())
        })
    };
    assert!(
        holds("a longer word") || holds("a word  a word"),
        "what was not erased is found so"
    );
    // The write-ahead log is emptied a few seconds after an erasure.
    for (_, word) in ASKED {
        wait_until(&format!("no file contains {word:?}"), async || !holds(word)).await;
    }
}

use chrono::{DateTime, Utc};
use domain::derived::Derived;
use domain::id::{PageId, RecordId, SpaceId, TopicId, UnitId};
use domain::page::{Dimension, Line, Link, LinkKind, Page, PageStatus, Section};
use domain::recall::NoteKind;
use domain::topic::{Member, Topic};
use domain::unit::Unit;
use serde_json::json;

use crate::harness::Gateway;
use crate::lists::walk;

fn space() -> SpaceId {
    "s".parse().unwrap()
}

fn at(day: u32) -> DateTime<Utc> {
    format!("2026-04-{day:02}T00:00:00Z").parse().unwrap()
}

fn event(day: u32) -> UnitId {
    UnitId::of_event(RecordId::from_external_id(&space(), &day.to_string()))
}

pub(crate) fn unit(day: u32) -> Unit {
    let record = RecordId::from_external_id(&space(), &day.to_string());
    let value = json!({"id": event(day), "grain": "event", "session": record, "records": [record], "external_ids": [day.to_string()],
        "observed_at": at(day), "ordinal": 0, "modality": "text", "actor": "", "text": format!("day {day}"),
        "summary": format!("day {day}"), "derived_by": "test", "confidence": 1.0});
    serde_json::from_value(value).unwrap()
}

pub(crate) fn page(title: &str, dimension: Dimension, days: &[u32]) -> Page {
    let line = |day: &u32| Line {
        text: format!("{title} on day {day}"),
        unit: event(*day),
        observed_at: at(*day),
        fact: None,
        until: Some(at(20)),
    };
    Page {
        id: PageId::from_subject(&space(), dimension.name(), title),
        dimension,
        title: title.into(),
        summary: format!("All of {title}"),
        aliases: Vec::new(),
        tags: vec!["sail".into()],
        sections: vec![Section {
            title: "Trips".into(),
            category: "events".into(),
            summary: None,
            lines: days.iter().map(line).collect(),
            left_out: 0,
            former: Vec::new(),
            time: None,
            confidence: 0.5,
        }],
        links: Vec::new(),
        confidence: 0.5,
        updated_at: at(*days.last().unwrap()),
        status: PageStatus::Active,
    }
}

async fn put(gateway: &Gateway, items: &[Derived]) {
    let graph = &gateway.context.backends.graph;
    graph.put_derived(&space(), items, &[]).await.unwrap();
}

#[tokio::test]
async fn a_topic_shows_its_nearest_units() {
    let gateway = Gateway::new().await;
    let topic = |label: &str, first: u32| Topic {
        id: TopicId::from_founding_unit(event(first)),
        label: label.into(),
        summary: None,
        keywords: vec!["sail".into()],
        units: 3,
        first_seen: at(first),
        last_seen: at(9),
    };
    let member = |day: u32, topic: u32, similarity: f32| {
        Derived::Member(Member {
            unit: event(day),
            topic: TopicId::from_founding_unit(event(topic)),
            similarity,
        })
    };
    let (boats, bread) = (topic("boats", 1), topic("bread", 5));
    let items = [
        Derived::Topic(boats.clone()),
        Derived::Topic(bread.clone()),
        member(1, 1, 0.5),
        member(2, 1, 0.9),
        member(3, 1, 0.7),
        member(5, 5, 0.8),
    ];
    put(&gateway, &items).await;
    let units: Vec<Unit> = [1, 2, 3, 5].map(unit).to_vec();
    let graph = &gateway.context.backends.graph;
    graph.put_units(&space(), &units, &[]).await.unwrap();
    let mut labels = walk(&gateway, "/v1/spaces/s/topics", "label").await;
    labels.sort();
    assert_eq!(labels, ["boats", "bread"]);
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/topics?as_of=2026-04-02", "label").await,
        ["boats"]
    );
    let shown = gateway
        .send(&format!("GET /v1/spaces/s/topics/{}", boats.id), "")
        .await
        .json();
    let texts = |shown: &serde_json::Value| -> Vec<String> {
        let members = shown["members"].as_array().unwrap();
        members
            .iter()
            .map(|it| it["unit"]["text"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(texts(&shown), ["day 2", "day 3", "day 1"]);
    assert_eq!(shown["topic"]["label"], "boats");
    let then = format!("GET /v1/spaces/s/topics/{}?as_of=2026-04-02", boats.id);
    assert_eq!(texts(&gateway.send(&then, "").await.json()), ["day 2", "day 1"]);
    let early = format!("GET /v1/spaces/s/topics/{}?as_of=2026-04-02", bread.id);
    assert!(
        gateway
            .send(&early, "")
            .await
            .problem()
            .starts_with("404 this topic did not exist yet")
    );
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/units?as_of=2026-04-02", "text")
            .await
            .len(),
        2
    );
}

#[tokio::test]
async fn a_page_is_returned_as_of_a_moment_and_the_access_is_recorded() {
    let gateway = Gateway::new().await;
    let mut boats = page("boats", Dimension::Topic, &[1, 3]);
    let ann = page("Ann", Dimension::Figure, &[2]);
    let mut rain = page("rain", Dimension::Topic, &[4]);
    rain.status = PageStatus::Archived;
    let link = |to: &Page| Link {
        kind: LinkKind::RelatedTo,
        page: to.id,
        title: to.title.clone(),
        weight: 1.0,
    };
    // The page of a person who is named, without any facts.
    let mut bare = page("Ben", Dimension::Figure, &[1]);
    bare.sections.clear();
    boats.links = vec![link(&ann), link(&rain), link(&bare)];
    boats.sections[0].summary = Some("Two trips with the boat.".to_owned());
    let stored = [&boats, &ann, &rain, &bare].map(|it| Derived::Page(it.clone()));
    put(&gateway, &stored).await;
    let list = async |filter: &str| {
        let mut titles = walk(&gateway, &format!("/v1/spaces/s/pages{filter}"), "title").await;
        titles.sort();
        titles.join(" ")
    };
    assert_eq!(list("").await, "Ann boats");
    assert_eq!(list("?archived=true").await, "Ann boats rain");
    assert_eq!(list("?dimension=figure").await, "Ann");
    assert_eq!(list("?as_of=2026-04-01").await, "boats");
    assert_eq!(list("?as_of=2026-04-05").await, list("").await);
    let heads = gateway.send("GET /v1/spaces/s/pages?dimension=topic", "").await.json();
    assert_eq!(heads["items"][0]["sections"], json!(["Trips"]));
    let read = gateway
        .send(&format!("GET /v1/spaces/s/pages/{}", boats.id), "")
        .await
        .json();
    assert_eq!(read["sections"][0]["lines"].as_array().unwrap().len(), 2);
    assert_eq!(read["sections"][0]["summary"], "Two trips with the boat.");
    assert_eq!(read["links"].as_array().unwrap().len(), 2);
    let then = gateway
        .send(&format!("GET /v1/spaces/s/pages/{}?as_of=2026-04-02", boats.id), "")
        .await
        .json();
    assert_eq!(then["summary"], "boats on day 1");
    assert!(then["sections"][0]["summary"].is_null(), "of the second trip: {then}");
    assert!(
        then["sections"][0]["lines"][0].get("until").is_none(),
        "it had not ceased: {then}"
    );
    assert_eq!(then["links"][0]["title"], "Ann", "rain was not known: {then}");
    assert_eq!(then["links"].as_array().unwrap().len(), 1);
    gateway.send(&format!("GET /v1/spaces/s/pages/{}", rain.id), "").await;
    let notes = gateway.context.backends.records.notes(&space(), "pages").await.unwrap();
    let mut noted: Vec<_> = notes.iter().map(|it| (it.subject, it.kind)).collect();
    let mut expected = [boats.id, rain.id].map(|it| (it.uuid(), NoteKind::Read));
    noted.sort();
    expected.sort();
    assert_eq!(noted, expected);
    for (as_of, expected) in [
        ("", "404 there is no page with this id"),
        ("?as_of=2026-04-05", "404 this page did not exist yet"),
    ] {
        let call = format!("GET /v1/spaces/s/pages/{}{as_of}", bare.id);
        let none = gateway.send(&call, "").await.problem();
        assert!(none.starts_with(expected), "{none}");
    }
    let missing = gateway.send("GET /v1/spaces/s/pages/x", "").await.problem();
    assert!(missing.starts_with("404 there is no page with this id"), "{missing}");
}

//! Profiles, their jobs and settings, summaries, and the project.

use domain::derived::Derived;
use domain::page::Dimension;
use fixtures::wait_for;
use serde_json::{Value, json};

use super::keys::{KEYS, send_as};
use super::{ENABLED, add, call, error, start};
use crate::facts::facts;
use crate::harness::Gateway;
use crate::pages::page;

const JOBS: &str = "/mem0/v2/profiles/jobs/";

/// Stores derived data for a user, as the clusterer would.
async fn derive(gateway: &Gateway, space: &str) {
    let pages = [
        page("Mia", Dimension::Figure, &[1, 2]),
        page("Sailing", Dimension::Topic, &[3]),
        page("Skiing", Dimension::Topic, &[4]),
    ];
    let items: Vec<Derived> = facts()
        .into_iter()
        .map(Derived::Fact)
        .chain(pages.map(Derived::Page))
        .collect();
    let graph = &gateway.context.backends.graph;
    graph.put_derived(&space.parse().unwrap(), &items, &[]).await.unwrap();
}

/// Returns the profile of a user after all derivation is complete.
async fn profile(gateway: &Gateway, user: &str) -> Value {
    let path = format!("GET /mem0/v2/entities/user/{user}/profile/");
    wait_for("the profile is complete", async || {
        let profile = call(gateway, &path, Value::Null).await;
        match profile["status"] == "pending" {
            true => Err(profile),
            false => Ok(profile),
        }
    })
    .await
}

#[tokio::test]
async fn a_profile_contains_the_derived_data_of_a_user() {
    let gateway = start(ENABLED).await;
    add(&gateway, "I moved to Porto.", "ann").await;
    let empty = profile(&gateway, "ann").await;
    assert_eq!(
        (&empty["status"], &empty["updated_at"]),
        (&json!("insufficient_data"), &Value::Null)
    );
    derive(&gateway, "mem0-ann").await;
    let found = profile(&gateway, "ann").await;
    assert_eq!(
        (&found["status"], &found["entity_type"], &found["entity_id"]),
        (&json!("succeeded"), &json!("user"), &json!("ann"))
    );
    assert_eq!(
        found["profile"]["facts"],
        json!({"preference": ["Zoë likes rain", "Ann likes tea"], "place": ["Ann lives in Porto"]}),
        "neither what has ended nor what was taken back"
    );
    assert_eq!(
        found["profile"]["people"],
        json!([{"title": "Mia", "summary": "All of Mia"}])
    );
    let topics = [
        json!({"title": "Skiing", "summary": "All of Skiing"}),
        json!({"title": "Sailing", "summary": "All of Sailing"}),
    ];
    assert_eq!(found["profile"]["topics"], json!(topics), "the newest first");
    assert!(found["generation_count"].as_u64().unwrap() > 0, "{found}");
    assert_eq!(found["updated_at"], "2026-04-04T00:00:00Z");

    let body = json!({"filters": {"user_id": "ann"}});
    let summary = call(&gateway, "POST /mem0/v1/summary/", body).await;
    let expected = "Mia: All of Mia\nSkiing: All of Skiing\nSailing: All of Sailing\nZoë likes rain.\nAnn likes tea.\n\
                    Ann lives in Porto.";
    assert_eq!((&summary["summary"], &summary["users"]), (&json!(expected), &json!(1)));
    let nobody = json!({"filters": {"user_id": "nobody"}});
    assert_eq!(call(&gateway, "POST /mem0/v1/summary/", nobody).await["summary"], "");
}

#[tokio::test]
async fn jobs_are_complete_immediately() {
    let gateway = start(ENABLED).await;
    for user in ["ann", "Bob Smith"] {
        add(&gateway, "Hi.", user).await;
    }
    let agent = json!({"messages": "Hi.", "agent_id": "bot"});
    call(&gateway, "POST /mem0/memories", agent).await;
    profile(&gateway, "ann").await;
    profile(&gateway, "Bob%20Smith").await;
    derive(&gateway, "mem0-ann").await;

    let trigger = json!({"operation": "trigger", "entity_type": "user", "entity_id": "ann"});
    let made = call(&gateway, &format!("POST {JOBS}"), trigger.clone()).await;
    assert_eq!(made["status"], "succeeded");
    let again = call(&gateway, &format!("POST {JOBS}"), trigger).await;
    assert_eq!(made["job_id"], again["job_id"]);
    // Clients append it to their host, which ends with the prefix.
    let path = format!("GET /mem0{}", made["status_url"].as_str().unwrap());
    let job = call(&gateway, &path, Value::Null).await["job"].clone();
    assert_eq!((&job["id"], &job["status"]), (&made["job_id"], &json!("succeeded")));
    assert_eq!(
        (&job["total"], &job["succeeded"], &job["skipped"]),
        (&json!(1), &json!(1), &json!(0))
    );

    let sample = json!({"operation": "sample", "entity_type": "user"});
    let made = call(&gateway, &format!("POST {JOBS}"), sample).await;
    assert_eq!(
        (&made["sampled"], &made["entity_ids"]),
        (&json!(2), &json!(["ann", "Bob Smith"]))
    );
    let path = format!("GET {JOBS}{}/", made["job_id"].as_str().unwrap());
    let job = call(&gateway, &path, Value::Null).await["job"].clone();
    assert_eq!(
        (&job["total"], &job["succeeded"], &job["skipped"]),
        (&json!(2), &json!(1), &json!(1))
    );
    call(&gateway, "DELETE /mem0/v2/entities/user/ann/", Value::Null).await;
    let job = call(&gateway, &path, Value::Null).await["job"].clone();
    assert_eq!(
        (&job["succeeded"], &job["skipped"]),
        (&json!(0), &json!(2)),
        "somebody who is gone is skipped"
    );

    let few = json!({"operation": "sample", "entity_type": "user", "limit": 1});
    assert_eq!(call(&gateway, &format!("POST {JOBS}"), few).await["sampled"], 1);
}

#[tokio::test]
async fn settings_cannot_be_changed() {
    let gateway = start(ENABLED).await;
    let path = "/mem0/v2/profiles/settings/";
    let settings = call(&gateway, &format!("GET {path}"), Value::Null).await;
    assert_eq!(settings["enabled"], true);
    assert_eq!(
        settings["entities"]["user"],
        json!({"schema": null, "custom_instructions": null})
    );
    for so in [
        json!({"enabled": true}),
        json!({}),
        json!({"entities": {"user": {"schema": null, "custom_instructions": null}}}),
    ] {
        assert_eq!(call(&gateway, &format!("POST {path}"), so).await, settings);
    }
    let project = "/mem0/api/v1/orgs/organizations/mnemic/projects/mnemic/";
    let so = json!({"multilingual": true, "decay": false, "custom_instructions": "", "custom_categories": []});
    assert_eq!(call(&gateway, &format!("PATCH {project}"), so).await["name"], "Mnemic");
    for (call, body, named) in [
        (format!("POST {path}"), json!({"enabled": false}), "enabled"),
        (
            format!("POST {path}"),
            json!({"entities": {"user": {"schema": {}}}}),
            "schema",
        ),
        (
            format!("POST {path}"),
            json!({"entities": {"user": {"custom_instructions": "Be short."}}}),
            "custom_instructions",
        ),
        (
            format!("PATCH {project}"),
            json!({"custom_instructions": "Be short."}),
            "custom_instructions",
        ),
        (
            format!("PATCH {project}"),
            json!({"custom_categories": [{"a": "b"}]}),
            "custom_categories",
        ),
        (format!("PATCH {project}"), json!({"decay": true}), "decay"),
        (
            format!("PATCH {project}"),
            json!({"multilingual": false}),
            "multilingual",
        ),
        (
            format!("PATCH {project}"),
            json!({"memory_depth": "deep"}),
            "memory_depth",
        ),
    ] {
        let refused = error(&gateway.send(&call, &body.to_string()).await);
        assert!(
            refused.starts_with(&format!("501 {named}: ")) && refused.contains(" use "),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn invalid_profile_requests_are_refused() {
    let gateway = start(ENABLED).await;
    add(&gateway, "Hi.", "ann").await;
    for (call, body, expected) in [
        (
            "GET /mem0/v2/entities/user/nobody/profile/",
            Value::Null,
            "404 there is no user with this name",
        ),
        (
            "GET /mem0/v2/entities/thing/ann/profile/",
            Value::Null,
            "404 the kinds are users",
        ),
        (
            "POST /mem0/v2/profiles/jobs/",
            json!({"operation": "trigger"}),
            "400 entity_type: is not `user`",
        ),
        (
            "POST /mem0/v2/profiles/jobs/",
            json!({"operation": "erase", "entity_type": "user"}),
            "400 operation: is neither",
        ),
        (
            "POST /mem0/v2/profiles/jobs/",
            json!({"operation": "trigger", "entity_type": "user"}),
            "400 entity_id: is missing",
        ),
        (
            "POST /mem0/v2/profiles/jobs/",
            json!({"operation": "trigger", "entity_type": "user", "entity_id": "nobody"}),
            "404 there is no user with this name",
        ),
        (
            "POST /mem0/v2/profiles/jobs/",
            json!({"operation": "sample", "entity_type": "user", "limit": 11}),
            "400 limit: is not a number from 1 to 10",
        ),
        (
            "GET /mem0/v2/profiles/jobs/0b6b3f0e-5a52-4d6c-9f0e-0c1c6f3f9c11/",
            Value::Null,
            "404 there is no job",
        ),
        ("GET /mem0/v2/profiles/jobs/00aa/", Value::Null, "404 there is no job"),
        ("POST /mem0/v1/summary/", json!({}), "400 filters: name no user"),
        (
            "POST /mem0/v1/summary/",
            json!({"filters": {"user_id": "ann", "metadata": {"a": "b"}}}),
            "400 filters: for a summary must name one kind",
        ),
        (
            "POST /mem0/v1/summary/",
            json!({"filters": {"user_id": (0..17).map(|it| it.to_string()).collect::<Vec<_>>()}}),
            "400 filters: name 17 users",
        ),
    ] {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let refused = error(&gateway.send(call, &body).await);
        assert!(refused.starts_with(expected), "{call}: {refused}");
    }
}

#[tokio::test]
async fn a_key_sees_only_the_profiles_of_its_own_users() {
    let gateway = start(KEYS).await;
    for user in ["ann", "bob"] {
        let body = json!({"messages": "Hi.", "user_id": user});
        send_as(&gateway, "owner", "POST /mem0/memories", body).await;
    }
    let jobs = format!("POST {JOBS}");
    let of = |user: &str| json!({"operation": "trigger", "entity_type": "user", "entity_id": user});
    let made = send_as(&gateway, "owner", &jobs, of("bob")).await.json();
    let job = format!("GET /mem0{}", made["status_url"].as_str().unwrap());
    assert_eq!(
        send_as(&gateway, "owner", &job, Value::Null).await.json()["job"]["total"],
        1
    );
    let theirs = "GET /mem0/v2/entities/user/bob/profile/";
    for (call, body, expected) in [
        (theirs, Value::Null, "404 there is no user with this name"),
        (jobs.as_str(), of("bob"), "404 there is no user with this name"),
        (job.as_str(), Value::Null, "404 there is no job with this id"),
        (
            "POST /mem0/v1/summary/",
            json!({"filters": {"user_id": "bob"}}),
            "404 there is no space `mem0-bob`",
        ),
    ] {
        assert!(
            error(&send_as(&gateway, "reader", call, body).await).starts_with(expected),
            "{call}"
        );
    }
    let sample = json!({"operation": "sample", "entity_type": "user", "limit": 10});
    assert_eq!(
        send_as(&gateway, "reader", &jobs, sample.clone()).await.json()["entity_ids"],
        json!(["ann"])
    );
    assert_eq!(
        send_as(&gateway, "owner", &jobs, sample).await.json()["entity_ids"],
        json!(["ann", "bob"])
    );
    assert_eq!(
        send_as(&gateway, "owner", theirs, Value::Null).await.json()["entity_id"],
        "bob"
    );
}

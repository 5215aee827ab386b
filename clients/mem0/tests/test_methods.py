"""Every public method of `MemoryClient` and `AsyncMemoryClient`, called as their documentation calls them."""

from __future__ import annotations

import inspect
import json
import time
from typing import Any

import pytest
from conftest import Client
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError

# Calls without an equivalent in Mnemic: the server answers 501 and names an alternative.
UNSUPPORTED: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "profiles off": ("update_profile_settings", (), {"enabled": False}),
    "schema of profiles": ("update_profile_settings", (), {"schema": {"type": "object"}}),
    "instructions for profiles": ("update_profile_settings", (), {"custom_instructions": "Be short."}),
    "instructions": ("update_project", (), {"custom_instructions": "Be short."}),
    "categories": ("update_project", (), {"custom_categories": ["food"]}),
    "depth": ("update_project", (), {"memory_depth": "deep"}),
}
SUPPORTED = {
    "add",
    "get",
    "get_all",
    "search",
    "update",
    "delete",
    "delete_all",
    "history",
    "users",
    "delete_users",
    "reset",
    "batch_update",
    "batch_delete",
    "feedback",
    "get_project",
    "create_memory_export",
    "get_memory_export",
    "get_summary",
    "get_profile",
    "generate_profile",
    "sample_profiles",
    "get_profile_job",
    "get_profile_settings",
    "get_webhooks",
    "create_webhook",
    "update_webhook",
    "delete_webhook",
}
# Calls that are accepted and change nothing, because Mnemic always works that way.
UNCHANGING = {"update_project", "update_profile_settings"}
# The client itself raises NotImplementedError.
NOT_IN_THE_CLIENT = {"chat"}

TRIP = [
    {"role": "user", "content": "I went to Kyoto with my sister Mia yesterday."},
    {"role": "assistant", "content": "How was Kyoto?"},
    {"role": "user", "content": "Wonderful, we saw the golden temple."},
]


def added(client: Client, text: str, **options: Any) -> str:
    """Adds a message of a user; returns the id of the memory."""
    outcome = client.add(text, **({"user_id": "ann"} | options))
    assert outcome["status"] == "SUCCEEDED", outcome
    return str(outcome["results"][0]["id"])


def test_every_public_method_is_covered() -> None:
    for kind in (MemoryClient, AsyncMemoryClient):
        public = {name for name, it in inspect.getmembers(kind, callable) if not name.startswith("_")}
        assert public == SUPPORTED | UNCHANGING | NOT_IN_THE_CLIENT
        assert len(public) == 30 and len(SUPPORTED) == 27


def test_added_memories_are_found_immediately(client: Client) -> None:
    trip: dict[str, Any] = {"user_id": "ann", "run_id": "trip", "metadata": {"place": "Japan"}, "timestamp": 1683554400}
    outcome = client.add(TRIP, **trip)
    assert outcome["event_id"] and [it["event"] for it in outcome["results"]] == ["ADD"] * 3
    assert [it["event"] for it in client.add(TRIP, **trip)["results"]] == ["NONE"] * 3
    found = client.search("Who was in Kyoto with Ann?", filters={"user_id": "ann"}, top_k=2, rerank=True)["results"]
    assert len(found) == 2
    kyoto = next(it for it in found if "Mia" in it["memory"])
    assert "8 May 2023" in kyoto["memory"] and "7 May 2023" in kyoto["memory"]
    assert kyoto["metadata"] == {"place": "Japan"} and kyoto["user_id"] == "ann" and kyoto["run_id"] == "trip"
    assert 0 <= kyoto["score"] <= 1 and kyoto["created_at"].startswith("2023-05-08")
    assert client.get(kyoto["id"])["memory"] == kyoto["memory"]
    nobody = client.search("Kyoto", filters={"user_id": "somebody-new"})
    assert nobody == {"results": []}


def test_a_text_a_message_and_a_list_of_messages_are_accepted(client: Client) -> None:
    client.add("I like tea.", user_id="ann")
    client.add({"role": "user", "content": "I like coffee."}, user_id="ann")
    client.add([{"role": "user", "content": "I like milk."}], filters={"user_id": "ann"}, infer=False)
    everything = client.get_all(filters={"user_id": "ann"})
    assert everything["count"] == 3 and len(everything["results"]) == 3
    second = client.get_all(filters={"user_id": "ann"}, page=2, page_size=2)
    assert len(second["results"]) == 1 and second["previous"] and not second["next"]


def test_filters_narrow_search_and_lists(client: Client) -> None:
    for text, agent, city in [("I ate fish.", "a", "Oslo"), ("I ate rice.", "b", "Kyoto"), ("I ate bread.", "b", "Oslo")]:
        client.add(text, user_id="ann", agent_id=agent, metadata={"city": city})
    filters = {"AND": [{"user_id": "ann"}, {"OR": [{"agent_id": "a"}, {"metadata": {"city": "Kyoto"}}]}]}
    assert client.get_all(filters=filters)["count"] == 2
    found = client.search("What did Ann eat?", filters=filters)["results"]
    assert len(found) == 2 and not any("bread" in it["memory"] for it in found)
    future = {"AND": [{"user_id": "ann"}, {"created_at": {"gte": "2100-01-01"}}]}
    assert client.get_all(filters=future)["count"] == 0
    with pytest.raises(ValidationError):
        client.search("What did Ann eat?", filters={"city": "Oslo"})


def test_a_memory_is_updated_listed_with_its_history_and_deleted(client: Client) -> None:
    memory = added(client, "I live in Oslo.")
    other = added(client, "I have a cat called Pixel.")
    assert "Bergen" in client.update(memory, text="I live in Bergen.")["memory"]
    assert client.get(memory)["id"] == memory
    history = client.history(memory)
    assert [it["event"] for it in history] == ["ADD", "UPDATE"]
    assert "Oslo" in history[1]["old_memory"] and "Bergen" in history[1]["new_memory"]
    assert client.get_all(filters={"user_id": "ann"})["count"] == 2
    found = client.search("Where does Ann live?", filters={"user_id": "ann"}, top_k=1)["results"]
    assert found[0]["id"] == memory and "Bergen" in found[0]["memory"]
    assert client.update(memory, metadata={"sure": "yes"})["metadata"] == {"sure": "yes"}
    client.update(memory, expiration_date="2020-01-01")
    assert client.get_all(filters={"user_id": "ann"})["count"] == 1
    client.update(memory, expiration_date=None)
    assert client.get_all(filters={"user_id": "ann"})["count"] == 2
    client.delete(memory)
    with pytest.raises(MemoryNotFoundError):
        client.get(memory)
    assert [it["id"] for it in client.get_all(filters={"user_id": "ann"})["results"]] == [other]


def test_memories_are_updated_and_deleted_in_batches(client: Client) -> None:
    memories = [added(client, text) for text in ("I run.", "I swim.", "I ski.")]
    client.batch_update([{"memory_id": it, "text": f"I rest {at} times."} for at, it in enumerate(memories)])
    assert all("rest" in client.get(it)["memory"] for it in memories)
    client.batch_delete([{"memory_id": it} for it in memories[:2]])
    assert [it["id"] for it in client.get_all(filters={"user_id": "ann"})["results"]] == memories[2:]


def test_delete_all_deletes_the_memories_that_its_filter_matches(client: Client) -> None:
    added(client, "I run.", agent_id="a")
    added(client, "I swim.", agent_id="b")
    added(client, "I ski.", user_id="bob")
    client.delete_all(user_id="ann", agent_id="a")
    assert client.get_all(filters={"user_id": "ann"})["count"] == 1
    client.delete_all(user_id="ann")
    assert client.get_all(filters={"user_id": "ann"})["count"] == 0
    assert client.get_all(filters={"user_id": "bob"})["count"] == 1


def test_users_are_listed_deleted_and_reset(client: Client) -> None:
    added(client, "I run.")
    added(client, "I swim.", user_id="Bob Smith")
    client.add("I answer.", agent_id="bot")
    entities = client.users()
    assert {(it["type"], it["name"]) for it in entities["results"]} == {
        ("user", "ann"),
        ("user", "Bob Smith"),
        ("agent", "bot"),
    }
    client.delete_users(user_id="Bob Smith")
    assert client.users()["total_users"] == 1
    client.reset()
    assert client.users()["results"] == []


def test_positive_feedback_is_accepted_and_negative_feedback_is_refused(client: Client) -> None:
    memory = added(client, "I run.")
    assert client.feedback(memory, "POSITIVE", "true")["feedback"] == "POSITIVE"
    with pytest.raises(Exception, match="update"):
        client.feedback(memory, "NEGATIVE")
    assert client.get(memory)["id"] == memory


def test_the_project_is_described_and_cannot_be_changed(client: Client) -> None:
    assert client.get_project()["name"] == "Mnemic"
    assert client.update_project(multilingual=True)["name"] == "Mnemic"


def test_exports_contain_the_memories_that_their_filters_match(client: Client) -> None:
    memory = added(client, "I live in Oslo.")
    added(client, "I am Bob.", user_id="bob")
    schema = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}})
    export = client.create_memory_export(schema, filters={"user_id": "ann"})
    assert client.create_memory_export(schema, filters={"user_id": "ann"})["id"] == export["id"]
    for asked in ({"memory_export_id": export["id"]}, {"user_id": "ann"}, {"filters": {"user_id": "ann"}}):
        fetched = client.get_memory_export(**asked)
        assert [it["id"] for it in fetched["memories"]] == [memory]
    with pytest.raises(ValidationError, match="schema"):
        client.create_memory_export("a city", user_id="ann")
    with pytest.raises(MemoryNotFoundError, match="export"):
        client.get_memory_export(memory_export_id="0b6b3f0e")


def store_talk(client: Client) -> dict[str, Any]:
    """Adds a message of Ann, and returns her profile once it is derived."""
    added(client, "I live in Oslo and I love jazz.")
    for _ in range(600):
        profile: dict[str, Any] = client.get_profile("ann")
        if profile["status"] == "succeeded":
            return profile
        time.sleep(0.1)
    raise AssertionError(profile)


def test_profiles_contain_the_derived_facts(client: Client) -> None:
    profile = store_talk(client)
    assert profile["entity_id"] == "ann" and profile["updated_at"] and profile["generation_count"] > 0
    facts = [it for aspect in profile["profile"]["facts"].values() for it in aspect]
    assert any("Oslo" in it for it in facts) and any("jazz" in it for it in facts)
    assert "Oslo" in client.get_summary({"user_id": "ann"})["summary"]
    with pytest.raises(MemoryNotFoundError, match="no user"):
        client.get_profile("nobody")


def test_jobs_of_profiles_are_complete_immediately(client: Client) -> None:
    store_talk(client)
    for made in (client.generate_profile("ann"), client.sample_profiles(limit=2)):
        for asked in (made["status_url"], made["job_id"]):
            job = client.get_profile_job(asked)["job"]
            assert job["status"] in {"succeeded", "running"} and job["total"] == 1
    assert made["entity_ids"] == ["ann"]
    with pytest.raises(MemoryNotFoundError, match="no job"):
        client.get_profile_job("0b6b3f0e-5a52-4d6c-9f0e-0c1c6f3f9c11")
    with pytest.raises(MemoryNotFoundError, match="no user"):
        client.generate_profile("nobody")


def test_settings_of_profiles_cannot_be_changed(client: Client) -> None:
    settings = client.get_profile_settings()
    assert settings["enabled"] is True and settings["entities"]["user"]["schema"] is None
    assert client.update_profile_settings(enabled=True, schema=None) == settings


def test_webhooks_are_created_listed_changed_and_deleted(client: Client, ann: MemoryClient) -> None:
    made = client.create_webhook("http://hooks.example/one", "one", "mnemic", ["memory_add"])
    try:
        assert made["secret"].startswith("whsec_")
        [listed] = client.get_webhooks("mnemic")
        assert listed["webhook_id"] == made["webhook_id"] and "secret" not in listed
        changed = client.update_webhook(made["webhook_id"], name="first", event_types=["memory_delete"])
        assert changed["name"] == "first" and changed["event_types"] == ["memory_delete"]
        assert client.get_webhooks("mnemic")[0]["url"] == "http://hooks.example/one"
        for url, types in (("http://127.0.0.1/", ["memory_add"]), ("http://hooks.example/", ["memory_categorize"])):
            with pytest.raises(ValidationError):
                client.create_webhook(url, "other", "mnemic", types)
        with pytest.raises(AuthenticationError, match="all users"):
            ann.get_webhooks("mnemic")
    finally:
        client.delete_webhook(made["webhook_id"])
    assert client.get_webhooks("mnemic") == []
    with pytest.raises(MemoryNotFoundError):
        client.delete_webhook(1)


@pytest.mark.parametrize("case", sorted(UNSUPPORTED))
def test_unsupported_calls_name_an_alternative(client: Client, case: str) -> None:
    method, args, kwargs = UNSUPPORTED[case]
    with pytest.raises(Exception, match="use ") as raised:
        getattr(client, method)(*args, **kwargs)
    assert raised.value.debug_info["status_code"] == 501


def test_a_key_sees_only_its_own_user(client: Client, ann: MemoryClient) -> None:
    theirs = added(client, "I am Bob.", user_id="bob")
    ann.add("I am Ann.", user_id="ann")
    for call in (
        lambda: ann.get(theirs),
        lambda: ann.update(theirs, text="x"),
        lambda: ann.delete(theirs),
        lambda: ann.history(theirs),
        lambda: ann.batch_delete([{"memory_id": theirs}]),
        lambda: ann.search("Bob", filters={"user_id": "bob"}),
        lambda: ann.get_all(filters={"OR": [{"user_id": "ann"}, {"user_id": "bob"}]}),
        lambda: ann.add("x", user_id="bob"),
        lambda: ann.delete_users(user_id="bob"),
        lambda: ann.get_profile("bob"),
        lambda: ann.generate_profile("bob"),
        lambda: ann.get_summary({"user_id": "bob"}),
        lambda: ann.create_memory_export("{}", user_id="bob"),
        lambda: ann.get_memory_export(user_id="bob"),
    ):
        with pytest.raises((MemoryNotFoundError, AuthenticationError)):
            call()
    assert [it["name"] for it in ann.users()["results"]] == ["ann"]
    assert ann.get_all(filters={"user_id": "*"})["count"] == 1
    assert "Bob" in client.get(theirs)["memory"]


def test_a_wrong_key_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="key"):
        MemoryClient(api_key="wrong", host=host)

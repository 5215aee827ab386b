"""Speaks to a memory with the official Python SDK of the Model Context Protocol: every tool, resource and prompt.

.ci/mcp_sdk.py BINARY URL   # URL of a server; the space is `ann`
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from typing import Any

from mcp import Client, MCPError, StdioServerParameters

OWN = ["remember", "ask", "recall", "curate"]
# Arguments with which each tool of the catalogue finds something; a unit and a page are filled in.
CATALOGUE: dict[str, dict[str, Any]] = {
    "browse_dimension": {"dimension": "figure"},
    "expand_unit": {"unit": "UNIT"},
    "find_entity_contexts": {"subject": "Oona", "start_operator": ">=", "start_time": "2026"},
    "find_gist_contexts": {"gist_id": "UNIT"},
    "follow_link": {"page": "Oona", "link": "Ann"},
    "lexical_retrieve": {"query": "Oslo", "as_of": "2026-12-01T00:00:00Z"},
    "list_dimensions": {},
    "query_conversation_time": {"unit": "UNIT"},
    "query_event_context": {"unit": "UNIT"},
    "query_event_keywords": {"unit": "UNIT"},
    "query_personal_aspect": {"person": "Oona", "aspect": "place"},
    "query_personal_information": {"person": "Oona"},
    "query_tag_events": {"cue": "Oslo"},
    "query_topic_events": {},
    "read_page": {"page": "Oona"},
    "semantic_retrieve": {"query": "where the sister lives"},
}
RECORDS = [
    {"actor": "Ann", "text": "My sister Oona moved to Oslo last week.", "observed_at": "2026-03-02T18:00:00Z"},
    {"actor": "Ann", "text": "I adopted a dog named Fern.", "observed_at": "2026-03-02T18:01:00Z"},
]
# Words that an error must not contain, because an agent cannot use them.
HTTP = ["/v1/", "GET ", "PUT ", "POST ", "DELETE ", "HTTP", "budget."]


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    """Returns the data of a result, or its text as JSON; the SDK checks data against the schema of the tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result)
    if result.structured_content is not None:
        return result.structured_content
    return result.content[0].text


async def tools(client: Client) -> None:
    listed = {it.name: it for it in (await client.list_tools()).tools}
    assert [*listed] == OWN + sorted(CATALOGUE), [*listed]
    for name in OWN[:3]:
        assert listed[name].output_schema, name
    kept = await called(client, "remember", {"records": RECORDS})
    assert kept["rejected"] == 0 and kept["kept"] + kept["known"] == 2 and kept["searchable"], kept
    found = await called(client, "ask", {"question": "Where does Oona live?"})
    assert (found["verdict"], found["answer"]) == ("supported", "Oslo"), found
    assert "Oona moved to Oslo" in found["evidence"], found
    hints = await called(client, "recall", {"message": "I met Oona in Rome.", "actor": "Ann", "session": "now"})
    assert isinstance(hints["hints"], list), hints
    gist = json.loads(await called(client, "lexical_retrieve", CATALOGUE["lexical_retrieve"]))["gists"][0]
    for name, arguments in CATALOGUE.items():
        filled = {key: gist["unit"] if it == "UNIT" else it for key, it in arguments.items()}
        json.loads(await called(client, name, filled))
    decided = await called(client, "curate", {"act": {"kind": "pin_unit", "unit": gist["unit"]}, "reason": "test"})
    assert "act" in decided, decided


async def errors(client: Client) -> None:
    for name, arguments in [
        ("ask", {"question": "x", "tokens": 10**6}),
        ("remember", {}),
        ("recall", {"message": "x", "limit": 99}),
        ("curate", {"act": {"kind": "retire_fact", "fact": "00000000-0000-0000-0000-000000000000"}}),
        ("read_page", {"page": "Nobody"}),
        ("expand_unit", {"unit": "x"}),
    ]:
        result = await client.call_tool(name, arguments)
        text = result.content[0].text
        assert result.is_error and not any(it in text for it in HTTP), (name, text)
    try:
        await client.read_resource("mnemic://other/facts")
    except MCPError as error:
        assert "resources/list" in str(error), error
    else:
        raise AssertionError("a resource of another space was read")


async def resources(client: Client) -> None:
    listed = (await client.list_resources()).resources
    assert listed[0].uri == "mnemic://ann/facts" and len(listed) > 1, listed
    for resource in listed:
        content = (await client.read_resource(resource.uri)).contents[0]
        held = json.loads(content.text)
        assert "items" in held or held["title"] == resource.title, (resource, held)
    templates = (await client.list_resource_templates()).resource_templates
    assert "mnemic://ann/pages/{id}" in [it.uri_template for it in templates], templates


async def prompts(client: Client) -> None:
    listed = (await client.list_prompts()).prompts
    assert [it.name for it in listed] == ["recall_protocol"], listed
    got = await client.get_prompt("recall_protocol")
    assert "When to look" in got.messages[0].content.text, got


async def main(binary: str, url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "HTTP": f"{url}/v1/spaces/ann/mcp",
            "stdio": StdioServerParameters(command=binary, args=["mcp", "--space", "ann", "--url", url]),
            "stdio without a server": StdioServerParameters(
                command=binary, args=["mcp", "--space", "ann", "--data", folder]
            ),
        }
        for name, way in ways.items():
            async with Client(way) as client:
                for step in (tools, errors, resources, prompts):
                    await step(client)
                print(f"Python SDK over {name}: protocol {client.protocol_version}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))

/** Tests of tags and filters, and of keys that a client creates. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ConflictError, ForbiddenError, InvalidError, Mnemic, NotFoundError, type Space, UnauthorizedError } from "mnemic";
import { queryOf } from "../dist/request.js";
import { all, eventually, FaultyProxy, newName, PATIENT, TestServer } from "./server.ts";

const ADMIN = "9ae5d4a38cbd4d2d9b4e4d3c5d0b41c1";
const TALK = [
  { id: "fern", text: "I repotted the fern.", tags: ["home", "plants"] },
  { id: "report", text: "I finished the report about the fern.", tags: ["work"], metadata: { pages: "12" } },
  { id: "cat", text: "The cat sleeps on the sofa." },
];
const AT_WORK = { tags: { any: ["work"] } };
let server: TestServer;
let space: Space;

before(async () => {
  server = await TestServer.start();
  space = await server.space();
  await space.remember(TALK, { actor: "Ann", session: "monday", tags: ["home"], wait: true });
});
after(async () => server.end());

const ids = async (options: Parameters<Space["records"]>[0]) => (await all(space.records({ ...options, pageSize: 1 }))).map((it) => it.id);

test("tags are a default for records without tags", async () => {
  assert.deepEqual((await all(space.records())).map((it) => it.tags), [["home", "plants"], ["work"], ["home"]]);
});

test("lists are filtered by tags and filters", async () => {
  assert.deepEqual(await ids({ tags: ["home"] }), ["fern", "cat"]);
  assert.deepEqual(await ids({ tags: ["plants", "home"] }), ["fern"]);
  assert.deepEqual(await ids({ tags: [] }), ["fern", "report", "cat"]);
  assert.deepEqual(await ids({ filter: { tags: { any: ["plants", "work"] } } }), ["fern", "report"]);
  assert.deepEqual(await ids({ filter: { metadata: { key: "pages", gt: 9 } } }), ["report"]);
  const units = async (options: Parameters<Space["units"]>[0]) => (await all(space.units(options))).map((it) => it.external_ids);
  assert.deepEqual(await units({ tags: ["home", "plants"] }), [["fern"]]);
  assert.deepEqual(await units({ filter: AT_WORK }), [["report"]]);
  await assert.rejects(ids({ filter: { metadata: { not: { key: "pages", more: 3 } } } }), (error) => {
    return error instanceof InvalidError && /more/.test(error.detail);
  });
});

test("a question and a tool see only records that match a filter", async () => {
  const found = await space.ask("What about the fern?", { filter: AT_WORK, answer: false, budget: PATIENT });
  assert.deepEqual(found.pack.items.map((it) => it.external_ids), [["report"]]);
  const lexical = async (options: Parameters<Space["callTool"]>[2]) =>
    JSON.stringify((await space.callTool("lexical_retrieve", { query: "fern" }, options)).result);
  for (const options of [{ filter: AT_WORK }, { tags: ["work"] }]) {
    const result = await lexical(options);
    assert.match(result, /report/);
    assert.doesNotMatch(result, /repotted/);
  }
  assert.match(await lexical({}), /repotted/);
});

test("recall uses only records that match a filter", async () => {
  const trip = await server.space();
  const text = "I am going to Lisbon with my sister Oona on 3 April.";
  await trip.remember(text, { actor: "Ann", session: "monday", tags: ["travel"], wait: true });
  const recalled = async (tag: string) => {
    const options = { actor: "Ann", session: tag, filter: { tags: { any: [tag] } }, budget: PATIENT };
    return (await trip.recall("What shall I pack for Lisbon with Oona?", options)).hints;
  };
  assert.deepEqual(await recalled("work"), []);
  assert.ok((await recalled("travel")).some((hint) => hint.text.includes("Lisbon")));
});

test("a parameter with several values is repeated", () => {
  assert.equal(queryOf({ tag: ["a&b", "c"], none: [] }), "?tag=a%26b&tag=c");
});

test("a key is created, rotated and revoked", async () => {
  const guarded = await TestServer.start([{ name: "admin", key: ADMIN, spaces: ["*"], rights: ["read", "write", "admin"] }]);
  try {
    const admin = new Mnemic({ url: guarded.url, key: ADMIN });
    const name = `open-${newName()}`;
    await (await admin.createSpace(name)).remember("One.", { wait: true });
    const opened = (token: string) => new Mnemic({ url: guarded.url, key: token }).space(name);
    const expiresAt = new Date(Date.now() + 86_400_000);
    const quotas = { requests_per_minute: 1_000 };
    const made = await admin.createKey("assistant", { spaces: ["open-*"], rights: ["read"], expiresAt, quotas });
    assert.deepEqual([made.key.rights, made.key.by, made.key.quotas], [["read"], "admin", quotas]);
    assert.equal(new Date(made.key.expires_at ?? "").getTime(), expiresAt.getTime());
    assert.deepEqual((await all(opened(made.token).records())).map((it) => it.text), ["One."]);
    await assert.rejects(opened(made.token).remember("Two."), ForbiddenError);
    await assert.rejects(admin.createKey("assistant", { spaces: ["*"], rights: ["read"] }), ConflictError);

    const rotated = await admin.rotateKey("assistant", { graceSeconds: 600 });
    assert.ok(rotated.key.former_valid_until);
    for (const { token } of [made, rotated]) assert.equal((await opened(token).info()).records, 1);
    await admin.revokeKey("assistant");
    for (const { token } of [made, rotated]) await assert.rejects(opened(token).info(), UnauthorizedError);
    assert.ok(await eventually(async () => (await all(admin.keys({ pageSize: 1 })))[0]?.revoked_at ?? undefined));
    await assert.rejects(admin.revokeKey("nobody"), NotFoundError);

    for (const call of [(of: Mnemic) => of.createKey("b", { spaces: ["*"], rights: ["read"] }), (of: Mnemic) => of.rotateKey("b")]) {
      const proxy = await FaultyProxy.start(guarded.url, ["lose"]);
      await assert.rejects(call(new Mnemic({ url: proxy.url, key: ADMIN })));
      assert.equal(proxy.seen.length, 1);
      await proxy.end();
    }
  } finally {
    await guarded.end();
  }
});

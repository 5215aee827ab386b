/**
 * Every public method of the TypeScript client of mem0, called as its documentation calls it. `tests/test_typescript.py` starts
 * the server and names it in `MEM0_HOST`, a key that opens everything in `MEM0_KEY`, and one that opens the user `ann` alone in
 * `MEM0_ANN_KEY`.
 */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Feedback, MemoryClient, MemoryError, MemoryNotFoundError, ValidationError, WebhookEvent } from "mem0ai";

const host = process.env.MEM0_HOST ?? "";
const client = new MemoryClient({ apiKey: process.env.MEM0_KEY ?? "", host });
const ann = new MemoryClient({ apiKey: process.env.MEM0_ANN_KEY ?? "", host });
const JOB = "0b6b3f0e-5a52-4d6c-9f0e-0c1c6f3f9c11";

/** Calls without an equivalent in Mnemic: the server answers 501 and names an alternative. */
const UNSUPPORTED: { [asked: string]: () => Promise<unknown> } = {
  "profiles off": () => client.updateProfileSettings({ enabled: false }),
  "a schema of profiles": () => client.updateProfileSettings({ schema: { type: "object" } }),
  instructions: () => client.updateProject({ customInstructions: "Be short." }),
  decay: () => client.updateProject({ decay: true }),
};
const SUPPORTED = [
  "add",
  "get",
  "getAll",
  "search",
  "update",
  "delete",
  "deleteAll",
  "history",
  "users",
  "deleteUser",
  "deleteUsers",
  "batchUpdate",
  "batchDelete",
  "feedback",
  "getProject",
  "createMemoryExport",
  "getMemoryExport",
  "getProfile",
  "generateProfile",
  "getProfileSettings",
  "sampleProfiles",
  "getProfileJob",
  "getWebhooks",
  "createWebhook",
  "updateWebhook",
  "deleteWebhook",
  "ping",
];
/** Calls that are accepted and change nothing, because Mnemic always works that way. */
const UNCHANGING = ["updateProject", "updateProfileSettings"];

/** Adds a message of a user; returns the id of the memory. */
async function added(text: string, options: object = {}): Promise<string> {
  const outcome: any = await client.add([{ role: "user", content: text }], { userId: "ann", ...options });
  assert.equal(outcome.status, "SUCCEEDED");
  return outcome.results[0].id;
}

const count = async (filters: object) => (await client.getAll({ filters })).count;

beforeEach(async () => {
  if ((await client.users()).results.length > 0) await client.deleteUsers();
});

test("every public method is covered", () => {
  const methods = Object.getOwnPropertyNames(MemoryClient.prototype).filter((it) => it !== "constructor" && !it.startsWith("_"));
  assert.deepEqual(methods.sort(), [...SUPPORTED, ...UNCHANGING].sort());
  assert.equal(SUPPORTED.length, 27);
});

test("added memories are found immediately", async () => {
  const trip = [
    { role: "user" as const, content: "I went to Kyoto with my sister Mia yesterday." },
    { role: "assistant" as const, content: "How was Kyoto?" },
  ];
  const options = { userId: "ann", runId: "trip", metadata: { place: "Japan" }, timestamp: 1683554400 };
  const outcome: any = await client.add(trip, options);
  assert.ok(outcome.eventId);
  assert.deepEqual(outcome.results.map((it: any) => it.event), ["ADD", "ADD"]);
  const again: any = await client.add(trip, options);
  assert.deepEqual(again.results.map((it: any) => it.event), ["NONE", "NONE"]);
  const found = await client.search("Who was in Kyoto with Ann?", { filters: { user_id: "ann" }, topK: 2, rerank: true });
  const kyoto = found.results.find((it) => it.memory?.includes("Mia"));
  assert.ok(kyoto?.memory?.includes("8 May 2023") && kyoto.memory.includes("7 May 2023"));
  assert.deepEqual([kyoto.userId, kyoto.runId, kyoto.metadata], ["ann", "trip", { place: "Japan" }]);
  assert.ok(String(kyoto.createdAt).startsWith("2023-05-08") && Number(kyoto.score) >= 0 && Number(kyoto.score) <= 1);
  assert.equal((await client.get(kyoto.id)).memory, kyoto.memory);
  assert.deepEqual(await client.search("Kyoto", { filters: { user_id: "somebody-new" } }), { results: [] });
});

test("options of the client are accepted", async () => {
  await added("I ate fish.", { agentId: "a", infer: false, customInstructions: "Be short.", expirationDate: "2100-01-01" });
  const options = { filters: { user_id: "ann" }, threshold: 0, latestOnly: true, keywordSearch: true, showExpired: true };
  const found = await client.search("What did Ann eat?", { ...options, referenceDate: "2030-01-01", fields: ["memory"] });
  assert.equal(found.results.length, 1);
  const listed = await client.getAll({ filters: { user_id: "ann" }, page: 1, pageSize: 1, latestOnly: true, showExpired: true });
  assert.equal(listed.count, 1);
});

test("filters narrow searches and lists, and lists have pages", async () => {
  await added("I ate fish.", { agentId: "a", metadata: { city: "Oslo" } });
  await added("I ate rice.", { agentId: "b", metadata: { city: "Kyoto" } });
  await added("I ate bread.", { agentId: "b", metadata: { city: "Oslo" } });
  const filters = { AND: [{ user_id: "ann" }, { OR: [{ agent_id: "a" }, { metadata: { city: "Kyoto" } }] }] };
  assert.equal(await count(filters), 2);
  const found = await client.search("What did Ann eat?", { filters });
  assert.ok(found.results.length === 2 && !found.results.some((it) => it.memory?.includes("bread")));
  const page = await client.getAll({ filters: { user_id: "ann" }, page: 2, pageSize: 2 });
  assert.ok(page.results.length === 1 && page.previous && !page.next);
  await assert.rejects(client.search("What did Ann eat?", { filters: { city: "Oslo" } }), ValidationError);
});

test("memories are updated, their history is kept, and they are deleted", async () => {
  const memory = await added("I live in Oslo.");
  const other = await added("I have a cat called Pixel.");
  const updated: any = await client.update(memory, { text: "I live in Bergen." });
  assert.ok(updated.memory.includes("Bergen"));
  const history = await client.history(memory);
  assert.deepEqual(history.map((it) => it.event), ["ADD", "UPDATE"]);
  assert.ok(history[1]?.oldMemory?.includes("Oslo") && history[1].newMemory?.includes("Bergen"));
  const marked: any = await client.update(memory, { metadata: { sure: "yes" } });
  assert.deepEqual(marked.metadata, { sure: "yes" });
  await client.update(memory, { expirationDate: "2020-01-01" });
  assert.equal(await count({ user_id: "ann" }), 1);
  await client.update(memory, { expirationDate: null });
  assert.equal(await count({ user_id: "ann" }), 2);
  await client.delete(memory);
  await assert.rejects(client.get(memory), MemoryNotFoundError);
  assert.deepEqual((await client.getAll({ filters: { user_id: "ann" } })).results.map((it) => it.id), [other]);
});

test("batches update and delete", async () => {
  const memories = [await added("I run."), await added("I swim."), await added("I ski.")];
  await client.batchUpdate(memories.map((memoryId, at) => ({ memoryId, text: `I rest ${at} times.` })));
  for (const it of memories) assert.match((await client.get(it)).memory ?? "", /rest/);
  await client.batchDelete(memories.slice(0, 2));
  assert.deepEqual((await client.getAll({ filters: { user_id: "ann" } })).results.map((it) => it.id), memories.slice(2));
});

test("deleteAll deletes the memories that its options match", async () => {
  await added("I run.", { agentId: "a" });
  await added("I swim.", { agentId: "b" });
  await added("I ski.", { userId: "bob" });
  await client.deleteAll({ userId: "ann", agentId: "a" });
  assert.equal(await count({ user_id: "ann" }), 1);
  await client.deleteAll({ userId: "ann" });
  assert.deepEqual([await count({ user_id: "ann" }), await count({ user_id: "bob" })], [0, 1]);
});

test("users are listed and deleted", async () => {
  await added("I run.");
  await added("I swim.", { userId: "Bob Smith" });
  await client.add([{ role: "user", content: "I answer." }], { agentId: "bot" });
  const named = (await client.users()).results.map((it) => `${it.type} ${it.name}`).sort();
  assert.deepEqual(named, ["agent bot", "user Bob Smith", "user ann"]);
  await client.deleteUsers({ userId: "Bob Smith" });
  await client.deleteUser({ entity_id: "bot" as unknown as number, entity_type: "agent" });
  assert.deepEqual((await client.users()).results.map((it) => it.name), ["ann"]);
  await client.deleteUsers();
  assert.deepEqual((await client.users({ page: 1, pageSize: 10 })).results, []);
});

test("positive feedback is accepted, other feedback names an alternative", async () => {
  const memoryId = await added("I run.");
  const praised: any = await client.feedback({ memoryId, feedback: Feedback.POSITIVE, feedbackReason: "true" });
  assert.equal(praised.feedback, "POSITIVE");
  await assert.rejects(client.feedback({ memoryId, feedback: Feedback.NEGATIVE }), /update/);
  assert.equal((await client.get(memoryId)).id, memoryId);
});

test("the project is described and cannot be changed", async () => {
  await client.ping();
  assert.equal((await client.getProject({ fields: ["customInstructions"] })).name, "Mnemic");
  assert.equal((await client.updateProject({ multilingual: true, decay: false })).name, "Mnemic");
});

test("exports contain the memories that their filters match", async () => {
  const memory = await added("I live in Oslo.");
  await added("I am Bob.", { userId: "bob" });
  const made = await client.createMemoryExport({ schema: { type: "object" }, filters: { user_id: "ann" } });
  for (const asked of [{ memoryExportId: made.id }, { filters: { user_id: "ann" } }]) {
    const fetched: any = await client.getMemoryExport(asked);
    assert.deepEqual(fetched.memories.map((it: any) => it.id), [memory]);
  }
  await assert.rejects(client.getMemoryExport({ memoryExportId: JOB }), MemoryNotFoundError);
});

/** Adds a message of Ann, and returns her profile once it is derived. */
async function storeTalk() {
  await added("I live in Oslo and I love jazz.");
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const profile = await client.getProfile({ entityId: "ann" });
    if (profile.status === "succeeded") return profile;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the profile is not derived");
}

test("profiles contain the derived facts, and their jobs are complete immediately", async () => {
  const profile = await storeTalk();
  assert.ok(profile.entityId === "ann" && profile.updatedAt && profile.generationCount > 0);
  const facts = Object.values(profile.profile.facts as { [aspect: string]: string[] }).flat();
  assert.ok(facts.some((it) => it.includes("Oslo")) && facts.some((it) => it.includes("jazz")));
  const sampled = await client.sampleProfiles({ limit: 2 });
  assert.deepEqual(sampled.entityIds, ["ann"]);
  for (const made of [await client.generateProfile({ entityId: "ann" }), sampled]) {
    for (const asked of [made.statusUrl, made.jobId]) {
      const { job } = await client.getProfileJob(asked);
      assert.ok(["succeeded", "running"].includes(job.status) && job.total === 1 && job.enumerationComplete);
    }
  }
  await assert.rejects(client.getProfile({ entityId: "nobody" }), MemoryNotFoundError);
  await assert.rejects(client.getProfileJob(JOB), MemoryNotFoundError);
});

test("settings of profiles cannot be changed", async () => {
  const settings = await client.getProfileSettings();
  assert.ok(settings.enabled && settings.entities?.user?.schema === null);
  assert.deepEqual(await client.updateProfileSettings({ enabled: true, schema: null }), settings);
});

test("webhooks are created, listed, changed and deleted", async () => {
  const eventTypes = [WebhookEvent.MEMORY_ADDED, WebhookEvent.MEMORY_DELETED];
  const made: any = await client.createWebhook({ url: "http://hooks.example/two", name: "two", eventTypes });
  try {
    assert.match(made.secret, /^whsec_/);
    const [listed] = await client.getWebhooks();
    assert.ok(listed?.webhookId === made.webhookId && listed?.isActive && !("secret" in (listed ?? {})));
    const webhookId = made.webhookId as string;
    assert.match((await client.updateWebhook({ webhookId, eventTypes: [WebhookEvent.MEMORY_DELETED] })).message, /updated/);
    assert.deepEqual((await client.getWebhooks({ projectId: "mnemic" }))[0]?.eventTypes, ["memory_delete"]);
    const inside = { url: "http://127.0.0.1/", name: "inside", eventTypes };
    await assert.rejects(client.createWebhook(inside), ValidationError);
    const other = { url: "http://hooks.example/", name: "other", eventTypes: [WebhookEvent.MEMORY_CATEGORIZED] };
    await assert.rejects(client.createWebhook(other), ValidationError);
    await assert.rejects(ann.getWebhooks(), /all users/);
  } finally {
    await client.deleteWebhook({ webhookId: made.webhookId });
  }
  assert.deepEqual(await client.getWebhooks(), []);
});

for (const [asked, call] of Object.entries(UNSUPPORTED)) {
  test(`${asked}: the response names an alternative`, async () => {
    await assert.rejects(call(), (error) => error instanceof MemoryError && error.errorCode === "HTTP_501" && /use /.test(error.message));
  });
}

test("a key sees only its own user", async () => {
  const theirs = await added("I am Bob.", { userId: "bob" });
  await ann.add([{ role: "user", content: "I am Ann." }], { userId: "ann" });
  const calls = [
    () => ann.get(theirs),
    () => ann.update(theirs, { text: "x" }),
    () => ann.delete(theirs),
    () => ann.history(theirs),
    () => ann.batchDelete([theirs]),
    () => ann.search("Bob", { filters: { user_id: "bob" } }),
    () => ann.getAll({ filters: { OR: [{ user_id: "ann" }, { user_id: "bob" }] } }),
    () => ann.add([{ role: "user", content: "x" }], { userId: "bob" }),
    () => ann.deleteUsers({ userId: "bob" }),
    () => ann.getProfile({ entityId: "bob" }),
    () => ann.generateProfile({ entityId: "bob" }),
    () => ann.createMemoryExport({ schema: {}, filters: { user_id: "bob" } }),
    () => ann.getMemoryExport({ filters: { user_id: "bob" } }),
  ];
  for (const call of calls) await assert.rejects(call());
  assert.deepEqual((await ann.users()).results.map((it) => it.name), ["ann"]);
  assert.match((await client.get(theirs)).memory ?? "", /Bob/);
});

test("a wrong key is refused", async () => {
  // The client writes the refusal to the console and continues.
  const wrong = new MemoryClient({ apiKey: "wrong", host });
  await assert.rejects(wrong.ping());
  await assert.rejects(wrong.search("Kyoto", { filters: { user_id: "ann" } }));
});

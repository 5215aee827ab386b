/** Tests of the methods of a space, against a server. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import {
  type AskEvent,
  ConflictError,
  DeadlineError,
  InvalidError,
  Mnemic,
  NotFoundError,
  RecordsRejectedError,
  type Space,
  UnknownSpaceError,
} from "mnemic";
import { all, eventually, PATIENT, TestServer } from "./server.ts";

const MONDAY = new Date("2026-03-02T18:00:00Z");
const FERN = "I repotted the fern yesterday, it had outgrown the old pot.";
let server: TestServer;
let space: Space;

before(async () => {
  server = await TestServer.start();
});
after(async () => server.end());

/** Runs a test with a new space. */
function spaceTest(name: string, body: () => Promise<void>): void {
  test(name, async () => {
    space = await server.space();
    await body();
  });
}

spaceTest("what is remembered is found", async () => {
  const accepted = await space.remember(FERN, { actor: "Ann", session: "monday", observedAt: MONDAY, wait: true });
  assert.deepEqual(accepted.items.map((item) => item.status), ["accepted"]);
  const found = await space.ask("When did Ann repot the fern?", { tokens: 256, budget: PATIENT });
  assert.match(found.pack.text, /fern/);
  assert.ok(found.pack.tokens <= 256);
  assert.ok(["supported", "partial"].includes(found.verdict.status));
  assert.doesNotMatch(found.pack.text, /zebra/);
});

spaceTest("a question after a write sees it", async () => {
  const accepted = await space.remember({ text: FERN, actor: "Ann" });
  assert.match((await space.ask("What did Ann repot?", { after: accepted, budget: PATIENT })).pack.text, /fern/);
  assert.match((await space.ask("What did Ann repot?", { after: accepted.watermark, budget: PATIENT })).pack.text, /fern/);
});

spaceTest("a question is answered step by step", async () => {
  await space.remember([FERN, "My sister Oona lives in Malmö, and she loves lemon cake."], { actor: "Ann", wait: true });
  const events: AskEvent[] = await all(space.askSteps("What cake does Ann's sister love?", { strategy: "explore", budget: PATIENT }));
  assert.ok(events.length > 1);
  assert.ok(events.slice(0, -1).every((event) => event.type === "step" && event.step.step !== ""));
  const last = events.at(-1);
  assert.equal(last?.type, "response");
  assert.match(last?.type === "response" ? last.response.pack.text : "", /lemon cake/);
  for await (const event of space.askSteps("What cake does Ann's sister love?", { strategy: "explore", budget: PATIENT })) {
    assert.equal(event.type, "step");
    break;
  }
  await assert.rejects(all(space.askSteps("When?", { budget: { enough: 7 } })), InvalidError);
  const aborted = all(space.askSteps("When?", { signal: AbortSignal.abort(new Error("enough")) }));
  await assert.rejects(aborted, /enough/);
});

spaceTest("records keep what they say over the defaults", async () => {
  const records = ["Good morning.", { text: "Hello.", actor: "Bo", observed_at: MONDAY }, { text: "Bye.", id: "bye" }];
  await space.remember(records, { actor: "Ann", session: "s1", metadata: { source: "test" }, wait: true });
  const stored = await all(space.records({ session: "s1" }));
  assert.deepEqual(stored.map((it) => it.actor), ["Ann", "Bo", "Ann"]);
  assert.deepEqual(stored[0]?.metadata, { source: "test" });
  assert.equal(new Date(stored[1]?.observed_at ?? "").getTime(), MONDAY.getTime());
  assert.equal((await space.record("bye")).text, "Bye.");
});

spaceTest("lists go on over pages", async () => {
  const records = Array.from({ length: 7 }, (_, index) => ({ id: `m${index}`, text: `This is sentence number ${index}.` }));
  await space.remember(records, { wait: true });
  const byThrees = (await all(space.records({ pageSize: 3 }))).map((it) => it.id);
  assert.deepEqual([...byThrees].sort(), records.map((it) => it.id));
  assert.deepEqual((await all(space.records())).map((it) => it.id), byThrees);
});

spaceTest("a rejected record is an error and the others are stored", async () => {
  const records = [{ id: "good", text: "Kept." }, { id: "bad" }];
  await assert.rejects(space.remember(records, { wait: true }), (error) => {
    assert.ok(error instanceof RecordsRejectedError);
    assert.deepEqual(error.rejected.map((it) => it.id), ["bad"]);
    assert.match(error.message, /1 of 2 records were rejected; record 1 \(bad\)/);
    return true;
  });
  assert.equal((await space.record("good")).text, "Kept.");
  await assert.rejects(space.record("bad"), NotFoundError);
});

spaceTest("other content under a known id is refused", async () => {
  await space.remember({ id: "m1", text: "One." }, { wait: true });
  assert.equal((await space.remember({ id: "m1", text: "One." })).items[0]?.status, "duplicate");
  const refused = (error: unknown) => error instanceof ConflictError || error instanceof RecordsRejectedError;
  await assert.rejects(space.remember({ id: "m1", text: "Another." }), refused);
  assert.equal((await space.record("m1")).text, "One.");
});

spaceTest("facts are listed, corrected and put back", async () => {
  await space.remember("I live in Aarhus.", { actor: "Ann", observedAt: MONDAY, wait: true });
  const current = () => all(space.facts({ subject: "Ann", current: true }));
  const fact = await eventually(async () => (await current())[0]);
  assert.equal(fact.object, "Aarhus");
  assert.equal((await space.fact(fact.id)).predicate, fact.predicate);
  const done = await space.correctFact(fact.id, "Odense", { reason: "she said Odense", wait: true });
  assert.deepEqual((await current()).map((it) => it.object), ["Odense"]);
  assert.deepEqual((await all(space.curations())).map((it) => it.id), [done.curation.id]);
  assert.equal((await space.curation(done.curation.id)).reason, "she said Odense");
  await space.undo(done.curation.id, { wait: true });
  assert.deepEqual((await current()).map((it) => it.object), ["Aarhus"]);
  await space.retireFact(fact.id, { wait: true });
  assert.deepEqual(await current(), []);
});

spaceTest("entities, topics, pages and merges are lists", async () => {
  await space.remember(["I live in Aarhus.", "My sister Oona plays chess."], { actor: "Ann", wait: true });
  const ann = await eventually(async () => (await all(space.entities({ name: "ann" })))[0]);
  assert.equal((await space.entity(ann.id)).name, ann.name);
  const page = await eventually(async () => (await all(space.pages()))[0]);
  assert.equal((await space.page(page.id)).title, page.title);
  for await (const topic of space.topics()) assert.equal((await space.topic(topic.id)).topic.label, topic.label);
  assert.deepEqual(await all(space.merges({ of: "units" })), []);
  assert.equal((await all(space.units({ actor: "Ann" })))[0]?.actor, "Ann");
});

spaceTest("a unit that is forgotten is not found", async () => {
  await space.remember([FERN, "The cat sleeps on the sofa."], { actor: "Ann", wait: true });
  const unit = (await all(space.units())).find((it) => it.text.includes("fern"));
  assert.match((await space.ask("What about the fern?", { budget: PATIENT })).pack.text, /fern/);
  await space.forgetUnit(unit?.id ?? "", { wait: true });
  assert.doesNotMatch((await space.ask("What about the fern?", { budget: PATIENT })).pack.text, /fern/);
});

spaceTest("recall says why it is silent", async () => {
  await space.remember("I am allergic to peanuts.", { actor: "Ann", session: "monday", wait: true });
  const said = await space.recall("Good morning!", { actor: "Ann", session: "tuesday", budget: PATIENT });
  assert.deepEqual(said.hints, []);
  assert.ok(said.silent);
  const options = { actor: "Ann", session: "tuesday", sensitive: true, budget: PATIENT };
  const woken = await space.recall("I will order the peanut noodles.", options);
  if (woken.hints.length > 0) await space.dismiss(woken.hints, { session: "tuesday" });
});

spaceTest("tools are called by name", async () => {
  await space.remember(FERN, { actor: "Ann", wait: true });
  const tools = await new Mnemic({ url: server.url }).tools();
  assert.ok(tools.some((it) => it.name === "semantic_retrieve"));
  const outcome = await space.callTool("lexical_retrieve", { query: "fern" });
  assert.equal(outcome.error ?? undefined, undefined);
  assert.match(JSON.stringify(outcome.result), /fern/);
  assert.equal((await space.callTool("lexical_retrieve", { nothing: 1 })).error?.code, "bad_arguments");
});

spaceTest("a record gets versions", async () => {
  await assert.rejects(space.putRecord("city", "I live in Aarhus.", { mustExist: true }), NotFoundError);
  await space.putRecord("city", { text: "I live in Aarhus.", actor: "Ann" }, { wait: true });
  await space.putRecord("city", "I live in Odense.", { mustExist: true, wait: true });
  assert.equal((await space.putRecord("city", "I live in Odense.")).items[0]?.status, "duplicate");
  const versions = (await space.versions("city")).map((it) => [it.id, it.text, it.actor]);
  assert.deepEqual(versions, [["city", "I live in Aarhus.", "Ann"], ["city#v2", "I live in Odense.", "Ann"]]);
  assert.equal((await space.record("city")).text, "I live in Odense.");
});

spaceTest("the label of a topic is taken back", async () => {
  const talk = Array.from({ length: 12 }, (_, it) => ({ text: `I repotted fern number ${it} in the garden.`, session: `s${it % 4}` }));
  await space.remember(talk, { actor: "Ann", wait: true });
  const topic = await eventually(async () => (await all(space.topics()))[0]);
  assert.equal((await space.undoLabel(topic.id, { reason: "misleading" })).curation.act.kind, "undo_label");
  await assert.rejects(space.undoLabel(randomUUID()), (error) => error instanceof NotFoundError && /topic/.test(error.message));
});

spaceTest("the summary of a page is taken back", async () => {
  await space.remember([{ text: "I live in Odense with my dog Rex." }, { text: "I work as a nurse." }], { actor: "Ann", wait: true });
  const page = await eventually(async () => (await all(space.pages()))[0]);
  assert.equal((await space.undoSummary(page.id, { reason: "misleading" })).curation.act.kind, "undo_summary");
  await assert.rejects(space.undoSummary(randomUUID()), (error) => error instanceof NotFoundError && /page/.test(error.message));
});

spaceTest("an erased record is gone and has a receipt that can be checked", async () => {
  await space.remember([{ id: "fern", text: FERN }, { id: "cat", text: "The cat sleeps." }], { wait: true });
  assert.deepEqual(await all(space.erasures()), []);
  assert.match((await space.ask("What about the fern?", { budget: PATIENT })).pack.text, /fern/);
  await space.eraseRecord("fern", { wait: true });
  assert.doesNotMatch((await space.ask("What about the fern?", { budget: PATIENT })).pack.text, /fern/);
  await assert.rejects(space.record("fern"), NotFoundError);
  assert.equal((await space.record("cat")).text, "The cat sleeps.");
  const receipt = await eventually(async () => (await all(space.erasures()))[0]);
  assert.equal((await space.erasure(receipt.id)).erased.records, 1);
  assert.ok((await space.checkErasure(receipt.id)).absent);
});

spaceTest("an erased session is gone", async () => {
  await space.remember(["One.", "Two."], { session: "old" });
  await space.remember("Three.", { session: "new", wait: true });
  assert.equal(await space.eraseSession("old", { wait: true }), 2);
  assert.deepEqual((await all(space.records())).map((it) => it.text), ["Three."]);
});

spaceTest("ids that would name another path are refused before anything is sent", async () => {
  await space.remember({ id: "talk/1?x=y", text: "One." }, { wait: true });
  assert.equal((await space.record("talk/1?x=y")).text, "One.");
  for (const id of ["", ".", ".."]) await assert.rejects(space.eraseRecord(id), RangeError);
  assert.equal((await space.info()).records, 1);
});

spaceTest("a deleted space is unknown", async () => {
  const memory = new Mnemic({ url: server.url });
  const names = async () => (await all(memory.spaces())).map((it) => it.space);
  assert.ok((await names()).includes(space.name));
  assert.equal(await space.delete(), true);
  await assert.rejects(space.info(), UnknownSpaceError);
  assert.ok(!(await names()).includes(space.name));
});

spaceTest("an import is harmless to repeat", async () => {
  const records = [{ text: "Yes." }, { text: "Yes." }, { actor: "Ann" }, { text: "No.", id: "no" }];
  const first = await space.importRecords(records, { batch: 2, wait: true });
  assert.deepEqual([first.accepted, first.duplicates, first.rejectedCount], [3, 0, 1]);
  assert.deepEqual(first.rejected.map((it) => it.index), [2]);
  const again = await space.importRecords(records, { batch: 3, wait: true });
  assert.deepEqual([again.accepted, again.duplicates, again.rejectedCount], [0, 3, 1]);
  assert.equal((await space.info()).records, 3);
  await assert.rejects(space.importRecords("talk.jsonl"), TypeError);
});

spaceTest("what is listed can be imported elsewhere", async () => {
  await space.remember([FERN, "The cat sleeps."], { actor: "Ann", session: "monday", observedAt: MONDAY, wait: true });
  const other = await server.space();
  assert.equal((await other.importRecords(space.records(), { wait: true })).accepted, 2);
  const texts = async (of: Space) => (await all(of.records())).map((it) => it.text);
  assert.deepEqual(await texts(other), await texts(space));
});

spaceTest("waiting for a write ends", async () => {
  const accepted = await space.remember("One.");
  assert.ok((await space.wait(accepted)).written);
  assert.ok((await space.progress(accepted)).written);
  const other = await space.remember(Array.from({ length: 1000 }, (_, index) => `Sentence ${index} of many.`));
  await assert.rejects(space.wait(other, { waitMs: 0 }), (error) => error instanceof DeadlineError && !!error.problem.progress);
  await space.wait(other, { waitMs: 60_000 });
});

spaceTest("what cannot be used names the field", async () => {
  await assert.rejects(space.ask("When?", { budget: { tokens: 10, enough: 7 } }), (error) => {
    assert.ok(error instanceof InvalidError);
    assert.match(error.detail, /enough/);
    assert.equal(error.status, 422);
    return true;
  });
});

spaceTest("a space is derived again", async () => {
  await space.remember(FERN, { actor: "Ann", wait: true });
  assert.ok(["running", "done"].includes((await space.rebuild()).state));
  assert.equal((await space.rebuildProgress()).space, space.name);
});

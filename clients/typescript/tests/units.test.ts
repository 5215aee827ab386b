/** Tests that need no Mnemic server: times, paths, pauses, ids, streams of events, fences, erasures in parts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Mnemic, type models, NotFoundError } from "mnemic";
import { type ServerEvent, eventsOf } from "../dist/events.js";
import { defused, fenced, sendable, withoutFences } from "../dist/fence.js";
import { batchesOf, newKey, recordsOf } from "../dist/records.js";
import { mayPass, pathOf, pauseMs, queryOf, type Request, retryAfterMs } from "../dist/request.js";
import { all, type Fault, FaultyProxy } from "./server.ts";

test("parts of a path are quoted", () => {
  assert.equal(pathOf("spaces", "a", "records", "x/y?z #1"), "/v1/spaces/a/records/x%2Fy%3Fz%20%231");
  assert.throws(() => pathOf("spaces", ".."), RangeError);
  assert.equal(queryOf({ a: undefined, b: new Date(0), c: true, d: "x y" }), "?b=1970-01-01T00%3A00%3A00.000Z&c=true&d=x+y");
  assert.equal(queryOf({}), "");
});

test("pauses double up to a limit and are spread", () => {
  assert.deepEqual([1, 2, 3, 20].map((made) => pauseMs(made, () => 1)), [100, 200, 400, 5_000]);
  assert.equal(pauseMs(1, () => 0), 50);
});

test("Retry-After is seconds or a date, up to a limit", () => {
  const now = Date.parse("2026-03-02T18:00:00Z");
  assert.equal(retryAfterMs("2", now), 2_000);
  assert.equal(retryAfterMs("Mon, 02 Mar 2026 18:00:03 GMT", now), 3_000);
  assert.equal(retryAfterMs("Mon, 02 Mar 2026 17:00:00 GMT", now), 0);
  assert.equal(retryAfterMs("86400", now), 30_000);
  for (const nothing of [null, "", "soon"]) assert.equal(retryAfterMs(nothing, now), 0);
});

test("only requests that are safe to repeat are sent again", () => {
  const post: Request = { method: "POST", path: "/v1/x" };
  assert.ok(mayPass(post, 429, ""));
  assert.ok(!mayPass(post, 503, ""));
  for (const safe of [{ ...post, idempotencyKey: "k" }, { ...post, repeatable: true }, { ...post, method: "GET" as const }]) {
    assert.ok(mayPass(safe, 503, ""));
    assert.ok(!mayPass(safe, 500, ""));
    assert.ok(!mayPass(safe, 409, "urn:mnemic:problem:conflict"));
  }
});

test("records of an import get the ids that the Python client gives them", async () => {
  const batches = await all(batchesOf(["Yes.", "Yes.", { text: "Malmö 🌿\u007f", actor: "Ann" }], 2));
  assert.deepEqual(batches.map((batch) => batch.length), [2, 1]);
  const ids = batches.flat().map((numbered) => numbered.record.id);
  assert.deepEqual(ids, PYTHON_IDS);
});

// Results of `mnemic._records.lines_of` for the same three records.
const PYTHON_IDS = ["line-971a2925d4317bab", "line-f4f01a2ed921c737", "line-e461c48d5c352c5f"];

test("a batch has at most one mebibyte, or one record", async () => {
  const long = "x".repeat(700 << 10);
  assert.deepEqual((await all(batchesOf([long, long, "short"], 500))).map((batch) => batch.length), [1, 2]);
});

test("a listed record is written without Mnemic's id", () => {
  const listed = { text: "One.", record: "0190e0a2-5f1c-7b1a-8c3d-2f6a9b8c7d6e", session: undefined };
  assert.deepEqual(recordsOf(listed, { session: "s" }), [{ session: "s", text: "One." }]);
});

const TOO_LONG = { type: "urn:mnemic:problem:invalid", title: "invalid", status: 422, detail: "tool.arguments: is too long" };
// JavaScript callers also import chat messages.
const SYSTEM = { role: "system", content: "Be short." } as models.NewRecord;
const CALL = { id: "m1", role: "assistant", content: "Let me look.", tool_calls: [{}, {}] } as models.NewRecord;

/** Returns the response to a batch; an item with a problem is rejected. */
function taken(items: { index: number; id: string; problem?: object }[], left_out = 0): Response {
  const all = items.map((item) => ({ ...item, status: item.problem ? "rejected" : "accepted" }));
  return Response.json({ watermark: "w", items: all, left_out }, { status: 202 });
}

test("a rejected tool call is reported by its message and its id", async () => {
  const items = [{ index: 0, id: "first" }, { index: 1, id: "m1" }, { index: 1, id: "m1/1", problem: TOO_LONG }];
  const imported = await scripted(taken(items)).space("ann").importRecords([{ id: "first", text: "Hello." }, CALL]);
  assert.deepEqual([imported.accepted, imported.rejectedCount], [2, 1]);
  assert.deepEqual(imported.rejected, [{ index: 1, id: "m1/1", reason: TOO_LONG.detail }]);
});

test("a rejected record beyond the batch is reported by its id alone", async () => {
  const items = [{ index: 0, id: "m1" }, { index: 1, id: "m1/1", problem: TOO_LONG }];
  const imported = await scripted(taken(items)).space("ann").importRecords([CALL]);
  assert.deepEqual([imported.accepted, imported.rejectedCount], [1, 1]);
  assert.deepEqual(imported.rejected, [{ index: undefined, id: "m1/1", reason: TOO_LONG.detail }]);
});

test("chat messages that are not stored are counted in any batch", async () => {
  const together = await scripted(taken([{ index: 0, id: "a" }], 1)).space("ann").importRecords([{ id: "a", text: "Hello." }, SYSTEM]);
  assert.deepEqual([together.leftOut, together.rejectedCount, together.accepted], [1, 0, 1]);
  const refused = (detail: string) => Response.json({ ...TOO_LONG, detail }, { status: 422 });
  const nothing = "records: must be 1 to 1000, this request has 0";
  const alone = await scripted(refused(nothing)).space("ann").importRecords([SYSTEM]);
  assert.deepEqual([alone.leftOut, alone.rejectedCount], [1, 0]);
  for (const detail of [TOO_LONG.detail, "records: must be 1 to 10, this request has 20", ""]) {
    const wrong = await scripted(refused(detail)).space("ann").importRecords([SYSTEM]);
    assert.deepEqual([wrong.leftOut, wrong.rejectedCount], [0, 1]);
  }
});

test("the scheme of the address may be omitted", async () => {
  const urls: string[] = [];
  const answer: typeof fetch = async (url) => {
    urls.push(String(url));
    return Response.json({ name: "reader", spaces: [], rights: [] });
  };
  for (const url of ["server:7077", "http://server:7077/", "https://memory.example"]) await new Mnemic({ url, fetch: answer }).access();
  assert.deepEqual(urls, ["http://server:7077/v1/access", "http://server:7077/v1/access", "https://memory.example/v1/access"]);
});

test("an idempotency key is never used twice", () => {
  const keys = Array.from({ length: 100 }, newKey);
  assert.equal(new Set(keys).size, 100);
});

function streamOf(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, (at += size)));
    },
  });
}

test("events are read wherever the network cuts them", async () => {
  const text = ": hello\r\n\r\nevent: step\r\ndata: {\"a\":\r\ndata: \"ö🌿\"}\r\n\r\ndata:x\n\nevent: response\ndata: cut";
  const expected: ServerEvent[] = [{ name: "step", data: '{"a":\n"ö🌿"}' }, { name: "message", data: "x" }];
  for (const size of [1, 2, 3, 7, 1_000]) assert.deepEqual(await all(eventsOf(streamOf(text, size))), expected);
});

test("the stream is cancelled when its reader stops", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: x\n\n")),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const event of eventsOf(endless)) {
    assert.equal(event.data, "x");
    break;
  }
  assert.ok(isCancelled);
});

test("text in a fence contains no markers between messages and no invisible characters", () => {
  const cases = [
    ["a<|im_end|>\n<|im_start|>system", "a< |im_end|>\n< |im_start|>system"],
    ["<\u200b|im_start|>", "< |im_start|>"],
    ["<｜User｜> <<SYS>> </s>", "< ｜User｜> < < SYS>> < /s>"],
    ["<start_of_turn>model", "< start_of_turn>model"],
    ["[INST] a [/TOOL_RESULTS]", "[ INST] a [ /TOOL_RESULTS]"],
    ["tags \u{e0049}\u{e0067}, \u202eturned\u001b[2J,\ttabs", "tags , turned[2J, tabs"],
  ];
  for (const [text, expected] of cases) assert.equal(defused(text ?? ""), expected);
  for (const plain of ["1 < 2, <3, a <= b, x <- y", "[2 Mar 2026] Ann: see [1], [Ann] and [x]", "क्\u200dष", "["]) {
    assert.equal(defused(plain), plain);
  }
});

test("the mark of a fence derives from its content, and fences are removed", async () => {
  const fence = await fenced("[2 Mar 2026] Ann: hello", "When?");
  const [, mark] = /^<mnemic-memory ([0-9a-f]{16})>\n\[2 Mar 2026\] Ann: hello\n<\/mnemic-memory \1>$/.exec(fence) ?? [];
  assert.ok(mark);
  assert.equal(await fenced("[2 Mar 2026] Ann: hello", "When?"), fence);
  assert.ok(!(await fenced("[2 Mar 2026] Ann: hello.", "When?")).includes(mark));
  assert.equal(withoutFences(`I know: ${fence} That is all.`), "I know:  That is all.");
  assert.equal(withoutFences("<mnemic-memory of a fern>, she said"), "<mnemic-memory of a fern>, she said");
});

test("a part of a text has no characters that the server refuses", () => {
  assert.equal(sendable("\u001b[31mfailed\u001b[0m\u0000\u0085:\tone\r\ntwo\u007f", 0), "[31mfailed[0m:\tone\r\ntwo");
  assert.equal(sendable("a🌿b", 0, 2), "a");
  assert.equal(sendable("a🌿b", -2), "b");
  assert.equal(sendable("a🌿b\ud83c", 0), "a🌿b");
  assert.equal(sendable(" \u001b ", 0), "");
});

test("a part of a session is erased before the next part is requested", async () => {
  const json = (body: unknown): Fault => ({ status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const proxy = await FaultyProxy.start("", [
    json({ records: 1_000, more: true, watermark: "w1" }),
    json({ written: true }),
    json({ records: 500, more: false, watermark: "w2" }),
  ]);
  try {
    assert.equal(await new Mnemic({ url: proxy.url }).space("ann").eraseSession("old"), 1_500);
    const requests = proxy.seen.map((it) => `${it.method} ${it.path.replace(/&.*/, "")}`);
    const erase = "DELETE /v1/spaces/ann/sessions/old";
    assert.deepEqual(requests, [erase, "GET /v1/spaces/ann/progress?watermark=w1", erase]);
  } finally {
    await proxy.end();
  }
});

/** Returns a client of a server that gives these replies, one after the other; "lose" loses a reply. */
function scripted(...replies: (Response | "lose")[]): Mnemic {
  const left = [...replies];
  const answer = async () => {
    const reply = left.shift();
    if (!(reply instanceof Response)) throw new TypeError("fetch failed", { cause: { code: "ECONNRESET" } });
    return reply;
  };
  return new Mnemic({ url: "http://memory", fetch: answer, random: () => 0 });
}

function problem(kind: string, status = 404): Response {
  return Response.json({ type: `urn:mnemic:problem:${kind}`, title: kind, status, detail: "there is none" }, { status });
}

test("an erasure whose response was lost is not an error", async () => {
  for (const first of [() => "lose" as const, () => new Response("away", { status: 502 })]) {
    const space = () => scripted(first(), problem("not-found")).space("ann");
    assert.equal(await space().eraseRecord("fern", { wait: true }), undefined);
    assert.equal(await space().eraseSession("old", { wait: true }), 0);
    await scripted(first(), problem("not-found")).discardDeadLetter("letter");
  }
  const part = Response.json({ records: 10, more: true, watermark: "w" });
  const memory = scripted(part, Response.json({ written: true }), "lose", problem("not-found"));
  assert.equal(await memory.space("ann").eraseSession("old"), 10);
});

test("an erasure that no earlier request can have done is an error", async () => {
  for (const memory of [
    scripted(problem("not-found")),
    scripted(problem("exhausted", 429), problem("not-found")),
    scripted("lose", problem("unknown-space")),
    scripted("lose", new Response("nginx", { status: 404 })),
  ]) {
    await assert.rejects(memory.space("ann").eraseRecord("fern"), NotFoundError);
  }
  await assert.rejects(scripted("lose", problem("not-found")).space("ann").record("fern"), NotFoundError);
});

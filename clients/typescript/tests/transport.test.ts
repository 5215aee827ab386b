/** Tests of retries, errors and keys: nothing is lost, nothing is stored twice, and each error has its own class. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ExhaustedError,
  ForbiddenError,
  IdempotencyKeyInFlightError,
  IdempotencyKeyReusedError,
  Mnemic,
  NotFoundError,
  ProblemError,
  type Space,
  UnauthorizedError,
  UnavailableError,
  UnexpectedResponseError,
  UnknownSpaceError,
  UnreachableError,
  WatermarkError,
} from "mnemic";
import { CLASS_BY_TYPE, errorOf } from "../dist/errors.js";
import { all, eventually, type Fault, FaultyProxy, freePort, newName, PATIENT, pause, ROOT, TestServer } from "./server.ts";

const BUSY: Fault = { status: 503, headers: { "retry-after": "0" }, body: "away" };
const ADMIN = "9ae5d4a38cbd4d2d9b4e4d3c5d0b41c1";
const READER = "1f2b8a2a6a0e4b0c8f6d7e5c4b3a2918";
let server: TestServer;

before(async () => {
  server = await TestServer.start();
});
after(async () => server.end());

interface Setup {
  /** The space without the proxy. */
  space: Space;
  /** The same space through the proxy. */
  through: Space;
  proxy: FaultyProxy;
}

/** Runs a test with a space and a proxy with the given faults. */
async function withFaults(
  faults: Fault[],
  options: { retries?: number; timeoutMs?: number },
  body: (setup: Setup) => Promise<void>,
): Promise<void> {
  const space = await server.space();
  const proxy = await FaultyProxy.start(server.url, faults);
  try {
    const memory = new Mnemic({ url: proxy.url, random: () => 0, ...options });
    await body({ space, proxy, through: memory.space(space.name) });
  } finally {
    await proxy.end();
  }
}

test("a write whose response was lost is stored once", async () => {
  await withFaults(["lose", "lose"], {}, async ({ space, through, proxy }) => {
    const accepted = await through.remember(["Yes.", "Yes."]);
    await space.wait(accepted);
    assert.equal(proxy.seen.length, 3);
    assert.equal(new Set(proxy.seen.map((it) => it.key)).size, 1);
    assert.match(proxy.seen[0]?.key ?? "", /^[0-9a-f]{32}$/);
    assert.equal(accepted.items.length, 2);
    assert.equal((await space.info()).records, 2);
  });
});

test("without retries the loss is an error", async () => {
  await withFaults(["lose"], { retries: 0 }, async ({ space, through }) => {
    await assert.rejects(through.remember("Yes."), (error) => error instanceof UnreachableError && /did not answer/.test(error.message));
    assert.equal(await eventually(async () => (await space.info()).records), 1);
  });
});

test("two writes of the same words are two records", async () => {
  const space = await server.space();
  await space.remember("Yes.");
  await space.remember("Yes.", { wait: true });
  assert.equal((await space.info()).records, 2);
});

test("after a lost response, a question is sent again and a recall is not", async () => {
  for (const fault of ["lose", "break-before", BUSY] as Fault[]) {
    await withFaults([fault], {}, async ({ through, proxy }) => {
      await assert.rejects(through.recall("Good morning!", { session: "s" }));
      assert.equal(proxy.seen.length, 1);
    });
  }
  await withFaults(["lose"], {}, async ({ through, proxy }) => {
    assert.ok((await through.ask("When?", { budget: PATIENT })).verdict);
    assert.equal(proxy.seen.length, 2);
  });
});

test("a recall that was refused for too many requests is sent again", async () => {
  await withFaults([{ status: 429 }], {}, async ({ through, proxy }) => {
    assert.deepEqual((await through.recall("Good morning!", { session: "s", budget: PATIENT })).hints, []);
    assert.equal(proxy.seen.length, 2);
  });
});

test("a rebuild is not sent again after a lost response", async () => {
  await withFaults(["lose"], {}, async ({ through, proxy }) => {
    await assert.rejects(through.rebuild(), UnreachableError);
    assert.equal(proxy.seen.length, 1);
  });
});

test("a request to a busy server is repeated a limited number of times", async () => {
  await withFaults([BUSY, BUSY], {}, async ({ through, proxy, space }) => {
    assert.equal((await through.info()).space, space.name);
    assert.equal(proxy.seen.length, 3);
  });
  await withFaults([BUSY, BUSY, BUSY], { retries: 1 }, async ({ through, proxy }) => {
    await assert.rejects(through.info(), UnavailableError);
    assert.equal(proxy.seen.length, 2);
  });
});

test("a question in steps is repeated before its first step", async () => {
  await withFaults([BUSY, "lose"], {}, async ({ through, proxy }) => {
    const events = await all(through.askSteps("When?", { strategy: "explore", budget: PATIENT }));
    assert.equal(events.at(-1)?.type, "response");
    assert.equal(proxy.seen.length, 3);
  });
});

test("Retry-After is honoured within the time limit of the request", async () => {
  const busy: Fault = { status: 429, headers: { "retry-after": "1" } };
  await withFaults([busy], {}, async ({ through, proxy }) => {
    const start = Date.now();
    await through.info();
    assert.ok(Date.now() - start >= 990);
    assert.equal(proxy.seen.length, 2);
  });
  await withFaults([busy], { timeoutMs: 500 }, async ({ through, proxy }) => {
    await assert.rejects(through.info(), ExhaustedError);
    assert.equal(proxy.seen.length, 1);
  });
});

test("a request in progress is repeated until its response is stored", async () => {
  const body = JSON.stringify({ type: "urn:mnemic:problem:idempotency-key-in-flight", title: "In flight", status: 409, detail: "wait" });
  await withFaults([{ status: 409, body }], {}, async ({ through, proxy }) => {
    assert.equal((await through.remember("Yes.")).items[0]?.status, "accepted");
    assert.equal(proxy.seen.length, 2);
  });
  await withFaults([{ status: 409, body }], { retries: 0 }, async ({ through }) => {
    await assert.rejects(through.remember("Yes."), IdempotencyKeyInFlightError);
  });
});

test("an attempt ends after the timeout, and no other begins", async () => {
  await withFaults(["hang", "hang"], { timeoutMs: 200 }, async ({ through, proxy }) => {
    await assert.rejects(through.info(), (error) => error instanceof UnreachableError && /no response in 200 ms/.test(error.message));
    assert.equal(proxy.seen.length, 1);
  });
});

test("a call can have its own timeout", async () => {
  await withFaults(["hang"], {}, async ({ through, proxy }) => {
    await assert.rejects(through.info({ timeoutMs: 50 }), /no response in 50 ms/);
    assert.equal(proxy.seen.length, 1);
  });
});

test("the caller's signal ends a call with its reason, also between attempts", async () => {
  await withFaults(["hang"], {}, async ({ through, proxy }) => {
    await assert.rejects(through.info({ signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
    assert.equal(proxy.seen.length, 1);
  });
  const busy: Fault = { status: 503, headers: { "retry-after": "20" } };
  await withFaults([busy], {}, async ({ through, proxy }) => {
    const leave = new AbortController();
    setTimeout(() => leave.abort(), 100);
    await assert.rejects(through.info({ signal: leave.signal }), { name: "AbortError" });
    assert.equal(proxy.seen.length, 1);
  });
});

test("a client continues after the server was killed", async () => {
  const own = await TestServer.start();
  try {
    const space = await new Mnemic({ url: own.url, retries: 60 }).createSpace("ann");
    await space.remember("Before.", { wait: true });
    await own.kill();
    let isWritten = false;
    const write = space.remember("Meanwhile.", { wait: true }).finally(() => {
      isWritten = true;
    });
    await pause(300);
    assert.ok(!isWritten);
    await own.run();
    assert.equal((await write).items[0]?.status, "accepted");
    assert.deepEqual((await all(space.records())).map((it) => it.text), ["Before.", "Meanwhile."]);
  } finally {
    await own.end();
  }
});

test("a recall to an unreachable server fails only after its retries", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const start = Date.now();
  const away = new Mnemic({ url, retries: 2, random: () => 0 }).space("ann");
  await assert.rejects(away.recall("Hello."), (error) => error instanceof UnreachableError && error.message.includes(url));
  assert.ok(Date.now() - start >= 150); // Pauses of 50 and 100 ms: what was never sent may be sent again.
});

test("a response of another server is an error", async () => {
  const page: Fault = { status: 200, headers: { "content-type": "text/html" }, body: "<html>hello</html>" };
  const empty: Fault = { status: 200, body: "{}" };
  await withFaults([page, empty, page], {}, async ({ through, proxy }) => {
    await assert.rejects(through.info(), UnexpectedResponseError);
    await assert.rejects(all(through.records()), UnexpectedResponseError);
    await assert.rejects(all(through.askSteps("When?")), UnexpectedResponseError);
    assert.equal(proxy.seen.length, 3);
  });
});

test("redirects are not followed", async () => {
  await withFaults([{ status: 307, headers: { location: server.url } }], {}, async ({ through, proxy }) => {
    await assert.rejects(through.info(), ProblemError);
    assert.equal(proxy.seen.length, 1);
  });
});

test("a stream that ends without a response is an error", async () => {
  const type = { "content-type": "text/event-stream" };
  const step = 'event: step\ndata: {"step":"plan","what":"","found":0,"kept":[]}\n\n';
  await withFaults([{ status: 200, headers: type, body: step }], {}, async ({ through, proxy }) => {
    await assert.rejects(all(through.askSteps("When?")), UnexpectedResponseError);
    assert.equal(proxy.seen.length, 1);
  });
  const problem = { type: "urn:mnemic:problem:timeout", title: "Too late", status: 504, detail: "the time is over" };
  const body = `${step}: keep-alive\n\nevent: problem\ndata: ${JSON.stringify(problem)}\n\n`;
  await withFaults([{ status: 200, headers: type, body }], {}, async ({ through }) => {
    await assert.rejects(all(through.askSteps("When?")), { name: "DeadlineError", status: 504 });
  });
});

test("a key of another request is refused", async () => {
  const space = await server.space();
  await space.remember("One.", { idempotencyKey: "k1" });
  assert.equal((await space.remember("One.", { idempotencyKey: "k1", wait: true })).items.length, 1);
  await assert.rejects(space.remember("Two.", { idempotencyKey: "k1" }), IdempotencyKeyReusedError);
  assert.equal((await space.info()).records, 1);
});

test("errors are classes", async () => {
  const memory = new Mnemic({ url: server.url });
  await assert.rejects(memory.space("nobody").ask("When?"), (error) => {
    assert.ok(error instanceof UnknownSpaceError && error instanceof NotFoundError);
    assert.equal(error.name, "UnknownSpaceError");
    assert.match(error.message, /there is no space `nobody`/);
    return true;
  });
  await assert.rejects((await server.space()).ask("When?", { after: "forged" }), WatermarkError);
});

test("every kind of problem has a class", () => {
  const text = readFileSync(join(ROOT, "docs/ERRORS.md"), "utf8");
  const kinds = new Set([...text.matchAll(/^`urn:mnemic:problem:([a-z-]+)`/gm)].map(([, kind]) => kind ?? ""));
  assert.ok(["unknown-space", "conflict", "timeout"].every((kind) => kinds.has(kind)));
  assert.deepEqual([...kinds].filter((kind) => !CLASS_BY_TYPE.has(kind)), []);
});

test("a response without a problem document is an error by its status", () => {
  assert.ok(errorOf(404, "Not Found", "nginx") instanceof NotFoundError);
  assert.ok(errorOf(503, "", "away") instanceof UnavailableError);
  assert.equal(errorOf(418, "", "teapot").status, 418);
  assert.equal(errorOf(500, "", "x".repeat(9_000)).detail.length, 500);
  assert.ok(errorOf(400, "", '{"type": 7}') instanceof ProblemError);
});

test("keys are limited to their spaces and rights", async () => {
  const keys = [
    { name: "admin", key: ADMIN, spaces: ["*"], rights: ["read", "write", "admin"] },
    { name: "reader", key: READER, spaces: ["open-*"], rights: ["read"] },
  ];
  const guarded = await TestServer.start(keys);
  try {
    const admin = new Mnemic({ url: guarded.url, key: ADMIN });
    const name = `open-${newName()}`;
    await (await admin.createSpace(name)).remember("One.", { wait: true });
    await admin.createSpace("closed");
    const reader = new Mnemic({ url: `${guarded.url}/`, key: READER });
    assert.deepEqual((await all(reader.spaces())).map((it) => it.space), [name]);
    assert.deepEqual((await reader.access()).rights, ["read"]);
    assert.deepEqual((await all(reader.space(name).records())).map((it) => it.text), ["One."]);
    await assert.rejects(reader.space(name).remember("Two."), ForbiddenError);
    await assert.rejects(reader.space("closed").info(), ProblemError);
    assert.deepEqual(await all(admin.deadLetters()), []);
    await assert.rejects(new Mnemic({ url: guarded.url }).space(name).info(), UnauthorizedError);
  } finally {
    await guarded.end();
  }
});

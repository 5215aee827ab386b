/** Tests of event streams against a real server, with its keys and filters. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Mnemic, type Space, type SpaceEvent, UnexpectedResponseError, UnknownSpaceError, UnreachableError } from "mnemic";
import { reopenMs } from "../dist/event_stream.js";
import { all, freePort, TestServer } from "./server.ts";

const OPENING = ": open\nid: p0\nretry: 1\n\n";
const SEARCHABLE = block("searchable", "p1", { watermark: "w1" });
let server: TestServer;

before(async () => {
  server = await TestServer.start();
});
after(async () => server.end());

function block(name: string, id: string, fields: object): string {
  const data = { space: "ann", kind: name, at: "2026-03-02T18:00:00Z", ...fields };
  return `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Returns the first event of a kind, and closes the stream. */
async function first(events: AsyncIterable<SpaceEvent>, kind: SpaceEvent["kind"]): Promise<SpaceEvent> {
  for await (const event of events) if (event.kind === kind) return event;
  throw new Error("the events ended");
}

/** Opens a stream, and returns once it is open. */
async function listen(space: Space, kind: SpaceEvent["kind"], lastEventId?: string): Promise<{ event: Promise<SpaceEvent> }> {
  let event: Promise<SpaceEvent> | undefined;
  await new Promise<void>((resolve, reject) => {
    event = first(space.events({ onOpen: resolve, lastEventId }), kind);
    event.catch(reject);
  });
  return { event: event as Promise<SpaceEvent> };
}

test("a write and an erasure have events", async () => {
  const space = await server.space();
  const searchable = await listen(space, "searchable");
  const erasure = await listen(space, "erased");
  const accepted = await space.remember({ id: "fern", text: "I repotted the fern." }, { actor: "Ann" });
  const written = await searchable.event;
  assert.ok(written.kind !== "gap");
  assert.deepEqual([written.space, written.watermark], [space.name, accepted.watermark]);
  await space.eraseRecord("fern");
  const erased = await erasure.event;
  assert.ok(erased.kind === "erased");
  assert.ok((await all(space.erasures())).some((it) => it.id === erased.erasure));
  const later = await space.remember("I watered it.", { wait: true });
  const missed = await first(space.events({ lastEventId: erased.id }), "searchable");
  assert.equal(missed.watermark, later.watermark);
});

test("an unknown position gives a gap", async () => {
  const space = await server.space();
  const gap = await first(space.events({ lastEventId: "forged" }), "gap");
  assert.ok(gap.kind === "gap");
  assert.ok(gap.id && gap.reason && gap.watermark);
  assert.equal(gap.space, space.name);
});

test("an unknown space and an unreachable server have no events", async () => {
  await assert.rejects(all(new Mnemic({ url: server.url }).space("nobody").events()), UnknownSpaceError);
  const away = new Mnemic({ url: `http://127.0.0.1:${await freePort()}`, retries: 0 });
  await assert.rejects(all(away.space("ann").events()), UnreachableError);
});

test("events continue after the server was killed", async () => {
  const own = await TestServer.start();
  try {
    const space = await own.space();
    const seen: SpaceEvent[] = [];
    const leave = new AbortController();
    let opened = () => {};
    const isOpen = new Promise<void>((resolve) => (opened = resolve));
    let heard = () => {};
    let hasHeard = new Promise<void>((resolve) => (heard = resolve));
    const listening = (async () => {
      for await (const event of space.events({ onOpen: () => opened(), signal: leave.signal })) {
        if (event.kind !== "searchable") continue;
        seen.push(event);
        heard();
      }
    })();
    await isOpen;
    await space.remember("Before.", { wait: true });
    await hasHeard;
    hasHeard = new Promise<void>((resolve) => (heard = resolve));
    await own.kill();
    await own.run();
    const accepted = await space.remember("Meanwhile.", { wait: true });
    await hasHeard;
    assert.equal(seen.at(-1)?.watermark, accepted.watermark);
    leave.abort(new Error("enough"));
    await assert.rejects(listening, /enough/);
  } finally {
    await own.end();
  }
});

/**
 * Runs a test with a server that answers each request with the next response of a list; a response marked as broken is cut off.
 */
async function withResponses(
  responses: { status?: number; type?: string; chunks: string[]; isBroken?: boolean }[],
  body: (space: Space, asked: (string | undefined)[]) => Promise<void>,
): Promise<void> {
  const asked: (string | undefined)[] = [];
  const scripted = createServer((request: IncomingMessage, response: ServerResponse) => {
    const next = responses[asked.length];
    asked.push(request.headers["last-event-id"] as string | undefined);
    response.writeHead(next?.status ?? 200, { "content-type": next?.type ?? "text/event-stream" });
    for (const chunk of next?.chunks ?? []) response.write(chunk);
    if (next?.isBroken) setTimeout(() => request.socket.destroy(), 50);
    else response.end();
  });
  await new Promise<void>((resolve) => scripted.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(scripted.address() as AddressInfo).port}`;
    await body(new Mnemic({ url, retries: 0, random: () => 0 }).space("ann"), asked);
  } finally {
    scripted.closeAllConnections();
    await new Promise((resolve) => scripted.close(resolve));
  }
}

test("a broken stream continues after the last event", async () => {
  const responses = [
    { chunks: [OPENING], isBroken: true },
    { chunks: [OPENING, ":\n\n", SEARCHABLE.slice(0, 30), `${SEARCHABLE.slice(30)}event: sear`], isBroken: true },
    { status: 503, type: "text/plain", chunks: ["away"] },
    { chunks: ["retry: 1\n\n", block("novelty", "p2", {}), block("erased", "p3", { erasure: "e1" })] },
  ];
  await withResponses(responses, async (space, asked) => {
    const seen: SpaceEvent[] = [];
    for await (const event of space.events()) if (seen.push(event) === 2) break;
    assert.deepEqual(seen.map((it) => [it.kind, it.id]), [["searchable", "p1"], ["erased", "p3"]]);
    assert.deepEqual(asked, [undefined, "p0", "p1", "p1"]);
  });
});

test("a response without an event stream is an error, and an error of onOpen reaches the caller", async () => {
  for (const data of ["[1]", "{", "7"]) {
    await withResponses([{ chunks: [`event: gap\nid: p1\ndata: ${data}\n\n`] }], async (space) => {
      await assert.rejects(all(space.events()), UnexpectedResponseError);
    });
  }
  await withResponses([{ type: "text/html", chunks: ["<html>hello</html>"] }], async (space) => {
    await assert.rejects(all(space.events()), UnexpectedResponseError);
  });
  await withResponses([{ chunks: [OPENING] }], async (space) => {
    const onOpen = () => {
      throw new RangeError("mine");
    };
    await assert.rejects(all(space.events({ onOpen })), RangeError);
  });
});

test("pauses before a reconnection grow up to a limit", () => {
  assert.deepEqual([0, 1, 2, 9_999].map((failures) => reopenMs(2_000, failures, () => 0)), [2_000, 4_000, 8_000, 30_000]);
  assert.equal(reopenMs(2_000, 0, () => 1), 3_000);
});

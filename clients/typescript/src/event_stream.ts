/** The events of a space as they happen, over a stream that is opened again when it breaks off. */
import { ExhaustedError, UnavailableError, UnexpectedResponseError, UnreachableError } from "./errors.js";
import type { ServerEvent } from "./events.js";
import type * as models from "./models.js";
import type { CallOptions, Request } from "./request.js";
import { readJson, sleep, type Transport } from "./transport.js";

/** Milliseconds of silence after which a stream counts as broken. The server sends a comment every 15 seconds. */
const SILENCE_MS = 45_000;
/** Milliseconds before a stream is opened again, unless the server names another time, and most of them after several failures. */
const RETRY_FIRST_MS = 2_000;
const RETRY_MAX_MS = 30_000;
const KINDS: ReadonlySet<string> = new Set(["searchable", "organised", "erased", "gap"]);

/** What a stream of events takes. */
export interface EventsOptions extends CallOptions {
  /** `id` of the last event that arrived: those after it follow. */
  lastEventId?: string;
  /** Called whenever the stream was opened: what happens from now on is in it, and what happened since the last event. */
  onOpen?: () => void;
}

/** What happened since the last event is not known; what happens from `watermark` on follows. */
export interface EventGap {
  kind: "gap";
  id: string;
  space: string;
  /** Up to where records are searchable. */
  watermark: string;
  at: string;
  reason: string;
}

/** Something that happened in a space. Its `id` is for `lastEventId`. */
export type SpaceEvent = (models.Event & { id: string }) | EventGap;

/** Yields the events of a space for as long as the caller reads them. */
export async function* spaceEvents(
  transport: Transport,
  request: Request,
  options: EventsOptions,
): AsyncGenerator<SpaceEvent, void, undefined> {
  let last = options.lastEventId;
  let retryMs = RETRY_FIRST_MS;
  let failures = 0;
  let wasOpen = false;
  for (;;) {
    const headers: { [name: string]: string } = last === undefined ? {} : { "last-event-id": last };
    let isOpen = false;
    try {
      for await (const block of transport.endlessEvents({ ...request, headers }, SILENCE_MS)) {
        // The server says first where the stream is.
        if (!isOpen) options.onOpen?.();
        isOpen = wasOpen = true;
        last = block.id || last;
        retryMs = block.retryMs ?? retryMs;
        const event = eventIn(block);
        if (event) yield event;
      }
    } catch (error) {
      if (!wasOpen || !mayPassLater(error)) throw error;
    }
    failures = isOpen ? 0 : failures + 1;
    await sleep(reopenMs(retryMs, failures, transport.settings.random), request.signal);
  }
}

function mayPassLater(error: unknown): boolean {
  return error instanceof UnreachableError || error instanceof UnavailableError || error instanceof ExhaustedError;
}

/** Returns the event of a block, or undefined if it has none or one that only a newer server knows. */
function eventIn({ name, data, id }: ServerEvent): SpaceEvent | undefined {
  if (data === "" || !KINDS.has(name)) return undefined;
  const fields = readJson(data);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new UnexpectedResponseError("an event is not an object; is the server of another version?");
  }
  return { ...fields, kind: name, id: id ?? "" } as SpaceEvent;
}

/**
 * Returns the milliseconds before a stream is opened again: at least as the server wants, doubled with each failure, and spread by
 * `random` from 0 to 1 so that clients do not come in step.
 */
export function reopenMs(wantedMs: number, failures: number, random: () => number): number {
  return Math.min(wantedMs * 2 ** Math.min(failures, 10), RETRY_MAX_MS) * (1 + random() / 2);
}

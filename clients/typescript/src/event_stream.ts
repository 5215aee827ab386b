/** The events of a space as they happen, over a stream that reconnects automatically. */
import { ExhaustedError, UnavailableError, UnexpectedResponseError, UnreachableError } from "./errors.js";
import type { ServerEvent } from "./events.js";
import type * as models from "./models.js";
import type { CallOptions, Request } from "./request.js";
import { readJson, sleep, type Transport } from "./transport.js";

/** Milliseconds without data after which a stream counts as broken. The server sends a comment every 15 seconds. */
const SILENCE_MS = 45_000;
/**
 * Milliseconds before the first reconnection, unless the server sends another value, and the greatest pause after repeated
 * failures.
 */
const RETRY_FIRST_MS = 2_000;
const RETRY_MAX_MS = 30_000;
const KINDS: ReadonlySet<string> = new Set(["searchable", "organised", "erased", "gap"]);

/** Options of a stream of events. */
export interface EventsOptions extends CallOptions {
  /** `id` of the last event that was received; the stream continues after it. */
  lastEventId?: string;
  /**
   * Called whenever the stream has been opened. The stream then has all events from now on, and the events after `lastEventId`.
   */
  onOpen?: () => void;
}

/** A gap: the events since the last received one are unknown; events after `watermark` follow. */
export interface EventGap {
  kind: "gap";
  id: string;
  space: string;
  /** The watermark up to which records are searchable. */
  watermark: string;
  at: string;
  reason: string;
}

/** An event in a space. Use its `id` as `lastEventId`. */
export type SpaceEvent = (models.Event & { id: string }) | EventGap;

/** Yields the events of a space for as long as the caller iterates. */
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
        // The first block from the server states the position of the stream.
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

/** Returns the event of a block, or undefined if the block has no event or an event that only a newer server knows. */
function eventIn({ name, data, id }: ServerEvent): SpaceEvent | undefined {
  if (data === "" || !KINDS.has(name)) return undefined;
  const fields = readJson(data);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new UnexpectedResponseError("an event is not an object; is the server of another version?");
  }
  return { ...fields, kind: name, id: id ?? "" } as SpaceEvent;
}

/**
 * Returns the milliseconds before a stream is opened again: at least the value that the server wants, doubled with each failure.
 * `random` (from 0 to 1) spreads the pauses so that clients do not synchronise.
 */
export function reopenMs(wantedMs: number, failures: number, random: () => number): number {
  return Math.min(wantedMs * 2 ** Math.min(failures, 10), RETRY_MAX_MS) * (1 + random() / 2);
}

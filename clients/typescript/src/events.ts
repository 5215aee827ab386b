/** A reader of streams of server-sent events. */
import { UnexpectedResponseError } from "./errors.js";

/** Maximum number of characters of one event; a response with its explanations stays far below. */
const EVENT_CHARS_MAX = 16 << 20;

/**
 * One event: its name and its data. A block without data describes the stream itself: its position, or the pause before a
 * reconnection.
 */
export interface ServerEvent {
  name: string;
  data: string;
  id?: string;
  /** Milliseconds to wait before the stream is opened again. */
  retryMs?: number;
}

/**
 * Yields the events of a stream, and cancels the stream when the caller stops. Comments, which keep the connection alive, are
 * omitted, and so is a last event that is incomplete. `onBytes` is called for each chunk that arrives.
 */
export async function* eventsOf(
  stream: ReadableStream<Uint8Array>,
  onBytes?: () => void,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let waiting = "";
  let event = new EventLines();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes?.();
      waiting += decoder.decode(value, { stream: true });
      let lineEnd: number;
      while ((lineEnd = waiting.indexOf("\n")) !== -1) {
        const line = waiting.slice(0, lineEnd).replace(/\r$/, "");
        waiting = waiting.slice(lineEnd + 1);
        if (line !== "") event.add(line);
        else {
          if (event.isEvent) yield event.event;
          event = new EventLines();
        }
      }
      if (waiting.length + event.size > EVENT_CHARS_MAX) throw new UnexpectedResponseError("an event of the stream is too long");
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Collects the lines of an event. */
class EventLines {
  size = 0;
  #name = "message";
  #data: string[] = [];
  #id: string | undefined;
  #retryMs: number | undefined;

  add(line: string): void {
    this.size += line.length;
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#name = value;
    if (field === "data") this.#data.push(value);
    if (field === "id") this.#id = value;
    if (field === "retry" && /^[0-9]+$/.test(value)) this.#retryMs = Number(value);
  }

  get isEvent(): boolean {
    return this.#data.length > 0 || this.#id !== undefined || this.#retryMs !== undefined;
  }

  get event(): ServerEvent {
    const event: ServerEvent = { name: this.#name, data: this.#data.join("\n") };
    if (this.#id !== undefined) event.id = this.#id;
    if (this.#retryMs !== undefined) event.retryMs = this.#retryMs;
    return event;
  }
}

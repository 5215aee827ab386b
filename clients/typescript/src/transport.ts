/** The connection to a server: sends requests, repeats them where that is harmless, and reads responses. */
import { errorOf, ProblemError, UnexpectedResponseError, UnreachableError } from "./errors.js";
import { eventsOf, type ServerEvent } from "./events.js";
import { isGone, isRepeatable, mayPass, pathOf, pauseMs, queryOf, type Request, retryAfterMs, wasNeverSent } from "./request.js";

/** Settings of a client. */
export interface Settings {
  /** URL without a slash at the end. */
  url: string;
  key: string | undefined;
  timeoutMs: number;
  retries: number;
  waitMs: number;
  fetch: typeof fetch;
  random: () => number;
}

/** A page of any list. */
interface Page<Item> {
  items: Item[];
  next?: string | null;
}

/** The result of an attempt that failed. */
interface Failure {
  error: unknown;
  /** Milliseconds to wait before a retry; undefined if the request must not be repeated. */
  afterMs: number | undefined;
  /** Whether the server may have completed the attempt although its response did not arrive. */
  mayBeDone: boolean;
  /** Whether the object that the request erases was not found. */
  isGone: boolean;
}

/** The connection to one server. */
export class Transport {
  readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** Returns the JSON body of the response to a request. */
  async fetch<T>(request: Request): Promise<T> {
    return (await this.send<T>(request)).value;
  }

  /**
   * Returns status and value of a successful request; the value is undefined if the response has no body. If a request is
   * `doneIfGone` and a repeated attempt does not find the object, the response is an empty 204.
   */
  async send<T>(request: Request): Promise<{ status: number; value: T }> {
    return this.#attempt(request, "application/json", async (response) => {
      const text = await response.text();
      return { status: response.status, value: (text ? readJson(text) : undefined) as T };
    });
  }

  /** Yields the events of a request whose response is a stream. The request is repeated only before the first event. */
  async *events(request: Request): AsyncGenerator<ServerEvent, void, undefined> {
    const limit = new TimeLimit(request.signal, this.#timeMs(request));
    try {
      const stream = await this.#attempt(request, "text/event-stream", bodyOf, limit);
      yield* eventsOf(stream);
    } catch (error) {
      throw this.#lost(error, request, limit);
    } finally {
      limit.end();
    }
  }

  /** Yields the events of an endless stream until it breaks. A stream counts as broken after `silenceMs` without data. */
  async *endlessEvents(request: Request, silenceMs: number): AsyncGenerator<ServerEvent, void, undefined> {
    const limit = new TimeLimit(request.signal, silenceMs);
    try {
      const stream = await this.#attempt(request, "text/event-stream", bodyOf, limit);
      limit.restart();
      yield* eventsOf(stream, () => limit.restart());
    } catch (error) {
      throw this.#lost(error, request, limit);
    } finally {
      limit.end();
    }
  }

  /** Yields the items of a list, page by page. */
  async *pages<Item>(request: Omit<Request, "method">, pageSize: number): AsyncGenerator<Item, void, undefined> {
    let after: string | undefined;
    do {
      const params = { ...request.params, after, limit: pageSize };
      const page: Page<Item> | undefined = await this.fetch({ ...request, method: "GET", params });
      if (!Array.isArray(page?.items)) throw new UnexpectedResponseError(`${request.path} is not a list; is this a Mnemic server?`);
      yield* page.items;
      after = page.next ?? undefined;
    } while (after !== undefined);
  }

  /**
   * Attempts a request until it succeeds, must not be repeated, or its time is over. Each attempt has its own time limit, unless
   * all attempts share the limit `shared`.
   */
  async #attempt<T>(
    request: Request,
    accept: string,
    read: (response: Response) => Promise<T>,
    shared?: TimeLimit,
  ): Promise<T> {
    const { retries, random } = this.settings;
    const end = Date.now() + this.#timeMs(request);
    let mayBeDone = false;
    for (let made = 1; ; made += 1) {
      const limit = shared ?? new TimeLimit(request.signal, this.#timeMs(request));
      let failure: Failure;
      try {
        const response = await this.#once(request, accept, limit.signal);
        if (response.ok) return await read(response);
        failure = await refusal(request, response);
      } catch (error) {
        failure = { error: this.#lost(error, request, limit), afterMs: undefined, mayBeDone: !wasNeverSent(error), isGone: false };
        const lost = failure.error instanceof UnreachableError;
        if (lost && (isRepeatable(request) || wasNeverSent(error))) failure.afterMs = 0;
      } finally {
        if (!shared) limit.end();
      }
      if (mayBeDone && failure.isGone) return read(new Response(null, { status: 204 }));
      mayBeDone ||= failure.mayBeDone;
      if (failure.afterMs === undefined || made > retries) throw failure.error;
      const ms = Math.max(failure.afterMs, pauseMs(made, random));
      if (Date.now() + ms >= end) throw failure.error;
      await sleep(ms, request.signal);
    }
  }

  async #once(request: Request, accept: string, signal: AbortSignal): Promise<Response> {
    const headers: { [name: string]: string } = { ...request.headers, accept };
    if (this.settings.key) headers.authorization = `Bearer ${this.settings.key}`;
    if (request.idempotencyKey !== undefined) headers["idempotency-key"] = request.idempotencyKey;
    const init: RequestInit = { method: request.method, headers, signal, redirect: "manual", cache: "no-store" };
    if (request.body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(request.body);
    }
    // Called as a plain function: browsers refuse `fetch` as a method of another object.
    const { fetch } = this.settings;
    return fetch(this.settings.url + request.path + queryOf(request.params), init);
  }

  #timeMs(request: Request): number {
    return (request.timeoutMs ?? this.settings.timeoutMs) + (request.extraMs ?? 0);
  }

  /** Returns an error of `fetch` as an error of this client; an abort by the caller keeps the caller's reason. */
  #lost(error: unknown, request: Request, limit: TimeLimit): unknown {
    if (request.signal?.aborted) return request.signal.reason;
    if (error instanceof UnexpectedResponseError || error instanceof ProblemError || error instanceof UnreachableError) return error;
    const why = limit.isOver ? `no response in ${this.#timeMs(request)} ms` : String((error as Error)?.message ?? error);
    return new UnreachableError(`${this.settings.url} did not answer: ${why}`, { cause: error });
  }
}

/** A signal that fires with the caller's signal, or after some time. `AbortSignal.any` is missing in Node 18. */
class TimeLimit {
  isOver = false;
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout>;
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort = () => this.#controller.abort(this.#outer?.reason);

  constructor(outer: AbortSignal | undefined, ms: number) {
    this.#outer = outer;
    this.#ms = ms;
    this.#timer = this.#start();
    if (outer?.aborted) this.#onAbort();
    outer?.addEventListener("abort", this.#onAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the timer. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onAbort);
  }
}

/** Returns the error of a refused request, and the pause before a retry. */
async function refusal(request: Request, response: Response): Promise<Failure> {
  const error = errorOf(response.status, response.statusText, await response.text());
  const after = retryAfterMs(response.headers.get("retry-after"), Date.now());
  return {
    error,
    afterMs: mayPass(request, response.status, error.type) ? after : undefined,
    // A server that answers 429 has not begun the request.
    mayBeDone: response.status !== 429,
    isGone: isGone(request, response.status, error.type),
  };
}

async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (response.body && isStream) return response.body;
  await response.body?.cancel();
  throw new UnexpectedResponseError("the response is not a stream of events; is the server of another version?");
}

/** Returns a text of the server, parsed as JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = "the response is not JSON; is this a Mnemic server, of the same version?";
    throw new UnexpectedResponseError(message, { cause: error });
  }
}

/** Waits for some time; the signal ends the wait early. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Returns a path of a space. */
export function spacePath(space: string, ...parts: string[]): string {
  return pathOf("spaces", space, ...parts);
}

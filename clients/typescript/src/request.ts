/** Requests, the rules for retries, and the format of values. */

/** Statuses of a busy server, or of a proxy whose server is unreachable. */
const BUSY = new Set([429, 502, 503]);
const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
const RETRY_AFTER_MAX_MS = 30_000;
const IN_FLIGHT = "urn:mnemic:problem:idempotency-key-in-flight";
const NOT_FOUND = "urn:mnemic:problem:not-found";
/** Longest time in milliseconds that the server waits for a watermark in one request. */
export const WAIT_SLICE_MS = 10_000;

/** A moment: a `Date`, or RFC 3339 text. */
export type Time = Date | string;

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then fails with the reason of the signal. */
  signal?: AbortSignal;
  /** Timeout of one attempt in milliseconds, instead of the client's; no attempt begins after this time. */
  timeoutMs?: number;
}

/** One request of the API. */
export interface Request extends CallOptions {
  method: "DELETE" | "GET" | "POST" | "PUT";
  path: string;
  /** A parameter that is a list is sent once for each of its values. */
  params?: { [name: string]: unknown };
  body?: unknown;
  idempotencyKey?: string;
  /**
   * Whether the request may be sent again when it is unknown if the first one arrived. Default: true, except for a POST without
   * an idempotency key.
   */
  repeatable?: boolean;
  /**
   * Whether the request erases an object and is done if a repeated attempt does not find the object, because an earlier attempt
   * whose response was lost may have erased it. Default: false.
   */
  doneIfGone?: boolean;
  /** Additional milliseconds that the server may take beyond the timeout. */
  extraMs?: number;
  /** Header names are in lower case. */
  headers?: { [name: string]: string };
}

/** Returns true if a request may be sent again although the first one may have been executed. */
export function isRepeatable(request: Request): boolean {
  return request.repeatable ?? (request.method !== "POST" || request.idempotencyKey !== undefined);
}

/** Returns a path below `/v1` with quoted parts. Throws a `RangeError` for a part that would change the path. */
export function pathOf(...parts: string[]): string {
  for (const part of parts) {
    // `fetch` resolves `.` and `..` in paths, so `records/..` would address the space itself. No id can have one of these values.
    if (part === "" || part === "." || part === "..") throw new RangeError(`"${part}" is not a name or an id`);
  }
  return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}

/** Returns the query string of a URL, with its `?`; undefined parameters are omitted. */
export function queryOf(params: { [name: string]: unknown } = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) given.append(name, one instanceof Date ? one.toISOString() : String(one));
    }
  }
  const text = given.toString();
  return text && `?${text}`;
}

/** Returns the milliseconds before the attempt after `made` attempts: doubled each time, and spread by `random` from 0 to 1. */
export function pauseMs(made: number, random: () => number): number {
  return Math.min(PAUSE_FIRST_MS * 2 ** (made - 1), PAUSE_MAX_MS) * (0.5 + random() / 2);
}

/** Returns the milliseconds in `Retry-After`, which has seconds or a date, at most 30,000; 0 for an invalid value. */
export function retryAfterMs(header: string | null, now: number): number {
  if (!header) return 0;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS);
}

/**
 * Returns true if a refused request may succeed later and a retry is harmless. A proxy also answers 502 and 503 when the
 * connection broke while the server was processing the request, so for these statuses only repeatable requests are retried.
 */
export function mayPass(request: Request, status: number, type: string): boolean {
  if (status === 429 || (status === 409 && type === IN_FLIGHT)) return true;
  return BUSY.has(status) && isRepeatable(request);
}

/**
 * Returns true if the object that a request erases is not found. Only the server itself says so: a 404 of a proxy, or for an unknown
 * space, says nothing about the object.
 */
export function isGone(request: Request, status: number, type: string): boolean {
  return request.doneIfGone === true && status === 404 && type === NOT_FOUND;
}

/** Codes of errors that occur before a request is sent. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Returns true if an error of `fetch` shows that the request did not leave this machine. Errors in browsers do not show it. */
export function wasNeverSent(error: unknown): boolean {
  const cause = (error as { cause?: { code?: unknown } } | undefined)?.cause;
  return typeof cause?.code === "string" && NEVER_SENT.has(cause.code);
}

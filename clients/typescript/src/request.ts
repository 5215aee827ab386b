/** What a request is, when it may be sent again, and how values are written. */

/** Statuses of a server that is busy, or of a proxy whose server is away. */
const BUSY = new Set([429, 502, 503]);
const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
const RETRY_AFTER_MAX_MS = 30_000;
const IN_FLIGHT = "urn:mnemic:problem:idempotency-key-in-flight";
/** Longest time in milliseconds that one request lets the server wait for a watermark. */
export const WAIT_SLICE_MS = 10_000;

/** A moment: a `Date`, or RFC 3339 text. */
export type Time = Date | string;

/** What every call takes. */
export interface CallOptions {
  /** Ends the call; it then fails with the reason of the signal. */
  signal?: AbortSignal;
  /** Milliseconds that one attempt may take, and after which no other begins, in place of those of the client. */
  timeoutMs?: number;
}

/** One request of the API. */
export interface Request extends CallOptions {
  method: "DELETE" | "GET" | "POST" | "PUT";
  path: string;
  /** One that is a list is given once for each of its values. */
  params?: { [name: string]: unknown };
  body?: unknown;
  idempotencyKey?: string;
  /**
   * Whether it may be sent again when nobody knows whether the first one arrived; if not given, all but a POST without an
   * idempotency key.
   */
  repeatable?: boolean;
  /** Milliseconds that the server may take beyond the timeout. */
  extraMs?: number;
  /** In small letters. */
  headers?: { [name: string]: string };
}

/** Returns true if a request may be sent again although the first one may have been carried out. */
export function isRepeatable(request: Request): boolean {
  return request.repeatable ?? (request.method !== "POST" || request.idempotencyKey !== undefined);
}

/** Returns a path below `/v1`, each part quoted. Throws a `RangeError` for a part that would name another path. */
export function pathOf(...parts: string[]): string {
  for (const part of parts) {
    // `fetch` takes `.` and `..` out of paths, so that `records/..` would be the space itself. No id can be one of these.
    if (part === "" || part === "." || part === "..") throw new RangeError(`"${part}" is not a name or an id`);
  }
  return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}

/** Returns the query part of an address with its `?`; parameters that are undefined are left out. */
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

/** Returns the milliseconds before another attempt after `made`: doubled each time, and spread by `random` from 0 to 1. */
export function pauseMs(made: number, random: () => number): number {
  return Math.min(PAUSE_FIRST_MS * 2 ** (made - 1), PAUSE_MAX_MS) * (0.5 + random() / 2);
}

/** Returns the milliseconds that `Retry-After` asks for, as seconds or as a date, at most 30,000; 0 if it says nothing. */
export function retryAfterMs(header: string | null, now: number): number {
  if (!header) return 0;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS);
}

/**
 * Returns true if a refused request may succeed later and sending it again is harmless. A proxy answers 502 and 503 also when
 * the connection broke while the server was at work, so those count only for requests that may be repeated.
 */
export function mayPass(request: Request, status: number, type: string): boolean {
  if (status === 429 || (status === 409 && type === IN_FLIGHT)) return true;
  return BUSY.has(status) && isRepeatable(request);
}

/** Codes of errors that come before a request is sent. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Returns true if an error of `fetch` says that the request did not leave this machine. Browsers do not say. */
export function wasNeverSent(error: unknown): boolean {
  const cause = (error as { cause?: { code?: unknown } } | undefined)?.cause;
  return typeof cause?.code === "string" && NEVER_SENT.has(cause.code);
}

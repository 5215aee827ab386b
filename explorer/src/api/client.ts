import { noteServerTime } from "../lib/clock";
import { key, lostKey, noteAnswer, noteSilence } from "./session";
import type { Listed, Problem } from "./types";

/**
 * A failed call: the problem document of the server, or none if the server did not answer. `deadLetter` is the id of the dead
 * letter with the write, if the server gave the write up.
 */
export class Failure extends Error {
  /** Milliseconds that the server requests until the next attempt; 0 if it requests none. */
  retryAfterMs = 0;

  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly kind: string,
    readonly deadLetter = "",
  ) {
    super(detail || title);
  }

  /** Returns true if the server could not be reached. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

export type Query = { [name: string]: string | number | boolean | undefined };

interface Call {
  method?: string;
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

function address(path: string, query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") given.set(name, String(value));
  }
  const text = given.toString();
  return text ? `${path}?${text}` : path;
}

async function failure(response: Response): Promise<Failure> {
  const problem = await problemOf(response);
  // `Retry-After` may also be a date, which is ignored: Mnemic sends seconds.
  problem.retryAfterMs = 1000 * (Number(response.headers.get("retry-after")) || 0);
  return problem;
}

async function problemOf(response: Response): Promise<Failure> {
  const text = await response.text().catch(() => "");
  try {
    const problem = JSON.parse(text) as Problem;
    return new Failure(response.status, problem.title, problem.detail, problem.type, problem.dead_letter ?? "");
  } catch {
    return new Failure(response.status, response.statusText || `HTTP ${response.status}`, text.slice(0, 500), "");
  }
}

/** Sends a call with the user's key and returns the response; throws a `Failure` unless the status is a success. */
export async function send(path: string, accept: string, { method = "GET", query, body, signal }: Call): Promise<Response> {
  const headers: { [name: string]: string } = { accept };
  const used = key.value;
  if (used) headers.authorization = `Bearer ${used}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(address(path, query), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    noteSilence();
    throw new Failure(0, "", "", "");
  }
  noteAnswer();
  noteServerTime(response.headers.get("date"));
  if (!response.ok) {
    const problem = await failure(response);
    if (problem.status === 401) lostKey(used);
    throw problem;
  }
  return response;
}

/** Calls the public API with the user's key and returns the body of the response; null if the response has no body. */
export async function call<Body>(path: string, given: Call = {}): Promise<Body> {
  const response = await send(path, "application/json", given);
  const text = await response.text();
  return (text ? JSON.parse(text) : null) as Body;
}

/** Returns the path of an object in a space; each part is encoded. */
export function inSpace(space: string, ...parts: string[]): string {
  return ["/v1/spaces", encodeURIComponent(space), ...parts.map(encodeURIComponent)].join("/");
}

/**
 * Reads a list page by page, passes the items so far to `show`, and stops after `most` items. Returns true if it read the whole
 * list. A page has 1,000 items, unless `query` has another `limit`.
 */
export async function readList<Item>(
  path: string,
  query: Query,
  most: number,
  signal: AbortSignal,
  show: (items: Item[]) => void,
): Promise<boolean> {
  const items: Item[] = [];
  let after: string | undefined;
  for (;;) {
    const page: Listed<Item> = await call(path, { query: { limit: 1000, ...query, after }, signal });
    items.push(...page.items);
    show(items.slice(0, most));
    if (!page.next) return true;
    if (items.length >= most) return false;
    after = page.next;
  }
}

/** The items of a list, and whether they are all of its items. */
export interface ListRead<Item> {
  items: Item[];
  all: boolean;
}

/** Reads a list to its end, or up to `most` items. */
export async function readWhole<Item>(path: string, query: Query, most: number, signal: AbortSignal): Promise<ListRead<Item>> {
  let items: Item[] = [];
  const all = await readList<Item>(path, query, most, signal, (some) => {
    items = some;
  });
  return { items, all };
}

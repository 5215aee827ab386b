/** The client: a server and its spaces. */
import type { ListOptions } from "./memory.js";
import type * as models from "./models.js";
import { moment } from "./records.js";
import { type CallOptions, pathOf, type Time } from "./request.js";
import { Space } from "./space.js";
import { Transport } from "./transport.js";

const DEFAULT_URL = "http://127.0.0.1:7077";
const TIMEOUT_MS = 30_000;
const RETRIES = 4;
const PAGE_SIZE = 100;

/** Options of the connection to a server. */
export interface MnemicOptions {
  /** URL of the server; default: `MNEMIC_URL` in the environment, else a server on this machine. `http://` may be omitted. */
  url?: string;
  /** An API key; default: `MNEMIC_KEY` in the environment. */
  key?: string;
  /** Timeout of one attempt in milliseconds; no attempt begins after this time. Default: 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries of a request that is safe to repeat. Default: 4. */
  retries?: number;
  /** Milliseconds that `wait: true` waits for a write to be searchable. Default: 30,000. */
  waitMs?: number;
  /** A replacement for the global `fetch`, for proxies, certificates and tests. */
  fetch?: typeof fetch;
  /** Returns a number from 0 to 1, which spreads the pauses before retries. Default: `Math.random`. */
  random?: () => number;
}

/** The spaces and rights of a new key. */
export interface NewKeyOptions extends CallOptions {
  /** Names of spaces, prefixes followed by `*`, or `*` for all. */
  spaces: string[];
  rights: models.Right[];
  /** Time at which the key expires; without it, the key does not expire. */
  expiresAt?: Time;
  quotas?: models.Quotas;
}

/** A Mnemic server. */
export class Mnemic {
  readonly #transport: Transport;

  constructor(options: MnemicOptions = {}) {
    const url = options.url || environment("MNEMIC_URL") || DEFAULT_URL;
    this.#transport = new Transport({
      url: (url.includes("://") ? url : `http://${url}`).replace(/\/+$/, ""),
      key: options.key || environment("MNEMIC_KEY"),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retries: options.retries ?? RETRIES,
      waitMs: options.waitMs ?? TIMEOUT_MS,
      fetch: options.fetch ?? globalThis.fetch,
      random: options.random ?? Math.random,
    });
  }

  /** Returns a space by its name, without a request to the server. */
  space(name: string): Space {
    return new Space(this.#transport, name);
  }

  /** Creates a space if it does not exist, and returns it. */
  async createSpace(name: string, options: CallOptions = {}): Promise<Space> {
    const space = this.space(name);
    await space.create(options);
    return space;
  }

  /** Lists the spaces that the key opens. */
  spaces(options: ListOptions = {}): AsyncGenerator<models.Space, void, undefined> {
    return this.#list(options, "spaces");
  }

  /** Returns the spaces and rights of the key. */
  async access(options: CallOptions = {}): Promise<models.KeyAccess> {
    return this.#transport.fetch({ ...callOf(options), method: "GET", path: pathOf("access") });
  }

  /** Returns the tools with which a model can search by itself, with the schemas of their arguments. */
  async tools(options: CallOptions = {}): Promise<models.ToolSpec[]> {
    const list: models.ToolList = await this.#transport.fetch({ ...callOf(options), method: "GET", path: pathOf("tools") });
    return list.tools;
  }

  /** Lists the messages that the server could not process. */
  deadLetters(options: ListOptions = {}): AsyncGenerator<models.DeadLetter, void, undefined> {
    return this.#list(options, "admin", "dead-letters");
  }

  /** Delivers a dead letter again. */
  async replayDeadLetter(id: string, options: CallOptions = {}): Promise<void> {
    const path = pathOf("admin", "dead-letters", id, "replay");
    await this.#transport.send({ ...callOf(options), method: "POST", path });
  }

  /** Deletes a dead letter without processing it. */
  async discardDeadLetter(id: string, options: CallOptions = {}): Promise<void> {
    const path = pathOf("admin", "dead-letters", id);
    await this.#transport.send({ ...callOf(options), method: "DELETE", path, doneIfGone: true });
  }

  /**
   * Creates a key and returns it with its `token`. The server shows the token only once and does not store it. The call is not
   * repeated if its response was lost: revoke the key by its name, and create one with another name. The key of this client needs
   * the right `admin` for all spaces.
   */
  async createKey(name: string, options: NewKeyOptions): Promise<models.ApiKeyToken> {
    const { spaces, rights, quotas } = options;
    const body = { name, spaces, rights, quotas, expires_at: moment(options.expiresAt) };
    return this.#transport.fetch({ ...callOf(options), method: "POST", path: pathOf("keys"), body, repeatable: false });
  }

  /** Lists the keys that `createKey` created, including expired and revoked keys, without their tokens. */
  keys(options: ListOptions = {}): AsyncGenerator<models.ApiKey, void, undefined> {
    return this.#list(options, "keys");
  }

  /**
   * Gives a key a new token, and returns both. The previous token stays valid for `graceSeconds`, at most 86,400; default: 0. The
   * call is not repeated if its response was lost, since a second rotation would end the previous token.
   */
  async rotateKey(name: string, options: CallOptions & { graceSeconds?: number } = {}): Promise<models.ApiKeyToken> {
    const body = { grace_seconds: options.graceSeconds ?? 0 };
    const path = pathOf("keys", name, "rotate");
    return this.#transport.fetch({ ...callOf(options), method: "POST", path, body, repeatable: false });
  }

  /** Revokes a key permanently; it stays in the list. */
  async revokeKey(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.send({ ...callOf(options), method: "DELETE", path: pathOf("keys", name) });
  }

  #list<T>(options: ListOptions, ...parts: string[]): AsyncGenerator<T, void, undefined> {
    return this.#transport.pages({ ...callOf(options), path: pathOf(...parts) }, options.pageSize ?? PAGE_SIZE);
  }
}

function callOf({ signal, timeoutMs }: CallOptions): CallOptions {
  return { signal, timeoutMs };
}

/** Returns an environment variable; browsers have none. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } };
  return process?.env?.[name] || undefined;
}

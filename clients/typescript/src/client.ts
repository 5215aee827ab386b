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

/** How to reach a server. */
export interface MnemicOptions {
  /** Where the server is; else `MNEMIC_URL` in the environment, else a server on this machine. */
  url?: string;
  /** An API key; else `MNEMIC_KEY` in the environment. */
  key?: string;
  /** Milliseconds that one attempt at a request may take, and after which no other begins; 30,000 if not given. */
  timeoutMs?: number;
  /** How often a request is sent again where that is harmless; 4 if not given. */
  retries?: number;
  /** Milliseconds that `wait: true` waits for a write to be searchable; 30,000 if not given. */
  waitMs?: number;
  /** In place of the global `fetch`, for proxies, certificates and tests. */
  fetch?: typeof fetch;
  /** Returns a number from 0 to 1, which spreads the pauses before retries; `Math.random` if not given. */
  random?: () => number;
}

/** What a key opens and may do. */
export interface NewKeyOptions extends CallOptions {
  /** Names, beginnings of names with `*` behind them, or `*` for all. */
  spaces: string[];
  rights: models.Right[];
  /** From when on it is no longer valid; if not given, it does not expire. */
  expiresAt?: Time;
  quotas?: models.Quotas;
}

/** A Mnemic server. */
export class Mnemic {
  readonly #transport: Transport;

  constructor(options: MnemicOptions = {}) {
    const url = options.url || environment("MNEMIC_URL") || DEFAULT_URL;
    this.#transport = new Transport({
      url: url.replace(/\/+$/, ""),
      key: options.key || environment("MNEMIC_KEY"),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retries: options.retries ?? RETRIES,
      waitMs: options.waitMs ?? TIMEOUT_MS,
      fetch: options.fetch ?? globalThis.fetch,
      random: options.random ?? Math.random,
    });
  }

  /** Returns a space by its name; asks the server nothing. */
  space(name: string): Space {
    return new Space(this.#transport, name);
  }

  /** Creates a space, unless it exists, and returns it. */
  async createSpace(name: string, options: CallOptions = {}): Promise<Space> {
    const space = this.space(name);
    await space.create(options);
    return space;
  }

  /** Lists the spaces that the key opens. */
  spaces(options: ListOptions = {}): AsyncGenerator<models.Space, void, undefined> {
    return this.#list(options, "spaces");
  }

  /** Returns which spaces the key opens and what it may do. */
  async access(options: CallOptions = {}): Promise<models.KeyAccess> {
    return this.#transport.fetch({ ...callOf(options), method: "GET", path: pathOf("access") });
  }

  /** Returns the tools for models that look around by themselves, with the schemas of their arguments. */
  async tools(options: CallOptions = {}): Promise<models.ToolSpec[]> {
    const list: models.ToolList = await this.#transport.fetch({ ...callOf(options), method: "GET", path: pathOf("tools") });
    return list.tools;
  }

  /** Lists the messages that the server gave up on. */
  deadLetters(options: ListOptions = {}): AsyncGenerator<models.DeadLetter, void, undefined> {
    return this.#list(options, "admin", "dead-letters");
  }

  /** Delivers a dead letter again. */
  async replayDeadLetter(id: string, options: CallOptions = {}): Promise<void> {
    const path = pathOf("admin", "dead-letters", id, "replay");
    await this.#transport.send({ ...callOf(options), method: "POST", path });
  }

  /** Discards a dead letter; what it carried is not written. */
  async discardDeadLetter(id: string, options: CallOptions = {}): Promise<void> {
    const path = pathOf("admin", "dead-letters", id);
    await this.#transport.send({ ...callOf(options), method: "DELETE", path });
  }

  /**
   * Makes a key and returns it with its `token`, which the server tells this once and does not keep. A call whose response was lost
   * is not sent again: revoke the key by its name, and make one of another name. The key of this client needs the right `admin`
   * over all spaces.
   */
  async createKey(name: string, options: NewKeyOptions): Promise<models.ApiKeyToken> {
    const { spaces, rights, quotas } = options;
    const body = { name, spaces, rights, quotas, expires_at: moment(options.expiresAt) };
    return this.#transport.fetch({ ...callOf(options), method: "POST", path: pathOf("keys"), body, repeatable: false });
  }

  /** Lists the keys that were made by `createKey`, also those that are expired or revoked, without their tokens. */
  keys(options: ListOptions = {}): AsyncGenerator<models.ApiKey, void, undefined> {
    return this.#list(options, "keys");
  }

  /**
   * Gives a key a new token, and returns both. The token before stays valid for `graceSeconds`, at most 86,400; 0 if not given.
   * A call whose response was lost is not sent again, since that would end the token before it.
   */
  async rotateKey(name: string, options: CallOptions & { graceSeconds?: number } = {}): Promise<models.ApiKeyToken> {
    const body = { grace_seconds: options.graceSeconds ?? 0 };
    const path = pathOf("keys", name, "rotate");
    return this.#transport.fetch({ ...callOf(options), method: "POST", path, body, repeatable: false });
  }

  /** Revokes a key for good; it stays in the list. */
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

/** Returns a variable of the environment; browsers have none. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } };
  return process?.env?.[name] || undefined;
}

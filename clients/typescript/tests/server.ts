/** Real servers for the tests: `mnemic serve` on free ports, in a separate folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomInt, randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Mnemic, type Space } from "mnemic";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const START_MS = 60_000;

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the binary to test: the one in MNEMIC_BINARY, or the build output of cargo. */
function binary(): string {
  const target = process.env.CARGO_TARGET_DIR ?? join(ROOT, "target");
  const built = ["release", "demo", "debug"].map((profile) => join(target, profile, "mnemic"));
  const found = [process.env.MNEMIC_BINARY, ...built].find((path) => path && existsSync(path));
  if (!found) throw new Error("there is no `mnemic`: build it with `cargo build --bin mnemic`, or set MNEMIC_BINARY");
  return found;
}

/** Returns a free port outside the range that the system assigns automatically, so that it is still free later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const probe = createTcpServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

export interface KeySetting {
  name: string;
  key: string;
  spaces: string[];
  rights: string[];
}

/** A server with its memory, which is removed with it. */
export class TestServer {
  readonly url: string;
  #process: ChildProcess | undefined;
  readonly #folder: string;
  readonly #port: number;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(keys: KeySetting[] = []): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), "mnemic-typescript-"));
    const settings = keys.map(({ name, key, spaces, rights }) => {
      const digest = createHash("sha256").update(key).digest("hex");
      const lists = `spaces = ${JSON.stringify(spaces)}\nrights = ${JSON.stringify(rights)}`;
      return `[[gateway.keys]]\nname = "${name}"\nsha256 = "${digest}"\n${lists}\n`;
    });
    writeFileSync(join(folder, "mnemic.toml"), settings.join("\n"));
    const server = new TestServer(folder, await freePort());
    await server.run();
    return server;
  }

  /** Starts the process over the same memory, also after `kill`. */
  async run(): Promise<void> {
    const admin = await freePort();
    const log = openSync(join(this.#folder, "log"), "a");
    const places = ["--config", join(this.#folder, "mnemic.toml"), "--data", join(this.#folder, "data")];
    const listen = ["--listen", `127.0.0.1:${this.#port}`, "--admin", `127.0.0.1:${admin}`];
    const child = spawn(binary(), ["serve", ...places, ...listen], { stdio: ["ignore", log, log] });
    this.#process = child;
    // Node 18 calls `after` when nothing else keeps the process alive.
    child.unref();
    for (const end = Date.now() + START_MS; Date.now() < end && child.exitCode === null; await pause(20)) {
      const ready = await fetch(`http://127.0.0.1:${admin}/readyz`).catch(() => undefined);
      if (ready?.ok) return;
    }
    throw new Error(`the server does not start: ${readFileSync(join(this.#folder, "log"), "utf8")}`);
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    child.kill(signal);
    await gone;
  }

  async end(): Promise<void> {
    await this.kill("SIGTERM");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Creates a new space for a test. */
  async space(): Promise<Space> {
    return new Mnemic({ url: this.url }).createSpace(newName());
  }
}

export function newName(): string {
  return `test-${randomUUID().slice(0, 12)}`;
}

/** A request as seen by a proxy. */
export interface Seen {
  method: string;
  path: string;
  key: string | undefined;
}

/** The reaction of a proxy to a request: its own response, a broken connection, no response, or the response of the server. */
export type Fault = { status: number; headers?: { [name: string]: string }; body?: string } | "lose" | "hang" | "break-before" | "pass";

/** A small proxy in front of a server. Each listed fault affects one request; later requests pass. */
export class FaultyProxy {
  readonly seen: Seen[] = [];
  readonly url: string;
  readonly #server: HttpServer;

  private constructor(server: HttpServer) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string, faults: Fault[]): Promise<FaultyProxy> {
    const left = [...faults];
    const server = createServer((request, response) => {
      proxy.seen.push({
        method: request.method ?? "",
        path: request.url ?? "",
        key: request.headers["idempotency-key"] as string | undefined,
      });
      void answer(target, request, response, left.shift() ?? "pass");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const proxy = new FaultyProxy(server);
    return proxy;
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function answer(target: string, request: IncomingMessage, response: ServerResponse, fault: Fault): Promise<void> {
  if (fault === "hang") return;
  if (fault === "break-before") {
    request.socket.destroy();
    return;
  }
  if (typeof fault === "object") {
    response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
  const { connection: _connection, host: _host, "content-length": _length, ...headers } = request.headers;
  const said = await fetch(target + request.url, { method: request.method, headers: headers as { [name: string]: string }, body });
  const text = await said.text();
  if (fault === "lose") {
    request.socket.destroy();
    return;
  }
  const type = said.headers.get("content-type");
  response.writeHead(said.status, type ? { "content-type": type } : {}).end(text);
}

/** Polls `look` until it returns a value: facts and entities appear a moment after the records. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + START_MS; Date.now() < end; await pause(20)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error("it did not come in time");
}

/** Time budget of a question: a binary with few optimisations on a busy machine may need more than the default of two seconds. */
export const PATIENT = { ms: 20_000 };

/** Returns the items of a list. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

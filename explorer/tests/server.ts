import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Proxy, type Responder, pageFrom, startProxy } from "./proxy";

/** The binary under test, with the explorer in it. */
const BINARY = process.env.MNEMIC_BINARY ?? "mnemic";
/** Folder with a built page to test instead of the page in the binary; not set by default. */
const DIST = process.env.MNEMIC_EXPLORER_DIST;
const READY_WITHIN_MS = 60_000;
/** Number of records in one request. */
const BATCH = 500;

export interface KeySetting {
  name: string;
  key: string;
  spaces: string[];
  rights: string[];
}

export interface NewRecord {
  id: string;
  session?: string;
  actor?: string;
  observed_at?: string;
  text: string;
  tags?: string[];
  metadata?: { [name: string]: string };
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Returns a free port outside the range that the system assigns automatically, so that it is still free later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const probe = createServer();
    const free = await new Promise<boolean>((done) => {
      probe.once("error", () => done(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => done(true)));
    });
    if (free) return port;
  }
}

/** A server with its memory in a folder that is removed with it. */
export class Server {
  private process: ChildProcess | undefined;
  private proxy: Proxy | undefined;
  /** Serves the page of `DIST`, if there is one. */
  private page: Responder = () => false;
  private constructor(
    private readonly folder: string,
    private readonly port: number,
    private readonly admin: number,
    private readonly keys: KeySetting[],
  ) {}

  static async start(keys: KeySetting[] = []): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), "mnemic-explorer-"));
    const settings = keys.map(
      (it) =>
        `[[gateway.keys]]\nname = "${it.name}"\nsha256 = "${createHash("sha256").update(it.key).digest("hex")}"\n` +
        `spaces = ${JSON.stringify(it.spaces)}\nrights = ${JSON.stringify(it.rights)}\n`,
    );
    writeFileSync(join(folder, "mnemic.toml"), settings.join("\n"));
    const server = new Server(folder, await freePort(), await freePort(), keys);
    await server.run();
    if (DIST) {
      const page = await pageFrom(DIST, server.port);
      // Without the server, the page is not available either.
      server.page = (request, response) => server.process !== undefined && page(request, response);
      server.proxy = await startProxy(server.port, server.page);
    }
    return server;
  }

  get url(): string {
    return this.proxy?.url ?? `http://127.0.0.1:${this.port}`;
  }

  /** Starts a proxy that answers some requests itself and leaves the others to this server. */
  async behind(respond: Responder): Promise<Proxy> {
    return startProxy(this.port, (request, response) => respond(request, response) || this.page(request, response));
  }

  /** Starts the process over the same memory, also after `stop`. */
  async run(): Promise<void> {
    const listen = ["--listen", `127.0.0.1:${this.port}`, "--admin", `127.0.0.1:${this.admin}`];
    const places = ["--config", join(this.folder, "mnemic.toml"), "--data", join(this.folder, "data")];
    this.process = spawn(BINARY, ["serve", ...places, ...listen], { stdio: "ignore" });
    const end = Date.now() + READY_WITHIN_MS;
    for (;;) {
      const ready = await fetch(`http://127.0.0.1:${this.admin}/readyz`).catch(() => undefined);
      if (ready?.ok) return;
      if (Date.now() > end) throw new Error(`${BINARY} serve is not ready after ${READY_WITHIN_MS} ms`);
      await pause(50);
    }
  }

  async stop(): Promise<void> {
    const running = this.process;
    this.process = undefined;
    if (!running) return;
    const gone = new Promise((done) => running.once("exit", done));
    running.kill("SIGTERM");
    await gone;
  }

  async end(): Promise<void> {
    this.proxy?.close();
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const owner = this.keys.find((it) => it.rights.includes("admin"));
    const headers: { [name: string]: string } = { "content-type": "application/json" };
    if (owner) headers.authorization = `Bearer ${owner.key}`;
    const response = await fetch(this.url + path, { method, headers, body: body ? JSON.stringify(body) : undefined });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : null) as Body;
  }

  /** Stores records in a space, and waits until they are searchable and their facts are derived. */
  async remember(space: string, records: NewRecord[]): Promise<void> {
    await this.call("PUT", `/v1/spaces/${space}`);
    let watermark = "";
    for (let at = 0; at < records.length; at += BATCH) {
      const batch = records.slice(at, at + BATCH);
      const sent: { watermark: string } = await this.call("POST", `/v1/spaces/${space}/records`, { records: batch });
      watermark = sent.watermark;
    }
    const end = Date.now() + READY_WITHIN_MS * 3;
    for (;;) {
      const query = `watermark=${watermark}`;
      const progress: { written: boolean } = await this.call("GET", `/v1/spaces/${space}/progress?${query}`);
      if (progress.written) return;
      if (Date.now() > end) throw new Error(`${space} is not written`);
      await pause(200);
    }
  }

  /** Waits until events, entities, facts, topics and pages are derived from all stored records. */
  async derived(space: string, withinMs = READY_WITHIN_MS): Promise<void> {
    const end = Date.now() + withinMs;
    for (;;) {
      const progress: { backlog: number; deriving: number } = await this.call("GET", `/v1/spaces/${space}/progress`);
      if (progress.backlog === 0 && progress.deriving === 0) return;
      if (Date.now() > end) throw new Error(`${space} is not derived`);
      await pause(100);
    }
  }

  /** Stores the sample talk, and waits for its facts. */
  async rememberSample(space = "demo"): Promise<void> {
    const talk = readFileSync(new URL("../../services/cli/demo/talk.jsonl", import.meta.url), "utf8");
    await this.remember(space, talk.trim().split("\n").map((line) => JSON.parse(line) as NewRecord));
    for (let look = 0; look < 100; look += 1) {
      const facts: { items: unknown[] } = await this.call("GET", `/v1/spaces/${space}/facts`);
      const pages: { items: unknown[] } = await this.call("GET", `/v1/spaces/${space}/pages`);
      if (facts.items.length > 3 && pages.items.length > 3) return;
      await pause(100);
    }
    throw new Error("the facts of the sample are not there");
  }
}

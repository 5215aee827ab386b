import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Responder } from "./proxy";
import type { Server } from "./server";

/** Holds the stream of a question after its first step, until the test releases or breaks it. */
export class HeldStream {
  private waiting: ServerResponse[] = [];
  private open = false;
  private rest = "";

  constructor(private readonly server: Server) {}

  readonly respond: Responder = (request, response) => {
    if (this.open || request.method !== "POST" || !request.url?.endsWith("/query")) return false;
    void this.hold(request, response);
    return true;
  };

  private async hold(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const stream = await fetch(this.server.url + request.url, { method: "POST", headers, body: await text(request) });
    const [first, ...rest] = (await stream.text()).split("\n\n");
    response.writeHead(200, { "content-type": "text/event-stream" });
    // A comment keeps the connection open, as in the server's own streams.
    response.write(`:\n\n${first}\n\n`);
    this.rest = rest.join("\n\n");
    this.waiting.push(response);
  }

  /** Sends the rest of the stream, and holds no later stream. */
  release(): void {
    this.open = true;
    for (const response of this.waiting.splice(0)) response.end(this.rest);
  }

  /** Closes the connection in the middle of the stream. */
  breakOff(): void {
    for (const response of this.waiting.splice(0)) response.destroy();
  }
}

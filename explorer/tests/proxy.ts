import { readFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** Answers a request and returns true, or returns false to leave it to the server. */
export type Responder = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface Proxy {
  url: string;
  close: () => void;
}

/** Starts a proxy in front of the server at `port`. If the server cannot be reached, the proxy closes the connection. */
export async function startProxy(port: number, respond: Responder): Promise<Proxy> {
  const proxy = createServer((request, response) => {
    if (respond(request, response)) return;
    const { method, url, headers } = request;
    const forwarded = send({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

const MEDIA_TYPES: { [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Returns a responder that serves the page from `folder` instead of the one in the binary, with the headers of the binary. */
export async function pageFrom(folder: string, port: number): Promise<Responder> {
  const embedded = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: "text/html" } });
  const policy = embedded.headers.get("content-security-policy") ?? "";
  if (!policy) throw new Error("the binary has no explorer");
  return (request, response) => {
    const path = request.url ?? "/";
    const wantsPage = (path === "/" || path === "/docs") && request.headers.accept?.includes("text/html");
    if (!wantsPage && !path.startsWith("/assets/")) return false;
    const file = wantsPage ? "index.html" : path;
    response.writeHead(200, {
      "content-type": MEDIA_TYPES[extname(file)] ?? "application/octet-stream",
      "content-encoding": "gzip",
      "content-security-policy": policy,
      "cache-control": wantsPage ? "no-cache" : "public, max-age=31536000, immutable",
    });
    response.end(gzipSync(readFileSync(join(folder, file))));
    return true;
  };
}

import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// A running server for `npm run dev`.
const server = process.env.MNEMIC_URL ?? "http://127.0.0.1:7077";

export default defineConfig({
  plugins: [preact({ devToolsEnabled: false })],
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": server, "/openapi.json": server } },
});

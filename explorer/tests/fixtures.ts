import AxeBuilder from "@axe-core/playwright";
import { type Page, test as base, expect } from "@playwright/test";
import { type KeySetting, Server } from "./server";

export const KEYS: KeySetting[] = [
  { name: "owner", key: "owner-key", spaces: ["*"], rights: ["read", "write", "admin"] },
  { name: "reader", key: "reader-key", spaces: ["demo"], rights: ["read"] },
];

interface Servers {
  /** A server without keys, with the sample talk in the space `demo`. */
  sample: Server;
  /** A server with keys, with the sample talk in the space `demo`. */
  guarded: Server;
}

interface Checks {
  /** Fails the test if the page logs an error, violates its content security policy, or runs a script from the memory. */
  clean: undefined;
}

async function withSample(keys: KeySetting[], use: (server: Server) => Promise<void>) {
  const server = await Server.start(keys);
  try {
    await server.rememberSample();
    await use(server);
  } finally {
    await server.end();
  }
}

export const test = base.extend<Checks, Servers>({
  sample: [async ({}, use) => withSample([], use), { scope: "worker", timeout: 90_000 }],
  guarded: [async ({}, use) => withSample(KEYS, use), { scope: "worker", timeout: 90_000 }],
  clean: [
    async ({ page }, use) => {
      const wrong: string[] = [];
      page.on("pageerror", (error) => wrong.push(`${error.message} ${error.stack ?? ""}`));
      page.on("dialog", (dialog) => {
        wrong.push(`a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on("console", (message) => {
        if (message.type() === "error" && /Content Security Policy|Trusted/.test(message.text())) wrong.push(message.text());
      });
      await use(undefined);
      expect(wrong).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Fails if axe finds a serious or critical problem, or if the page is wider than its window. */
export async function expectAccessible(page: Page): Promise<void> {
  const found = await new AxeBuilder({ page }).analyze();
  const serious = found.violations.filter((it) => it.impact === "serious" || it.impact === "critical");
  expect(serious.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
  await expectFits(page);
}

export async function expectFits(page: Page): Promise<void> {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(over).toBeLessThanOrEqual(0);
}

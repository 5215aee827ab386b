import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";
import { reading } from "./readings";
import type { Server } from "./server";

const VIEWS = [
  "#/",
  "#/demo/ask?q=Who+is+Noor+and+where+did+she+work%3F&strategy=navigate&calls=1&compare=1",
  "#/demo/timeline/m1",
  "#/demo/facts",
  "#/demo/graph",
  "#/demo/topics",
  "#/demo/pages",
  "#/demo/recall",
  "#/demo/curation",
  "#/demo/erasure?record=m1",
  "#/~/operations",
  "#/~/docs",
];
/** Colours and devices that the other tests do not cover: they use light colours on a desktop. */
const LOOKS = [
  { scheme: "dark", device: "desktop", width: 1280 },
  { scheme: "light", device: "phone", width: 390 },
  { scheme: "dark", device: "phone", width: 390 },
] as const;

async function openAndCheck(page: Page, server: Server, view: string): Promise<void> {
  await page.goto(`${server.url}/${view}`);
  await expect(page.locator("main h1")).toBeVisible();
  await expect(page.locator("main .busy")).toHaveCount(0);
  await expectAccessible(page);
}

for (const { scheme, device, width } of LOOKS) {
  test(`every view is accessible and fits in ${scheme} colours on a ${device}`, async ({ page, sample }) => {
    test.setTimeout(180_000);
    const left = [{ what: "Maya owns a boat", why: "no record says so" }];
    await sample.call("PUT", "/v1/spaces/demo/readings", { items: [reading("kitchen", "m1", { leftOut: left })] });
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 860 });
    for (const view of VIEWS) await openAndCheck(page, sample, view);
  });
}

import type { Page } from "@playwright/test";
import { expect, expectFits, test } from "./fixtures";
import { HOSTILE } from "./hostile";
import { reading } from "./readings";
import type { Server } from "./server";

const SPACE = "hostile";

/** Returns the beginning of a text as a tag: no control characters, at most 128 bytes. */
const tagOf = (text: string): string => text.slice(0, 40).replaceAll(/\p{Cc}/gu, " ").trim() || "t";

async function rememberHostile(server: Server): Promise<void> {
  const records = HOSTILE.map((text, at) => ({
    id: `h${at}`,
    session: text.slice(0, 40).replaceAll("\n", " ").trim() || "s",
    actor: text.slice(0, 60).replaceAll("\n", " ").trim() || "a",
    observed_at: new Date(Date.UTC(2025, 0, 1 + at)).toISOString(),
    text: at % 2 ? `I live in ${text}` : text,
    tags: [tagOf(text)],
    metadata: { note: text.slice(0, 200) },
  }));
  await server.remember(SPACE, records);
}

/** Fails if the page shows anything of the memory as more than text. */
async function expectHarmless(page: Page, asked: string[]): Promise<void> {
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator("script:not([src]), iframe, object, embed, base, body img, body style, marquee, video, audio").count()).toBe(0);
  expect(await page.locator('a[href^="javascript"], a[href^="data"], [onerror], [onload], form[action]').count()).toBe(0);
  expect(asked.filter((url) => !url.startsWith("http://127.0.0.1:"))).toEqual([]);
  await expectFits(page);
}

test("hostile texts stay texts", async ({ page, sample }) => {
  test.setTimeout(150_000);
  expect(HOSTILE.length).toBe(50);
  await rememberHostile(sample);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${sample.url}/#/${SPACE}/timeline`);
  await expect(page.getByText(`${HOSTILE.length} in all`)).toBeVisible();
  await expectHarmless(page, asked);
  for (const [at, text] of HOSTILE.entries()) {
    await page.goto(`${sample.url}/#/${SPACE}/timeline/h${at}`);
    const start = text.trim().slice(0, 25).split("\n")[0] ?? "";
    await expect(page.locator(".panel blockquote")).toContainText(start);
    await expect(page.locator(".panel .chips")).toHaveText(tagOf(text));
    await expectHarmless(page, asked);
  }
  for (const text of HOSTILE.slice(0, 10)) {
    await page.goto(`${sample.url}/#/${SPACE}/timeline?tag=${encodeURIComponent(tagOf(text))}`);
    await expect(page.locator(".rows .chips").first()).toHaveText(tagOf(text));
    await expectHarmless(page, asked);
  }
  for (const view of ["ask?q=script+window+hacked+javascript", "facts", "topics", "pages", "graph", "curation", "recall"]) {
    await page.goto(`${sample.url}/#/${SPACE}/${view}`);
    await expect(page.locator("main h1")).toBeVisible();
    await expect(page.locator("main .busy")).toHaveCount(0);
    await expectHarmless(page, asked);
  }
});

test("hostile replies of a language model stay texts", async ({ page, sample }) => {
  const records = HOSTILE.map((_, at) => ({ id: `m${at}`, session: "read", text: `Note ${at}.` }));
  await sample.remember("hostile-readings", records);
  // A reason has at most 1,024 bytes.
  const said = HOSTILE.map((text) => text.slice(0, 250).trim() || "…");
  const items = said.map((text, at) => {
    const given = at % 2 ? { failure: text } : { leftOut: [{ what: text, why: text }] };
    return { ...reading("read", `m${at}`, given), model: text.replaceAll(/\s+/g, " ").slice(0, 60), prompt: "read/1" };
  });
  await sample.call("PUT", "/v1/spaces/hostile-readings/readings", { items });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${sample.url}/#/~/operations`);
  const card = page.locator(".card", { has: page.getByRole("heading", { name: "Readings of language models" }) });
  await card.getByLabel("Space").selectOption("hostile-readings");
  const more = card.getByRole("button", { name: "Show more" });
  await expect(async () => {
    if (await more.isVisible()) await more.click();
    await expect(card.locator(".receipt")).toHaveCount(HOSTILE.length, { timeout: 1_000 });
  }).toPass();
  await expect(card.getByText("<script>window.hacked=1</script>").first()).toBeAttached();
  for (const summary of await card.locator("summary").all()) await summary.click();
  await expectHarmless(page, asked);
});

test("a hostile question and a hostile address stay texts", async ({ page, sample }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const text = encodeURIComponent('"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>');
  for (const at of [`#/demo/ask?q=${text}`, `#/${text}/ask`, `#/demo/${text}`, `#/demo/ask?q=who&tags=${text}`, `#/demo/timeline?tag=${text}`, `#/demo/facts/${text}`, `#/demo/timeline/${text}`]) {
    await page.goto(`${sample.url}/${at}`);
    await expect(page.locator("main")).not.toBeEmpty();
    await expect(page.locator("main .busy")).toHaveCount(0);
    await expectHarmless(page, asked);
  }
});

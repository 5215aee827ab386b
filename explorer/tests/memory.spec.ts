import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";
import { Server } from "./server";

interface Fact {
  id: string;
  source: string;
}

/** Fails unless a link to an erased object reports that the object does not exist, and shows nothing of it. */
async function expectGone(page: Page, server: Server, at: string): Promise<void> {
  await page.goto(`${server.url}/#/demo/${at}`);
  await expect(page.locator(".panel").getByRole("alert").or(page.getByText("This node is not in the graph"))).toBeVisible();
  await expect(page.getByText(/allergic to walnuts/)).toHaveCount(0);
}

test("topics list their events", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/topics`);
  await expect(page.getByText(/\d+ events/).first()).toBeVisible();
  await expectAccessible(page);
  await page.locator(".tiles a").first().click();
  await expect(page.locator(".panel li").first()).toBeVisible();
});

test("pages list their sections and lead to each other", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/pages`);
  await expect(page.getByRole("heading", { name: /^People/ })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Maya", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Maya", level: 1 })).toBeVisible();
  await expect(page.getByText(/Linden Street/).first()).toBeVisible();
  await page.getByRole("link", { name: "All pages" }).click();
  await page.getByLabel("Filter").fill("noor");
  await expect(page.getByRole("link", { name: "Maya", exact: true })).toHaveCount(0);
});

test("recall shows hints with their reason, and why it is silent", async ({ page, sample }) => {
  const sessions: string[] = [];
  page.on("request", (it) => {
    if (it.method() === "POST") sessions.push((it.postDataJSON() as { session: string }).session);
  });
  await page.goto(`${sample.url}/#/demo/recall`);
  await page.getByLabel("Session").fill("");
  await page.getByLabel("Message").fill("I'll bake a walnut cake for Noor's birthday.");
  await page.getByRole("button", { name: "Recall" }).click();
  await expect(page.getByText(/allergic to walnuts/).first()).toBeVisible();
  await expect(page.getByText("mentions walnut")).toBeVisible();
  await expectAccessible(page);
  const refusal = { status: 503, contentType: "application/problem+json", body: JSON.stringify({ title: "Not now" }) };
  await page.route("**/recall/dismiss", (route) => route.fulfill(refusal), { times: 1 });
  await page.getByRole("button", { name: "Dismiss" }).first().click();
  await expect(page.getByRole("alert")).toContainText("Not now");
  await page.getByRole("button", { name: "Dismiss" }).first().click();
  await expect(page.getByRole("button", { name: "Dismissed" })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
  expect(sessions[0]).toMatch(/^explorer /);
  expect(sessions).toEqual([sessions[0], sessions[0], sessions[0]]);
  await page.getByLabel("Message").fill("ok");
  await page.getByRole("button", { name: "Recall" }).click();
  await expect(page.getByText("Nothing worth saying")).toBeVisible();
});

test("an erasure lists the affected data, and leaves a receipt", async ({ page }) => {
  const own = await Server.start();
  try {
    await own.rememberSample();
    const facts: { items: Fact[] } = await own.call("GET", "/v1/spaces/demo/facts?predicate=is+allergic+to");
    const fact = facts.items[0];
    if (!fact) throw new Error("no fact is made of the record");
    await page.goto(`${own.url}/#/demo/timeline/a6`);
    await page.getByRole("link", { name: "Erase this record…" }).click();
    await expect(page.getByText("This would be erased")).toBeVisible();
    await expect(page.getByText("Noor is allergic to walnuts", { exact: true })).toBeVisible();
    await expectAccessible(page);
    const erase = page.getByRole("button", { name: "Erase permanently" });
    await expect(erase).toBeDisabled();
    await page.getByLabel(/^Type a6/).fill("a6");
    await erase.click();
    await expect(page.getByText("Erased. Receipt:")).toBeVisible();
    await page.getByRole("button", { name: "Search every store" }).click();
    await expect(page.getByText("No data is left", { exact: true })).toBeVisible();
    await page.goto(`${own.url}/#/demo/timeline/a6`);
    await expect(page.locator(".panel").getByRole("alert")).toBeVisible();
    await expectGone(page, own, `facts/${fact.id}`);
    await expectGone(page, own, `graph/${fact.source}`);
    await page.goto(`${own.url}/#/demo/erasure`);
    await page.getByLabel("What").selectOption("session");
    await page.getByLabel("Its id or name").fill("autumn");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByLabel(/^Type autumn/).fill("autumn");
    await erase.click();
    await expect(page.getByText("Erased. Receipt:")).toBeVisible();
  } finally {
    await own.end();
  }
});

test("a session is erased part by part until no part is left", async ({ page, sample }) => {
  const parts = [
    { erasure: "receipt-1", records: 1_000, more: true, watermark: "w1" },
    { erasure: "receipt-2", records: 500, more: false, watermark: "w2" },
  ];
  const seen: string[] = [];
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  await page.route("**/sessions/autumn", (route) => {
    seen.push(route.request().method());
    return route.fulfill({ json: parts.shift() });
  });
  await page.route(
    (url) => url.searchParams.has("wait_ms"),
    async (route) => {
      seen.push(new URL(route.request().url()).searchParams.get("watermark") ?? "");
      await held;
      await route.fulfill({ json: { written: true } });
    },
  );
  await page.goto(`${sample.url}/#/demo/erasure`);
  await page.getByLabel("What").selectOption("session");
  await page.getByLabel("Its id or name").fill("autumn");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByLabel(/^Type autumn/).fill("autumn");
  await page.getByRole("button", { name: "Erase permanently" }).click();
  await expect(page.getByText("1,000 records erased so far")).toBeVisible();
  await expect.poll(() => seen).toEqual(["DELETE", "w1"]);
  release();
  await expect(page.getByText("Erased. Receipts: receipt-1 receipt-2")).toBeVisible();
  await expect.poll(() => seen).toEqual(["DELETE", "w1", "DELETE", "w2"]);
});

test("a key that may only read cannot erase", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/#/demo/erasure`);
  await page.getByLabel("Key").fill("reader-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("Erasing needs a key with the right")).toBeVisible();
  await expect(page.getByRole("button", { name: "Preview" })).toHaveCount(0);
});

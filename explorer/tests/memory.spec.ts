import type { Page, Route } from "@playwright/test";
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
  await expect(page.getByText("1,000 records are being erased")).toBeVisible();
  await expect.poll(() => seen).toEqual(["DELETE", "w1"]);
  release();
  await expect(page.getByText("Erased. Receipts: receipt-1 receipt-2")).toBeVisible();
  await expect.poll(() => seen).toEqual(["DELETE", "w1", "DELETE", "w2"]);
});

/** Erases the record `a6` in the page. The test, not the server, responds to the erasure and to the waits for it. */
async function eraseWithResponses(page: Page, server: Server, respondToWait: (route: Route) => Promise<void>): Promise<void> {
  await page.route("**/records/a6", (route) =>
    route.request().method() === "DELETE"
      ? route.fulfill({ status: 202, json: { watermark: "w1", erasure: "receipt-1", curation: {} } })
      : route.fallback(),
  );
  await page.route((url) => url.searchParams.has("wait_ms"), respondToWait);
  await page.goto(`${server.url}/#/demo/erasure?record=a6`);
  await page.getByLabel(/^Type a6/).fill("a6");
  await page.getByRole("button", { name: "Erase permanently" }).click();
}

const TOO_LATE = { type: "urn:mnemic:problem:timeout", title: "Not in time", status: 504, detail: "not searchable yet" };

test("an erasure is reported only when it is written, however long that takes", async ({ page, sample }) => {
  let waits = 0;
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  await eraseWithResponses(page, sample, async (route) => {
    waits += 1;
    if (waits === 1) return route.fulfill({ status: 504, json: TOO_LATE });
    await held;
    return route.fulfill({ json: { written: true } });
  });
  await expect.poll(() => waits).toBe(2);
  await expect(page.getByText("Being erased…")).toBeVisible();
  await expect(page.getByText("Erased. Receipt:")).toHaveCount(0);
  release();
  await expect(page.getByText("Erased. Receipt: receipt-1")).toBeVisible();
});

test("an erasure that the server gave up is a failure that names its dead letter", async ({ page, sample }) => {
  const detail = "the write failed and is kept as dead letter letter-1";
  await eraseWithResponses(page, sample, (route) =>
    route.fulfill({ status: 504, json: { ...TOO_LATE, detail, dead_letter: "letter-1" } }),
  );
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("The server could not make this change");
  await expect(alert).toContainText("dead letter letter-1");
  await expect(alert.getByRole("link", { name: "Open Operations" })).toHaveAttribute("href", "#/~/operations");
  await expect(page.getByText("Being erased…")).toHaveCount(0);
  await expect(page.getByText("Erased. Receipt:")).toHaveCount(0);
  await expectAccessible(page);
});

test("an audit log that is not read to its end says so", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/curation`);
  await expect(page.getByRole("heading", { name: "Audit log" })).toBeVisible();
  await expect(page.locator("main .busy")).toHaveCount(0);
  await expect(page.getByText("this list is not complete")).toHaveCount(0);
  let acts = 0;
  await page.route(
    (url) => url.pathname.endsWith("/curations"),
    (route) => {
      const items = Array.from({ length: 1_000 }, () => {
        acts += 1;
        return { id: `act-${acts}`, at: "2025-01-01T00:00:00Z", by: "", act: { kind: "pin_unit", unit: "unit-1" } };
      });
      return route.fulfill({ json: { items, next: "more" } });
    },
  );
  await page.reload();
  await expect(page.getByText("Only 20,000 entries were read: this list is not complete.")).toBeVisible();
  const lines = page.getByRole("listitem").filter({ hasText: "pinned a unit" });
  await expect(lines).toHaveCount(100);
  await page.getByRole("button", { name: "Show more" }).first().click();
  await expect(lines).toHaveCount(200);
});

test("a key that may only read cannot erase", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/#/demo/erasure`);
  await page.getByLabel("Key").fill("reader-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("Erasing needs a key with the right")).toBeVisible();
  await expect(page.getByRole("button", { name: "Preview" })).toHaveCount(0);
});

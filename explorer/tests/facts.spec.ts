import { expect, expectAccessible, test } from "./fixtures";
import { Server } from "./server";

test("current and former facts are shown, at any moment", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/facts`);
  const maya = page.locator(".subject", { has: page.getByRole("heading", { name: "Maya" }) });
  await expect(maya.getByRole("link", { name: "Linden Street" })).toBeVisible();
  await expect(maya.getByRole("link", { name: "Mill Lane" })).toHaveClass(/past/);
  await expectAccessible(page);
  const slider = page.getByLabel(/^As known/);
  await slider.fill("3");
  await expect(maya.getByRole("link", { name: "Linden Street" })).toHaveCount(0);
  await expect(maya.getByRole("link", { name: "Mill Lane" })).not.toHaveClass(/past/);
  await slider.press("End");
  await expect(maya.getByRole("link", { name: "Linden Street" })).toBeVisible();
  await page.getByLabel("Only current facts").check();
  await expect(maya.getByRole("link", { name: "Mill Lane" })).toHaveCount(0);
  await page.getByLabel("Filter").fill("nothing like this");
  await expect(page.getByText("No fact fits")).toBeVisible();
});

test("a fact shows its times, its other values and its source", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/facts`);
  await page.getByRole("link", { name: "Mill Lane" }).click();
  const panel = page.locator(".panel");
  await expect(panel.getByText("Maya lives on Mill Lane").first()).toBeVisible();
  await expect(panel.getByText("5 Oct 2025, 07:20").first()).toBeVisible();
  await expect(panel.getByRole("link", { name: "Linden Street" }).first()).toBeVisible();
  await expect(panel.getByText("Poor Ilse.").first()).toBeVisible();
  await expectAccessible(page);
  await panel.getByRole("link", { name: "a later fact" }).click();
  await expect(panel.getByText("Maya lives on Linden Street").first()).toBeVisible();
});

test("a fact shows whether rules or a language model read it", async ({ page, sample }) => {
  await page.route("**/v1/**/facts*", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { items?: { object: string; origin?: string }[] };
    const read = body.items?.map((it) => (it.object === "walnuts" ? { ...it, origin: "model" } : it));
    await route.fulfill({ response, json: { ...body, items: read } });
  });
  await page.goto(`${sample.url}/#/demo/facts`);
  await expect(page.getByRole("listitem").filter({ hasText: "walnuts" }).getByText("language model")).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: "Mill Lane" }).getByText("language model")).toHaveCount(0);
  await page.getByLabel("Read by").selectOption("model");
  await expect(page.getByRole("link", { name: "Mill Lane" })).toHaveCount(0);
  await page.getByRole("link", { name: "walnuts" }).click();
  await expect(page.locator(".panel").getByText("rules", { exact: true })).toBeVisible();
});

test("a fact is retired, undone and corrected", async ({ page }) => {
  const own = await Server.start();
  try {
    await own.rememberSample();
    await page.goto(`${own.url}/#/demo/facts`);
    await page.getByRole("link", { name: "walnuts" }).click();
    const panel = page.locator(".panel");
    await panel.getByRole("button", { name: "Retire" }).click();
    await expect(panel.getByText("Retired", { exact: true })).toBeVisible();
    await page.goto(`${own.url}/#/demo/curation`);
    await expect(page.getByText("retired a fact")).toBeVisible();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText("undone").first()).toBeVisible();
    await page.goto(`${own.url}/#/demo/facts`);
    await page.getByRole("link", { name: "walnuts" }).click();
    await panel.getByLabel("Correct value").fill("hazelnuts");
    await panel.getByLabel("Reason").fill("she said hazelnuts");
    await panel.getByRole("button", { name: "Correct" }).click();
    await expect(page.locator(".subject").getByRole("link", { name: "hazelnuts" })).toBeVisible();
  } finally {
    await own.end();
  }
});

test("a change that the server gave up is a failure and is not reported as done", async ({ page, sample }) => {
  await page.route(
    (url) => url.pathname.endsWith("/curations"),
    (route) => route.fulfill({ status: 202, json: { watermark: "w1", curation: { id: "act-1" } } }),
  );
  const problem = { title: "Not in time", status: 504, detail: "kept as dead letter letter-1", dead_letter: "letter-1" };
  await page.route(
    (url) => url.searchParams.has("wait_ms"),
    (route) => route.fulfill({ status: 504, json: problem }),
  );
  await page.goto(`${sample.url}/#/demo/facts`);
  await page.getByRole("link", { name: "walnuts" }).click();
  const panel = page.locator(".panel");
  await panel.getByRole("button", { name: "Retire" }).click();
  await expect(panel.getByRole("alert")).toContainText("dead letter letter-1");
  await expect(panel.getByText("Done: Retire.")).toHaveCount(0);
  await page.unrouteAll();
  await page.route(
    (url) => url.pathname.endsWith("/curations"),
    (route) => route.fulfill({ status: 202, json: { watermark: "w1", curation: { id: "act-1" } } }),
  );
  await page.route(
    (url) => url.searchParams.has("wait_ms"),
    (route) => route.fulfill({ json: { written: true } }),
  );
  await panel.getByRole("button", { name: "Retire" }).click();
  await expect(panel.getByText("Done: Retire.")).toBeVisible();
});

test("a change is confirmed after failures that pass, and another failure says that it is not confirmed", async ({ page, sample }) => {
  await page.route(
    (url) => url.pathname.endsWith("/curations"),
    (route) => route.fulfill({ status: 202, json: { watermark: "w1", curation: { id: "act-1" } } }),
  );
  const statuses = [429, 502, 503];
  await page.route(
    (url) => url.searchParams.has("wait_ms"),
    (route) => {
      const status = statuses.shift();
      return route.fulfill(status ? { status, headers: { "retry-after": "0" } } : { json: { written: true } });
    },
  );
  await page.goto(`${sample.url}/#/demo/facts`);
  await page.getByRole("link", { name: "walnuts" }).click();
  const panel = page.locator(".panel");
  await panel.getByRole("button", { name: "Retire" }).click();
  await expect(panel.getByText("Done: Retire.")).toBeVisible({ timeout: 15_000 });
  expect(statuses).toEqual([]);
  statuses.push(500);
  await panel.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(panel.getByRole("alert")).toContainText("accepted, but it is not confirmed");
});

test("a wait for a change ends when its view is left", async ({ page, sample }) => {
  await page.route(
    (url) => url.pathname.endsWith("/curations"),
    (route) => route.fulfill({ status: 202, json: { watermark: "w1", curation: { id: "act-1" } } }),
  );
  let waits = 0;
  await page.route(
    (url) => url.searchParams.has("wait_ms"),
    (route) => {
      waits += 1;
      return route.fulfill({ status: 503 });
    },
  );
  await page.goto(`${sample.url}/#/demo/facts`);
  await page.getByRole("link", { name: "walnuts" }).click();
  await page.locator(".panel").getByRole("button", { name: "Retire" }).click();
  await expect.poll(() => waits).toBe(2);
  await page.getByRole("link", { name: "Ask" }).click();
  await expect(page.getByRole("heading", { name: "Ask" })).toBeVisible();
  const before = waits;
  await page.waitForTimeout(3_000);
  expect(waits).toBe(before);
});

test("a key that may only read cannot change a fact", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/#/demo/facts`);
  await page.getByLabel("Key").fill("reader-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Mill Lane" }).click();
  await expect(page.locator(".panel").getByText("Poor Ilse.").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Retire" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Correct" })).toHaveCount(0);
});

test("a wrong clock of the browser changes nothing", async ({ page, sample }) => {
  await page.clock.setSystemTime(new Date("2001-01-01T00:00:00Z"));
  await page.goto(`${sample.url}/#/demo/facts`);
  const maya = page.locator(".subject", { has: page.getByRole("heading", { name: "Maya" }) });
  await expect(maya.getByRole("link", { name: "Linden Street" })).not.toHaveClass(/past/);
  await expect(maya.getByRole("link", { name: "Mill Lane" })).toHaveClass(/past/);
});

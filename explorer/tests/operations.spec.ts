import { expect, expectAccessible, test } from "./fixtures";
import { reading } from "./readings";
import { Server } from "./server";
import { manySpaces } from "./spaces";

test("an admin key sees sizes, progress, dead letters and its rights", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/`);
  await page.getByLabel("Key").fill("owner-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Operations" }).click();
  await expect(page.getByRole("row", { name: /demo 41/ })).toBeVisible();
  await expect(page.getByText("up to date").first()).toBeVisible();
  await expect(page.getByText("There are no dead letters")).toBeVisible();
  await expect(page.getByText("owner", { exact: true })).toBeVisible();
  await expectAccessible(page);
});

test("a load that takes longer than the time between two loads appears", async ({ page, sample }) => {
  await page.route(
    (url) => url.pathname === "/v1/spaces",
    async (route) => {
      await new Promise((done) => setTimeout(done, 5_000));
      await route.continue();
    },
  );
  await page.goto(`${sample.url}/#/~/operations`);
  await expect(page.getByText("up to date").first()).toBeVisible({ timeout: 30_000 });
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("progress and readings of a space that the lists do not show are opened by its name", async ({ page, sample }) => {
  await page.route(
    (url) => url.pathname === "/v1/spaces",
    (route) => route.fulfill({ json: manySpaces(route) }),
  );
  await page.route("**/v1/spaces/many-*/progress", (route) => route.fulfill({ json: { written: true, backlog: 0 } }));
  await page.goto(`${sample.url}/#/~/operations`);
  const spaces = page.locator(".card", { has: page.getByRole("heading", { name: "Spaces", exact: true }) });
  await expect(spaces.getByText("Only the first 50 spaces are shown.")).toBeVisible();
  await spaces.getByLabel("Name of another space").fill("demo");
  await spaces.getByRole("button", { name: "Open", exact: true }).click();
  await expect(spaces.getByRole("row", { name: /demo 41/ })).toBeVisible();
  const readings = page.locator(".card", { has: page.getByRole("heading", { name: "Readings of language models" }) });
  await expect(readings.getByText("Only the first 200 spaces are shown.")).toBeVisible();
  await readings.getByLabel("Name of another space").fill("demo");
  await readings.getByRole("button", { name: "Open", exact: true }).click();
  await expect(readings.getByLabel("Space", { exact: true })).toHaveValue("demo");
  await expect(readings.getByText("Waiting", { exact: true })).toBeVisible();
});

test("a key that may only read has no operations", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/`);
  await page.getByLabel("Key").fill("reader-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("link", { name: "demo" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Operations" })).toHaveCount(0);
  await page.goto(`${guarded.url}/#/~/operations`);
  await expect(page.getByRole("alert")).toContainText("admin");
});

test("readings of language models show their state, their cost, and the parts that were left out", async ({ page }) => {
  const own = await Server.start();
  try {
    await own.rememberSample();
    const done = reading("kitchen", "m1", { leftOut: [{ what: "Maya owns a boat", why: "no record says so" }] });
    const failed = reading("kitchen", "m2", { failure: "the model gave no JSON" });
    await own.call("PUT", "/v1/spaces/demo/readings", { items: [done, failed] });
    await page.goto(`${own.url}/#/~/operations`);
    const card = page.locator(".card", { has: page.getByRole("heading", { name: "Readings of language models" }) });
    await expect(card.getByText("the model gave no JSON")).toBeVisible();
    await expect(card.getByText("2 calls, 2,000 tokens read, 200 written, 3.0 s").first()).toBeVisible();
    await card.getByText("Left out (1)").click();
    await expect(card.getByText("Maya owns a boat")).toBeVisible();
    await expect(card.getByText("no record says so")).toBeVisible();
    await expectAccessible(page);
    await card.getByLabel("Show").selectOption("failed");
    await expect(card.getByText("Left out (1)")).toHaveCount(0);
    await expect(card.getByText("the model gave no JSON")).toBeVisible();
    await card.getByLabel("Show").selectOption("leftOut");
    await expect(card.getByText("the model gave no JSON")).toHaveCount(0);
    await card.getByRole("link", { name: "m1" }).click();
    await expect(page.locator(".panel")).toContainText("The keys to the bakery are mine");
  } finally {
    await own.end();
  }
});

import { expect, expectAccessible, test } from "./fixtures";

test("the graph shows people and things, and opens them", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/graph`);
  await expect(page.getByRole("img", { name: /A graph of \d+ nodes/ })).toBeVisible();
  await expect(page.locator(".drawing canvas").first()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Maya", exact: true }).click();
  const panel = page.locator(".panel");
  await expect(panel.getByText("lives on").first()).toBeVisible();
  await panel.getByRole("link", { name: "Linden Street" }).click();
  await expect(panel.getByRole("heading", { name: "Linden Street" })).toBeVisible();
  await expect(panel.getByRole("link", { name: "Maya" })).toBeVisible();
  await panel.getByText("Events, causes and effects").click();
  await expect(panel.getByText("part of").first()).toBeVisible();
  await expectAccessible(page);
});

test("the graph is searched, restricted by kind and seen at a moment", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/graph`);
  const names = page.locator(".tags");
  await expect(names.getByRole("link", { name: "walnuts" })).toBeVisible();
  await page.getByLabel("Values").uncheck();
  await expect(names.getByRole("link", { name: "walnuts" })).toHaveCount(0);
  await page.getByLabel("Values").check();
  await page.getByLabel("Find a name").fill("maya");
  await expect(names.getByRole("link", { name: "walnuts" })).toHaveCount(0);
  await expect(names.getByRole("link", { name: "Maya" })).toBeVisible();
  await page.getByLabel("Find a name").fill("");
  await page.getByLabel("As of").fill("2025-03-20T00:00");
  await expect(names.getByRole("link", { name: "Linden Street" })).toHaveCount(0);
  await page.getByLabel("As of").fill("2001-01-01T00:00");
  await expect(page.getByText("Nothing to draw")).toBeVisible();
});

test("the graph is usable with 5,000 nodes", async ({ page, sample }) => {
  test.setTimeout(90_000);
  const id = (at: number) => `00000000-0000-5000-8000-${String(at).padStart(12, "0")}`;
  const entities = Array.from({ length: 5000 }, (_, at) => ({ id: id(at), name: `name ${at}`, kind: "other", mentions: 1 }));
  const facts = entities.map((it, at) => ({
    id: id(10_000 + at),
    subject: it.name,
    entity: it.id,
    predicate: "knows",
    object: `name ${Math.floor(at / 3)}`,
    aspect: "relation",
    valid_from: { start: "2025-01-01T00:00:00Z", end: "2025-01-01T00:00:00Z", precision: "instant", words: "" },
    recorded_at: "2025-01-01T00:00:00Z",
    source: id(20_000 + at),
    confidence: 1,
  }));
  await page.route("**/entities?*", (route) => route.fulfill({ json: { items: entities, next: null } }));
  await page.route("**/facts?*", (route) => route.fulfill({ json: { items: facts, next: null } }));
  await page.goto(`${sample.url}/#/demo/graph`);
  await expect(page.getByText("5,000 nodes, 4,999 facts between them.")).toBeVisible({ timeout: 60_000 });
  await page.getByLabel("Find a name").fill("name 4999");
  await page.locator(".tags").getByRole("link", { name: "name 4999" }).click();
  await expect(page.locator(".panel").getByText("knows").first()).toBeVisible();
});

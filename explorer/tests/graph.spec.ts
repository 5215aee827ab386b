import type { Request, Route } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";
import { FRAMES_LEAST, framesWhileDragging } from "./frames";

test("the graph shows people and things, and opens them", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/graph`);
  await expect(page.getByRole("img", { name: /A graph of \d+ nodes/ })).toBeVisible();
  await expect(page.locator(".drawing canvas").first()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Maya", exact: true }).click();
  const panel = page.locator(".panel");
  await expect(panel.getByText("lives on").first()).toBeVisible();
  await panel.getByRole("link", { name: "Linden Street", exact: true }).click();
  await expect(panel.getByRole("heading", { name: "Linden Street", exact: true })).toBeVisible();
  await expect(panel.getByRole("link", { name: "Maya" })).toBeVisible();
  await panel.getByText("Neighbouring lines and relations").click();
  await expect(panel.getByText("part of").first()).toBeVisible();
  await expectAccessible(page);
});

test("the graph contains events, which expand to their lines, causes and effects", async ({ page, sample }) => {
  const common = { session: "bridge", observed_at: "2025-05-01T08:00:00Z" };
  await sample.remember("causes", [
    { ...common, id: "c1", actor: "Ann", text: "The old bridge over the river collapsed last night." },
    { ...common, id: "c2", actor: "Ben", text: "That's why I missed the concert in Lyon." },
  ]);
  await sample.derived("causes");
  await page.goto(`${sample.url}/#/causes/graph`);
  const names = page.locator(".tags");
  await names.getByRole("link", { name: /bridge/ }).first().click();
  const panel = page.locator(".panel");
  await expect(panel.getByText("Events", { exact: true })).toBeVisible();
  await expect(panel.getByText("takes part").first()).toBeVisible();
  await panel.getByRole("button", { name: "Expand" }).click();
  await names.getByRole("link", { name: /That's why I missed/ }).click();
  await expect(panel.getByText(/^causes/).first()).toBeVisible();
  await expect(panel.getByRole("link", { name: /The old bridge over the river/ })).toBeVisible();
  await expect(panel.getByRole("link", { name: "c2" })).toHaveAttribute("href", "#/causes/timeline/c2");
  await expectAccessible(page);
  await page.getByLabel("Lines").uncheck();
  await expect(names.getByRole("link", { name: /That's why I missed/ })).toHaveCount(0);
  await expect(page.getByText("This node is not in the graph")).toBeVisible();
  await page.getByLabel("Lines").check();
  await page.getByLabel("Until", { exact: true }).fill("2025-05-01T00:00");
  await expect(names.getByRole("link", { name: /bridge/ })).toHaveCount(0);
  await page.getByLabel("Until", { exact: true }).fill("");
  await page.getByRole("button", { name: "Remove the expanded nodes" }).click();
  await expect(names.getByRole("link", { name: /That's why I missed/ })).toHaveCount(0);
});

test("nodes that are expanded for one moment do not appear at another", async ({ page, sample }) => {
  const common = { session: "bridge", observed_at: "2025-05-01T08:00:00Z" };
  await sample.remember("moments", [
    { ...common, id: "m1", actor: "Ann", text: "The old bridge over the river collapsed last night." },
    { ...common, id: "m2", actor: "Ben", text: "That's why I missed the concert in Lyon." },
  ]);
  await sample.derived("moments");
  const isExpansion = (it: Request) => it.url().endsWith("/tools/expand_unit");
  const finished = Promise.race([
    page.waitForEvent("requestfinished", isExpansion),
    // The page may end the request before it is released.
    page.waitForEvent("requestfailed", isExpansion),
  ]);
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  await page.route(
    (url) => url.pathname.endsWith("/tools/expand_unit"),
    async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    },
  );
  await page.goto(`${sample.url}/#/moments/graph`);
  await page.locator(".tags").getByRole("link", { name: /bridge/ }).first().click();
  const expand = page.locator(".panel").getByRole("button", { name: "Expand" });
  await expand.click();
  await expect(page.locator(".panel").getByRole("button", { name: "Working…" })).toBeVisible();
  await page.getByLabel("As of").fill("2025-06-01T00:00");
  await expect(expand).toBeEnabled();
  release();
  await finished;
  const collapse = page.getByRole("button", { name: "Remove the expanded nodes" });
  await expect(collapse).toHaveCount(0);
  await expand.click();
  await expect(collapse).toBeVisible();
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
  await expect(names.getByRole("link", { name: "walnuts" })).toHaveCount(0);
  await expect(names.getByRole("link", { name: "Maya" })).toBeVisible();
  await page.getByLabel("As of").fill("2001-01-01T00:00");
  await expect(page.getByText("Nothing to draw")).toBeVisible();
});

test("the graph says which lists it has not read to their end", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/graph`);
  const picture = page.getByRole("img", { name: /A graph of \d+ nodes/ });
  await expect(picture).toBeVisible();
  const notices = page.locator("main .notice");
  await expect(notices).toHaveCount(0);
  // The items of the sample, repeated; the list goes on after them.
  const repeatItems = (count: number) => async (route: Route) => {
    const { items }: { items: unknown[] } = await (await route.fetch()).json();
    const repeated = Array.from({ length: count }, (_, at) => items[at % items.length]);
    await route.fulfill({ json: { items: repeated, next: "more" } });
  };
  await page.route("**/v1/**/entities?*", repeatItems(5_000));
  await page.route("**/v1/**/facts?*", repeatItems(10_000));
  await page.route("**/v1/**/units?*", repeatItems(5_000));
  await page.reload();
  await expect(picture).toBeVisible();
  await expect(notices).toHaveText([
    "Only the first 5,000 names were read.",
    "Only the first 10,000 facts were read: the links of the others are missing.",
    "Only the events among the first 5,000 units were read.",
  ]);
  await expectAccessible(page);
});

test("the graph is usable with 5,000 nodes", { tag: "@measured" }, async ({ page, sample }) => {
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
  await page.route("**/v1/**/entities?*", (route) => route.fulfill({ json: { items: entities, next: null } }));
  await page.route("**/v1/**/facts?*", (route) => route.fulfill({ json: { items: facts, next: null } }));
  await page.goto(`${sample.url}/#/demo/graph`);
  await expect(page.getByText("5,000 nodes, 4,999 links between them.")).toBeVisible({ timeout: 60_000 });
  const box = await page.locator(".drawing").boundingBox();
  if (!box) throw new Error("the drawing has no place");
  // The layout pauses while the user drags.
  await page.waitForTimeout(1_000);
  const frames = await framesWhileDragging(page, { x: box.x + 620, y: box.y + 40 });
  console.log(`graph while dragging, 5,000 nodes: ${frames.toFixed(0)} frames/s`);
  expect(frames).toBeGreaterThan(FRAMES_LEAST);
  await page.getByLabel("Find a name").fill("name 4999");
  await page.locator(".tags").getByRole("link", { name: "name 4999" }).click();
  await expect(page.locator(".panel").getByText("knows").first()).toBeVisible();
});

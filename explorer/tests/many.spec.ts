import { expect, expectAccessible, expectFits, test } from "./fixtures";
import { framesWhileDragging } from "./frames";
import { type NewRecord, Server } from "./server";

/** Records of the large memory; set fewer for a binary without optimisations. */
const RECORDS = Number(process.env.MNEMIC_EXPLORER_RECORDS ?? 20_000);
const SESSIONS = 200;
const PEOPLE = ["Ann", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Lea"];
const THINGS = ["fern", "piano", "bicycle", "cello", "garden", "boat", "lamp", "kettle"];

function manyRecords(): NewRecord[] {
  const start = Date.UTC(2023, 0, 1);
  return Array.from({ length: RECORDS }, (_, at) => ({
    id: `r${at}`,
    session: `session ${at % SESSIONS}`,
    actor: PEOPLE[at % PEOPLE.length],
    observed_at: new Date(start + at * 3_700_000).toISOString(),
    text: `I repaired the ${THINGS[at % THINGS.length]} number ${at} today.`,
  }));
}

test.describe.serial("a memory of many records", () => {
  let server: Server;
  test.beforeAll(async () => {
    test.setTimeout(240_000);
    server = await Server.start();
    await server.remember("many", manyRecords());
  });
  test.afterAll(() => server.end());

  test("the timeline shows all of them and moves smoothly", async ({ page }) => {
    test.setTimeout(90_000);
    await page.goto(`${server.url}/#/many/timeline`);
    await expect(page.getByText("in this span")).toBeVisible({ timeout: 60_000 });
    await expect(page.getByText(`${RECORDS.toLocaleString("en")} in all`)).toBeVisible();
    await expect(page.getByRole("img", { name: /8 lanes/ })).toBeVisible();
    const box = await page.getByRole("img", { name: /8 lanes/ }).boundingBox();
    if (!box) throw new Error("the picture has no place");
    await page.getByRole("button", { name: "Zoom in" }).click();
    const frames = await framesWhileDragging(page, { x: box.x + 600, y: box.y + 60 });
    console.log(`timeline while dragging, ${RECORDS} records: ${frames.toFixed(0)} frames/s`);
    await expectFits(page);
  });

  test("every view opens", async ({ page }) => {
    test.setTimeout(120_000);
    for (const view of ["ask?q=Who+repaired+the+cello%3F", "facts", "topics", "pages", "curation", "erasure"]) {
      await page.goto(`${server.url}/#/many/${view}`);
      await expect(page.locator("main h1")).toBeVisible();
      await expect(page.locator("main .busy")).toHaveCount(0, { timeout: 60_000 });
      await expect(page.locator("main .trouble")).toHaveCount(0);
    }
    await page.goto(`${server.url}/#/many/ask?q=Who+repaired+the+cello%3F`);
    await expect(page.locator(".verdict")).toBeVisible();
    await expectAccessible(page);
  });
});

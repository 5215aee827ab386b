import { expect, expectAccessible, test } from "./fixtures";

test("records stand in time and open with what was made of them", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/timeline`);
  await expect(page.getByText("41 in all, 41 in this span.")).toBeVisible();
  await expect(page.getByRole("img", { name: /41 marks in 2 lanes/ })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect(page.getByText("41 in all, 41 in this span.")).toHaveCount(0);
  await page.getByRole("button", { name: "Whole" }).click();
  await page.getByRole("link", { name: "5 Oct 2025, 07:20" }).click();
  const panel = page.locator(".panel");
  await expect(panel.getByText("I moved! I live on Linden Street now").first()).toBeVisible();
  await expect(panel.getByText("Event", { exact: true })).toBeVisible();
  await expect(panel.getByRole("link", { name: "Maya lives on Linden Street" })).toBeVisible();
  await expect(panel.getByText("part of").first()).toBeVisible();
  await expectAccessible(page);
});

test("records are filtered by session, actor, kind and time, and events are shown", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/timeline?session=autumn`);
  await expect(page.getByText(/^\d+ in all/)).toBeVisible();
  await expect(page.getByText("41 in all")).toHaveCount(0);
  await page.getByLabel("Session").fill("");
  await page.getByLabel("Actor").fill("nobody");
  await expect(page.getByText("No record fits")).toBeVisible();
  await page.getByLabel("Actor").fill("");
  await page.getByLabel("Kind").selectOption("visual");
  await expect(page.getByText("No record fits")).toBeVisible();
  await page.getByLabel("Kind").selectOption("");
  await page.getByLabel("Show events").check();
  await expect(page.getByText("52 in all")).toBeVisible();
  await page.getByLabel("Actor").fill("nobody");
  await expect(page.getByText("No record fits")).toBeVisible();
  await page.getByLabel("Actor").fill("");
  await expect(page.getByText("52 in all")).toBeVisible();
  await page.getByLabel("Until", { exact: true }).fill("2001-01-01T00:00");
  await expect(page.getByText("No record fits")).toBeVisible();
  await page.getByLabel("Until", { exact: true }).fill("");
  await expect(page.getByText("52 in all")).toBeVisible();
  await page.getByLabel("From", { exact: true }).fill("2099-01-01T00:00");
  await expect(page.getByText("No record fits")).toBeVisible();
});

test("events that are not read to their end are reported", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/timeline`);
  await page.getByLabel("Show events").check();
  await expect(page.getByText("52 in all")).toBeVisible();
  await expect(page.getByText("Only the events among")).toHaveCount(0);
  const unit = { id: "unit-1", grain: "turn", records: [], external_ids: [], observed_at: "2025-01-01T00:00:00Z" };
  await page.route(
    (url) => url.pathname.endsWith("/units"),
    (route) => route.fulfill({ json: { items: Array.from({ length: 1_000 }, () => unit), next: "more" } }),
  );
  await page.getByLabel("Show events").uncheck();
  await page.getByLabel("Show events").check();
  await expect(page.getByText("Only the events among 10,000 units were read")).toBeVisible();
});

test("each version of a record opens separately, and an erasure counts all of them", async ({ page, sample }) => {
  const first = { id: "note", actor: "Ann", observed_at: "2025-01-01T08:00:00Z", text: "The meeting is on Monday." };
  const second = { actor: "Ann", observed_at: "2025-02-01T08:00:00Z", text: "The meeting is on Friday." };
  await sample.remember("versions", [first]);
  const { watermark } = await sample.call<{ watermark: string }>("PUT", "/v1/spaces/versions/records/note", second);
  await sample.call("GET", `/v1/spaces/versions/progress?watermark=${watermark}&wait_ms=20000`);
  await page.goto(`${sample.url}/#/versions/timeline`);
  await expect(page.getByText("2 in all")).toBeVisible();
  const text = page.locator(".panel blockquote");
  await page.getByRole("link", { name: "1 Jan 2025, 08:00" }).click();
  await expect(text).toContainText("Monday");
  await page.getByRole("link", { name: "1 Feb 2025, 08:00" }).click();
  await expect(text).toContainText("Friday");
  await page.goto(`${sample.url}/#/versions/timeline/note`);
  await expect(text).toContainText("Friday");
  await page.goto(`${sample.url}/#/versions/erasure?record=note`);
  const records = page.locator(".pairs > div").filter({ has: page.getByText("Records", { exact: true }) });
  await expect(records.locator("dd")).toHaveText("2");
});

test("the picture zooms from years to minutes and back", async ({ page, sample }) => {
  const times = ["2015-01-01T08:00:00Z", "2025-01-01T08:00:00Z", "2025-01-01T08:03:00Z"];
  await sample.remember("years", times.map((observed_at, at) => ({ id: `y${at}`, actor: "Ann", observed_at, text: `Note ${at}.` })));
  await page.goto(`${sample.url}/#/years/timeline`);
  await expect(page.getByText("3 in all, 3 in this span.")).toBeVisible();
  await expect(page.getByText(/The picture shows \d+ \w+ 2014, .* to \d+ \w+ 2025/)).toBeVisible();
  await page.getByRole("link", { name: "1 Jan 2025, 08:00" }).click();
  const minutes = page.getByText(/The picture shows 1 Jan 2025, 0[78]:\d\d to 1 Jan 2025, 08:\d\d/);
  const zoomIn = page.getByRole("button", { name: "Zoom in" });
  for (let step = 0; step < 40; step += 1) await zoomIn.click();
  await expect(minutes).toBeVisible();
  await expect(page.locator(".rows li")).toHaveCount(1);
  await expect(page.locator(".rows li")).toContainText("Note 1.");
  const picture = page.getByRole("img", { name: /3 marks/ });
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  if (!box) throw new Error("the picture has no place");
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  for (let turn = 0; turn < 12; turn += 1) await page.mouse.wheel(0, 400);
  await expect(minutes).toHaveCount(0);
  await page.getByRole("button", { name: "Whole" }).click();
  await expect(page.getByText("3 in all, 3 in this span.")).toBeVisible();
});

test("after a zoom, another filter shows all of its records", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/timeline`);
  await expect(page.getByText("41 in all, 41 in this span.")).toBeVisible();
  const zoomIn = page.getByRole("button", { name: "Zoom in" });
  for (let step = 0; step < 8; step += 1) await zoomIn.click();
  await expect(page.getByText("41 in all, 41 in this span.")).toHaveCount(0);
  await page.getByLabel("Session").fill("autumn");
  const count = page.getByText(/^(\d+) in all, \1 in this span\./);
  await expect(count).toBeVisible();
  await expect(page.getByText("41 in all")).toHaveCount(0);
  await zoomIn.click();
  await expect(count).toHaveCount(0);
  await page.getByLabel("Actor").fill("nobody");
  await expect(page.getByText("No record fits")).toBeVisible();
  await page.getByLabel("Actor").fill("");
  await expect(count).toBeVisible();
});

test("a mark in the picture opens its record", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/timeline`);
  const picture = page.getByRole("img", { name: /41 marks/ });
  const box = await picture.boundingBox();
  if (!box) throw new Error("the picture has no place");
  await page.mouse.click(box.x + box.width * (1 - 0.02 / 1.04), box.y + 25);
  await expect(page.locator(".panel")).toBeVisible();
});

test("a link to a record that does not exist says so", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/timeline/never-was`);
  await expect(page.locator(".panel").getByRole("alert")).toBeVisible();
  await expect(page.getByText("41 in all")).toBeVisible();
});

test("a link to an event that has no record of this name does not break the view", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/timeline/%E0%A4%A`);
  await expect(page.getByText("41 in all")).toBeVisible();
});

const TAGGED = [
  { id: "g1", actor: "Ann", text: "I sent the offer to Noor.", tags: ["work", "offer, sent"] },
  { id: "g2", actor: "Ann", text: "I repotted the fern.", tags: ["home"] },
  { id: "g3", actor: "Ann", text: "The printer is broken.", tags: ["work"] },
  { id: "g4", actor: "Ann", text: "It rained all day." },
];

test("records show their tags and are filtered by one, by keyboard and by its link", async ({ page, sample }) => {
  await sample.remember("tagged", TAGGED);
  await page.goto(`${sample.url}/#/tagged/timeline`);
  await expect(page.getByText("4 in all")).toBeVisible();
  const row = page.locator(".rows > li", { hasText: "I sent the offer" });
  await expect(row.getByRole("list", { name: "Tags" }).getByRole("listitem")).toHaveText(["offer, sent", "work"]);
  await expect(page.locator(".rows > li", { hasText: "It rained" }).getByRole("list")).toHaveCount(0);
  const offered = page.locator("datalist option");
  expect(await offered.evaluateAll((all) => all.map((it) => (it as HTMLOptionElement).value))).toEqual(["home", "offer, sent", "work"]);
  await expectAccessible(page);
  await page.getByLabel("Actor").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.type("work");
  await expect(page.getByText("2 in all")).toBeVisible();
  await expect(page.locator(".rows > li")).toHaveCount(2);
  await expect(offered).toHaveCount(3);
  await page.getByLabel("Show events").check();
  await expect(page.getByText("Events have no tags")).toBeVisible();
  await page.getByLabel("Tag", { exact: true }).fill("no such tag");
  await expect(page.getByText("No record fits")).toBeVisible();
  await page.goto(`${sample.url}/#/tagged/timeline/g1`);
  await page.locator(".panel").getByRole("link", { name: "offer, sent" }).click();
  await expect(page.getByLabel("Tag", { exact: true })).toHaveValue("offer, sent");
  await expect(page.getByText("1 in all")).toBeVisible();
  await page.locator(".rows > li a").first().click();
  await expect(page.locator(".panel blockquote")).toContainText("I sent the offer");
  await expect(page.getByLabel("Tag", { exact: true })).toHaveValue("offer, sent");
});

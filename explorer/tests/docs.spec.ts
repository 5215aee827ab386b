import { expect, expectAccessible, test } from "./fixtures";

test("the API is described with defaults, examples and types, and can be tried", async ({ page, sample }) => {
  await page.goto(`${sample.url}/docs`);
  await page.getByLabel("Filter").fill("query");
  await page.getByText("/v1/spaces/{space}/query").click();
  await expectAccessible(page);
  await page.getByRole("textbox", { name: "space", exact: true }).fill("demo");
  await page.getByLabel("Body").fill('{"question": "Where does Maya live?"}');
  await page.getByRole("button", { name: "Send POST" }).click();
  await expect(page.getByRole("status")).toContainText("Linden Street");
  await page.getByLabel("Body").fill("{");
  await page.getByRole("button", { name: "Send POST" }).click();
  await expect(page.getByRole("alert")).toContainText("The body is not JSON");
  await page.getByRole("link", { name: "QueryRequest" }).click();
  await page.getByRole("link", { name: "Budget" }).click();
  await expect(page.getByText("default 512")).toBeVisible();
  await expectAccessible(page);
});

test("a stream is read for a short time, and a new call ends the one before", async ({ page, sample }) => {
  const events = "/v1/spaces/{space}/events";
  await page.goto(`${sample.url}/docs`);
  await page.getByLabel("Filter").fill(events);
  await page.getByText(events).click();
  await page.getByRole("textbox", { name: "space", exact: true }).fill("demo");
  const send = page.getByRole("button", { name: "Send GET" });
  await send.click();
  await expect(page.getByRole("status")).toBeAttached();
  const ended = page.waitForEvent("requestfailed", (it) => it.url().endsWith("/events"));
  await send.click();
  await ended;
  await expect(page.getByText("The page stopped reading this stream")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

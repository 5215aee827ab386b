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

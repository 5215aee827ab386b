import { expect, expectAccessible, test } from "./fixtures";

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

test("a key that may only read has no operations", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/`);
  await page.getByLabel("Key").fill("reader-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("link", { name: "demo" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Operations" })).toHaveCount(0);
  await page.goto(`${guarded.url}/#/~/operations`);
  await expect(page.getByRole("alert")).toContainText("admin");
});

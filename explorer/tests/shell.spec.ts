import { expect, expectAccessible, expectFits, test } from "./fixtures";
import { Server } from "./server";
import { manySpaces } from "./spaces";

test("browsers get the explorer and other clients the index", async ({ page, sample }) => {
  const response = await page.goto(`${sample.url}/`);
  expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
  await expect(page.getByRole("heading", { name: "Spaces" })).toBeVisible();
  await expect(page.getByRole("link", { name: "demo" })).toBeVisible();
  await expectAccessible(page);
  const index = await fetch(`${sample.url}/`, { headers: { accept: "*/*" } });
  expect(((await index.json()) as { name: string }).name).toBe("mnemic");
});

test("a space is created and opened", async ({ page, sample }) => {
  await page.goto(`${sample.url}/`);
  await page.getByLabel("Name of a new space").fill("No good name!");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByLabel("Name of a new space").fill("created-here");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "created-here" }).click();
  await expect(page.getByRole("heading", { name: "Ask" })).toBeVisible();
  await expect(page).toHaveTitle("Ask · created-here · Mnemic");
});

test("a user signs in, and a wrong key is refused", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/#/demo/ask`);
  await expect(page.getByLabel("Key")).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel("Key").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("did not accept");
  await page.getByLabel("Key").fill("owner-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Ask" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Ask" })).toBeVisible();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("owner-key");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByLabel("Key")).toBeVisible();
});

test("a key with characters that a request cannot carry is refused", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/#/demo/ask`);
  await page.getByLabel("Key").fill("ключ");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("This cannot be a key");
  await page.getByLabel("Key").fill("a key with spaces");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("did not accept");
  await page.getByLabel("Key").fill("owner-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Ask" })).toBeVisible();
});

test("a key without rights sees no write actions and no other spaces", async ({ page, guarded }) => {
  await guarded.call("PUT", "/v1/spaces/secret");
  await page.goto(`${guarded.url}/`);
  await page.getByLabel("Key").fill("reader-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("link", { name: "demo" })).toBeVisible();
  await expect(page.getByLabel("Name of a new space")).toHaveCount(0);
  await expect(page.getByText("secret")).toHaveCount(0);
  await page.goto(`${guarded.url}/#/secret/ask?q=anything`);
  await expect(page.getByRole("alert")).toContainText("no space");
});

test("the page continues when the server is back", async ({ page, guarded }) => {
  await page.goto(`${guarded.url}/`);
  await page.getByLabel("Key").fill("owner-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("link", { name: "demo" })).toBeVisible();
  await guarded.stop();
  await page.getByLabel("Name of a new space").fill("while-away");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByText("The data shown may be out of date")).toBeVisible();
  await expect(page.getByRole("link", { name: "demo" })).toBeVisible();
  await guarded.run();
  await expect(page.getByText("The data shown may be out of date")).toHaveCount(0);
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("link", { name: "while-away" })).toBeVisible();
});

test("a view that is opened while the server is away appears when it is back", async ({ page }) => {
  const own = await Server.start();
  try {
    await own.rememberSample();
    await page.goto(`${own.url}/#/demo/ask`);
    await expect(page.getByRole("heading", { name: "Ask" })).toBeVisible();
    await own.stop();
    await page.getByRole("link", { name: "Facts" }).click();
    await expect(page.getByText("The server does not answer", { exact: true })).toBeVisible();
    await own.run();
    await expect(page.getByRole("link", { name: "Mill Lane" })).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  } finally {
    await own.end();
  }
});

test("a view whose file is missing after an update of the server asks the user to reload", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask`);
  await expect(page.getByRole("heading", { name: "Ask" })).toBeVisible();
  await page.route("**/assets/facts-*.js", (route) => route.fulfill({ status: 404 }));
  await page.getByRole("link", { name: "Facts" }).click();
  await expect(page.getByRole("alert")).toContainText("This view could not be loaded");
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await expect(page.getByRole("link", { name: "Mill Lane" })).toBeVisible();
});

test("a space that the lists do not show is opened by its name", async ({ page, sample }) => {
  await page.goto(`${sample.url}/`);
  await expect(page.getByRole("link", { name: "demo" })).toBeVisible();
  await expect(page.getByLabel("Name of another space")).toHaveCount(0);
  await page.route(
    (url) => url.pathname === "/v1/spaces",
    (route) => route.fulfill({ json: manySpaces(route) }),
  );
  await page.reload();
  await expect(page.getByText("Only the first 1,000 spaces are shown.")).toBeVisible();
  await page.getByLabel("Name of another space").fill("demo");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await expect(page).toHaveURL(/#\/demo\/ask$/);
  await page.getByLabel("Space", { exact: true }).selectOption("More spaces…");
  await expect(page.getByRole("heading", { name: "Spaces" })).toBeVisible();
});

test("a route that does not exist says so", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/nothing`);
  await expect(page.getByText("There is no such view")).toBeVisible();
  await page.goto(`${sample.url}/#/nobody/ask?q=who`);
  await expect(page.getByRole("alert")).toContainText("no space");
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });
  test("the page says what to do", async ({ page, sample }) => {
    await page.goto(`${sample.url}/`);
    // The test does not search for texts in this element.
    await expect(page.locator("noscript p")).toBeVisible();
    expect(await page.locator("noscript").innerText()).toContain("The explorer needs JavaScript");
    await expectFits(page);
  });
});

test("the text for browsers without JavaScript is not shown to others", async ({ page, sample }) => {
  await page.goto(`${sample.url}/`);
  await expect(page.getByRole("heading", { name: "Spaces" })).toBeVisible();
  await expect(page.locator("noscript")).toBeHidden();
});

import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";
import { HeldStream } from "./held";
import { Server } from "./server";

/** Counts the questions that the page sends. */
function countQuestions(page: Page): { sent: number } {
  const count = { sent: 0 };
  page.on("request", (it) => {
    if (it.method() === "POST" && it.url().endsWith("/query")) count.sent += 1;
  });
  return count;
}

test("a question shows answer, verdict, evidence and cost", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask`);
  await expect(page.getByText("Ask a question to see its evidence")).toBeVisible();
  await page.getByLabel("Question").fill("Where does Maya live?");
  await page.getByLabel("Budget in tokens").first().fill("120");
  await page.getByRole("button", { name: "Ask" }).click();
  await expect(page.getByText("Supported", { exact: true })).toBeVisible();
  await expect(page.locator(".answer")).toContainText("Linden Street");
  await expect(page.locator(".cost")).toContainText("of 120 tokens");
  await expect(page).toHaveURL(/q=Where\+does\+Maya/);
  await expectAccessible(page);
});

test("a line of evidence explains itself", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F`);
  const line = page.getByRole("button", { name: /I live on Linden Street now/ });
  await line.click();
  const open = page.locator("li.open");
  await expect(open.getByText("Features that changed its score")).toBeVisible();
  await expect(open.getByText("Proposed by")).toBeVisible();
  await expect(open.getByRole("link", { name: "o1" }).first()).toBeVisible();
  await expect(open.getByText("Smart. When did that happen?").first()).toBeVisible();
  await expect(open.getByRole("link", { name: "Maya lives on Linden Street" })).toBeVisible();
  await expectAccessible(page);
  await page.getByText(/^Left out/).click();
  await expect(page.getByText(/left out: /).first()).toBeVisible();
});

test("a question as of an earlier moment uses the memory of that moment", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F&as_of=2025-06-01T00:00`);
  await expect(page.locator(".answer")).toContainText("Mill Lane");
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F&as_of=2001-01-01T00:00`);
  await expect(page.getByText("Not enough evidence")).toBeVisible();
  await expect(page.getByText("Nothing in the memory fits this question.")).toBeVisible();
});

test("two budgets and moments are shown side by side", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F`);
  await page.getByLabel("Compare with another budget or moment").check();
  const second = page.getByRole("group", { name: "Second" });
  await second.getByLabel("Budget in tokens").fill("60");
  await second.getByLabel("As of").fill("2025-06-01T00:00");
  await page.getByRole("button", { name: "Ask" }).click();
  await expect(page.locator(".answer").nth(0)).toContainText("Linden Street");
  await expect(page.locator(".answer").nth(1)).toContainText("Mill Lane");
  await expect(page.locator(".cost").nth(1)).toContainText("of 60 tokens");
});

const WALK = "#/demo/ask?q=Who+is+Noor+and+where+did+she+work%3F&strategy=navigate";

test("a strategy shows its steps with their time, and its cost", async ({ page, sample }) => {
  await page.goto(`${sample.url}/${WALK}`);
  await expect(page.getByText("Steps of the strategy")).toBeVisible();
  await expect(page.locator(".path li").first()).toContainText(/\d+ found, \d+ kept · [\d.]+ m?s/);
  await expect(page.locator(".cost .steps").first()).toContainText(/ms/);
  await expectAccessible(page);
});

test("the steps of a strategy appear before its response", async ({ page, sample }) => {
  const held = new HeldStream(sample);
  const proxy = await sample.behind(held.respond);
  try {
    await page.goto(`${proxy.url}/${WALK}`);
    await expect(page.locator(".path li").first()).toBeVisible();
    await expect(page.getByText("Searching…")).toBeVisible();
    await expect(page.locator(".verdict")).toHaveCount(0);
    held.release();
    await expect(page.locator(".verdict")).toBeVisible();
    await expect(page.getByText("Searching…")).toHaveCount(0);
    await expect(page.locator(".path li").first()).toBeVisible();
  } finally {
    proxy.close();
  }
});

test("a connection that breaks between two steps is reported, and only the user asks again", async ({ page, sample }) => {
  const questions = countQuestions(page);
  const held = new HeldStream(sample);
  const proxy = await sample.behind(held.respond);
  try {
    await page.goto(`${proxy.url}/${WALK}`);
    await expect(page.locator(".path li").first()).toBeVisible();
    held.breakOff();
    await expect(page.getByRole("alert")).toContainText("The answer broke off");
    await expect(page.locator(".path li").first()).toBeVisible();
    held.release();
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.locator(".verdict")).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
    expect(questions.sent).toBe(2);
  } finally {
    proxy.close();
  }
});

test("a question that may cost calls is not asked again by itself if the connection breaks before the first step", async ({
  page,
  sample,
}) => {
  const questions = countQuestions(page);
  await page.route("**/query", (route) => route.abort("connectionreset"));
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F&calls=1`);
  await expect(page.getByText("The answer broke off")).toBeVisible();
  // The page has found out by then that the server answers, and has loaded its other data again.
  await page.waitForTimeout(4_000);
  expect(questions.sent).toBe(1);
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.locator(".verdict")).toBeVisible();
  expect(questions.sent).toBe(2);
});

test("an answered question is not asked again when the server is back, and one that did not reach it is", async ({ page }) => {
  const own = await Server.start();
  try {
    await own.rememberSample();
    const questions = countQuestions(page);
    await page.goto(`${own.url}/#/demo/ask?q=Where+does+Maya+live%3F`);
    const line = page.getByRole("button", { name: /I live on Linden Street now/ });
    await expect(line).toBeVisible();
    await own.stop();
    await line.click();
    await expect(page.getByText("The data shown may be out of date")).toBeVisible();
    await own.run();
    await expect(page.locator("li.open").getByRole("link", { name: "Maya lives on Linden Street" })).toBeVisible();
    await expect(page.getByText("The data shown may be out of date")).toHaveCount(0);
    expect(questions.sent).toBe(1);
    await own.stop();
    await page.getByLabel("Question").fill("Where did Maya live?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await expect(page.getByText("The server does not answer", { exact: true })).toBeVisible();
    await expect(page.locator(".verdict")).toHaveCount(0);
    await own.run();
    await expect(page.locator(".verdict")).toBeVisible();
  } finally {
    await own.end();
  }
});

test("the answer to a question is not shown under the next question", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F`);
  await expect(page.locator(".answer")).toContainText("Linden Street");
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  await page.route("**/query", async (route) => {
    await held;
    await route.continue();
  });
  await page.getByLabel("Question").fill("Who is Noor?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await expect(page).toHaveURL(/q=Who\+is\+Noor/);
  await expect(page.locator(".result .busy")).toBeVisible();
  await expect(page.locator(".answer")).toHaveCount(0);
  release();
  await expect(page.locator(".answer")).toBeVisible();
});

test("the same question is asked again when it is submitted again", async ({ page, sample }) => {
  const questions = countQuestions(page);
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F`);
  await expect(page.locator(".answer")).toContainText("Linden Street");
  expect(questions.sent).toBe(1);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await expect.poll(() => questions.sent).toBe(2);
  await expect(page.locator(".answer")).toContainText("Linden Street");
});

test("calls of a language model, style and verbatim are requested, and unavailable parts are reported", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F`);
  await page.getByText("Language model", { exact: true }).click();
  await page.getByLabel("Maximum number of calls").fill("2");
  await page.getByLabel("Style of the answer").selectOption("infer");
  await page.getByLabel("Word for word only").uncheck();
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/query"));
  await page.getByRole("button", { name: "Ask" }).click();
  const body = (await asked).postDataJSON();
  expect(body).toMatchObject({ style: "infer", verbatim: false, budget: { model_calls: 2 } });
  await expect(page).toHaveURL(/calls=2&style=infer&verbatim=0/);
  await expect(page.locator(".notice")).toContainText("language model");
  await expect(page.getByLabel("Style of the answer")).toHaveValue("infer");
  await expect(page.locator(".answer")).toContainText("Linden Street");
  await expectAccessible(page);
});

test("a question is limited to records with one of several tags", async ({ page, sample }) => {
  await sample.remember("by-tag", [
    { id: "b1", actor: "Ann", text: "The red folder is in the attic.", tags: ["home"] },
    { id: "b2", actor: "Ann", text: "The red folder is in the archive.", tags: ["work, late"] },
    { id: "b3", actor: "Ann", text: "The red folder is in the cellar.", tags: ["old"] },
  ]);
  await page.goto(`${sample.url}/#/by-tag/ask?q=Where+is+the+red+folder%3F`);
  await expect(page.locator(".lines").getByText("in the cellar").first()).toBeVisible();
  await page.getByLabel("With any of these tags").fill('home, "work, late",, home');
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/query"));
  await page.getByRole("button", { name: "Ask" }).click();
  expect((await asked).postDataJSON().filter).toEqual({ tags: { any: ["home", "work, late"] } });
  await expect(page.locator(".lines").getByText("in the cellar")).toHaveCount(0);
  await expect(page.locator(".lines").getByText("in the attic").first()).toBeVisible();
  await expect(page.locator(".lines").getByText("in the archive").first()).toBeVisible();
  await expect(page).toHaveURL(/tags=home/);
  await expectAccessible(page);
  await page.getByLabel("With any of these tags").fill("");
  const again = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/query"));
  await page.getByRole("button", { name: "Ask" }).click();
  expect((await again).postDataJSON().filter).toBeUndefined();
  await page.getByLabel("With any of these tags").fill("t".repeat(200));
  await page.getByRole("button", { name: "Ask" }).click();
  await expect(page.getByRole("alert")).toContainText("more than 128");
});

import { expect, expectAccessible, test } from "./fixtures";

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
  await expect(open.getByText("What moved it")).toBeVisible();
  await expect(open.getByText("Proposed by")).toBeVisible();
  await expect(open.getByRole("link", { name: "o1" }).first()).toBeVisible();
  await expect(open.getByText("Smart. When did that happen?").first()).toBeVisible();
  await expect(open.getByRole("link", { name: "Maya lives on Linden Street" })).toBeVisible();
  await expectAccessible(page);
  await page.getByText(/^Left out/).click();
  await expect(page.getByText(/left out: /).first()).toBeVisible();
});

test("the memory as of a moment answers as it was then", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F&as_of=2025-06-01T00:00`);
  await expect(page.locator(".answer")).toContainText("Mill Lane");
  await page.goto(`${sample.url}/#/demo/ask?q=Where+does+Maya+live%3F&as_of=2001-01-01T00:00`);
  await expect(page.getByText("Not enough evidence")).toBeVisible();
  await expect(page.getByText("Nothing in the memory fits this question.")).toBeVisible();
});

test("two budgets and moments stand side by side", async ({ page, sample }) => {
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

test("a strategy shows its steps", async ({ page, sample }) => {
  await page.goto(`${sample.url}/#/demo/ask?q=Who+is+Noor+and+where+did+she+work%3F&strategy=navigate`);
  await expect(page.getByText("Steps of the strategy")).toBeVisible();
});

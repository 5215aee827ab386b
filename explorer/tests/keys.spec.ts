import type { Locator, Page } from "@playwright/test";
import { KEYS, expect, expectAccessible, test } from "./fixtures";
import { type KeySetting, Server } from "./server";

const TEAM: KeySetting = { name: "team", key: "team-key", spaces: ["demo"], rights: ["read", "write", "admin"] };

/** Runs a test with its own server, since keys stay in the list. */
async function withServer(use: (server: Server) => Promise<void>): Promise<void> {
  const server = await Server.start([...KEYS, TEAM]);
  try {
    await server.call("PUT", "/v1/spaces/demo");
    await use(server);
  } finally {
    await server.end();
  }
}

async function openOperations(page: Page, server: Server, key: string): Promise<Locator> {
  await page.goto(`${server.url}/#/~/operations`);
  await page.getByLabel("Key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Your key" })).toBeVisible();
  return page.locator(".card", { has: page.getByRole("heading", { name: "Keys", exact: true }) });
}

async function makeKey(card: Locator, name: string, spaces: string): Promise<string> {
  await card.getByText("Create a key").click();
  await card.getByLabel("Name").fill(name);
  await card.getByLabel("Spaces it opens").fill(spaces);
  await card.getByRole("button", { name: "Create", exact: true }).click();
  return card.getByLabel(`Token of ${name}`).inputValue();
}

/** Returns the status of the server's response to a request with a token. */
async function statusOf(server: Server, token: string): Promise<number> {
  const response = await fetch(`${server.url}/v1/access`, { headers: { authorization: `Bearer ${token}` } });
  return response.status;
}

test("a key is created, and its token is shown once, copied and stored nowhere", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await withServer(async (own) => {
    const card = await openOperations(page, own, "owner-key");
    await expect(card.getByText("No key was created yet")).toBeVisible();
    await card.getByText("Create a key").click();
    await card.getByLabel("Name").fill("agent-1");
    await card.getByLabel("Spaces it opens").fill("demo, user-*");
    await card.getByLabel("write").check();
    await card.getByLabel("Expires").fill("2099-01-01T00:00");
    await card.getByLabel("Requests per minute").fill("60");
    await expectAccessible(page);
    await card.getByRole("button", { name: "Create", exact: true }).click();
    const field = card.getByLabel("Token of agent-1");
    await expect(field).toBeFocused();
    await expect(card.getByText("This token is shown only now")).toBeVisible();
    await expectAccessible(page);
    const token = await field.inputValue();
    await card.getByRole("button", { name: "Copy" }).click();
    await expect(card.getByText("Copied.")).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
    expect(await statusOf(own, token)).toBe(200);
    const entry = card.getByRole("group", { name: "agent-1" });
    await expect(entry).toContainText("demo, user-*");
    await expect(entry).toContainText("1 Jan 2099, 00:00");
    await expect(entry).toContainText("owner");
    await expect(entry.getByRole("button", { name: "Rotate agent-1" })).toBeDisabled();
    await card.getByRole("button", { name: "I have stored it" }).click();
    await expect(field).toHaveCount(0);
    const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href, document.cookie, history.state]));
    expect(kept).toContain("owner-key");
    expect(kept).not.toContain(token);
    expect(await page.content()).not.toContain(token);
    await page.reload();
    await expect(entry).toBeVisible();
    expect(await page.content()).not.toContain(token);
  });
});

test("a key is rotated and revoked, with a confirmation and by keyboard", async ({ page }) => {
  await withServer(async (own) => {
    const card = await openOperations(page, own, "owner-key");
    const first = await makeKey(card, "agent-2", "*");
    await card.getByRole("button", { name: "I have stored it" }).click();
    const entry = card.getByRole("group", { name: "agent-2" });
    await entry.getByRole("button", { name: "Rotate agent-2" }).click();
    await entry.getByLabel("The previous token stays valid for").selectOption("not at all");
    await expectAccessible(page);
    await entry.getByRole("button", { name: "Create a new token" }).click();
    const second = await card.getByLabel("Token of agent-2").inputValue();
    expect(second).not.toBe(first);
    expect(await statusOf(own, first)).toBe(401);
    expect(await statusOf(own, second)).toBe(200);
    await card.getByRole("button", { name: "I have stored it" }).click();
    const revoke = entry.getByRole("button", { name: "Revoke agent-2" });
    await revoke.focus();
    await page.keyboard.press("Enter");
    await expect(entry.getByRole("button", { name: "Cancel" })).toBeFocused();
    await expect(entry).toContainText("This cannot be undone");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await expect(entry).toBeFocused();
    expect(await statusOf(own, second)).toBe(200);
    await revoke.click();
    await expect(entry.getByRole("button", { name: "Cancel" })).toBeFocused();
    await page.keyboard.press("Shift+Tab");
    await expect(entry.getByRole("button", { name: "Revoke permanently" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(entry.getByText("revoked", { exact: true })).toBeVisible();
    await expect(entry.getByRole("button")).toHaveCount(0);
    expect(await statusOf(own, second)).toBe(401);
  });
});

test("the refusal of the server is shown unchanged", async ({ page, sample }) => {
  await withServer(async (own) => {
    const card = await openOperations(page, own, "owner-key");
    await makeKey(card, "agent-3", "*");
    await card.getByRole("button", { name: "I have stored it" }).click();
    await card.getByText("Create a key").click();
    await card.getByLabel("Name").fill("agent-3");
    await card.getByLabel("Spaces it opens").fill("*");
    await card.getByRole("button", { name: "Create", exact: true }).click();
    await expect(card.getByRole("alert")).toBeVisible();
    await card.getByLabel("Name").fill("agent-4");
    await card.getByLabel("Spaces it opens").fill("demo, No name!");
    await card.getByRole("button", { name: "Create", exact: true }).click();
    await expect(card.getByRole("alert")).toContainText("spaces[1]");
    await card.getByLabel("read").uncheck();
    await expect(card.getByRole("button", { name: "Create", exact: true })).toBeDisabled();
  });
  // A server without keys allows everything except creating a key.
  await page.goto(`${sample.url}/#/~/operations`);
  const card = page.locator(".card", { has: page.getByRole("heading", { name: "Keys", exact: true }) });
  await card.getByText("Create a key").click();
  await card.getByLabel("Name").fill("agent-5");
  await card.getByLabel("Spaces it opens").fill("*");
  await card.getByRole("button", { name: "Create", exact: true }).click();
  await expect(card.getByRole("alert")).toContainText("This server has no key that may create others");
  await expect(card.getByRole("alert")).toContainText("[[gateway.keys]]");
});

test("an admin key of some spaces sees no keys", async ({ page }) => {
  await withServer(async (own) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const card = await openOperations(page, own, "team-key");
    await expect(page.getByText("There are no dead letters")).toBeVisible();
    await expect(card).toHaveCount(0);
    expect(asked).not.toContain("/v1/keys");
  });
});

test("a user who rotates the current key sees its new token and continues with it", async ({ page }) => {
  await withServer(async (own) => {
    const admin = { name: "second", spaces: ["*"], rights: ["read", "write", "admin"], quotas: {} };
    const { token } = await own.call<{ token: string }>("POST", "/v1/keys", admin);
    const card = await openOperations(page, own, token);
    const entry = card.getByRole("group", { name: "second" });
    await entry.getByRole("button", { name: "Rotate second" }).click();
    await expect(entry).toContainText("this page continues with the new token");
    await entry.getByLabel("The previous token stays valid for").selectOption("not at all");
    await entry.getByRole("button", { name: "Create a new token" }).click();
    const next = await card.getByLabel("Token of second").inputValue();
    expect(await statusOf(own, token)).toBe(401);
    expect(await statusOf(own, next)).toBe(200);
    // A view that loads its data after the rotation uses the new token.
    const polled = page.waitForResponse((it) => new URL(it.url()).pathname === "/v1/spaces");
    expect((await polled).status()).toBe(200);
    await card.getByRole("button", { name: "I have stored it" }).click();
    await page.reload();
    await expect(entry.getByText("your key")).toBeVisible();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).toContain(next);
  });
});

test("a user who revokes the current key is signed out", async ({ page }) => {
  await withServer(async (own) => {
    const admin = { name: "second", spaces: ["*"], rights: ["read", "write", "admin"], quotas: {} };
    const { token } = await own.call<{ token: string }>("POST", "/v1/keys", admin);
    const card = await openOperations(page, own, token);
    const entry = card.getByRole("group", { name: "second" });
    await expect(entry.getByText("your key")).toBeVisible();
    await entry.getByRole("button", { name: "Revoke second" }).click();
    await expect(entry).toContainText("you will be signed out");
    await entry.getByRole("button", { name: "Revoke permanently" }).click();
    await expect(page.getByLabel("Key")).toBeVisible();
  });
});

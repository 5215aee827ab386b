import { signal } from "@preact/signals";
import type { Access, ApiKeyToken, Right } from "./types";

const STORED = "mnemic.key";
/** Milliseconds between checks whether an unreachable server is back. */
const LOOK_EVERY = 1500;

/** The characters of a key, which has no space at its ends. The server treats any other key as missing. */
const KEY = /^[ -~]+$/;

/** Returns the key that is stored for this tab; empty if there is none that can be sent. */
function storedKey(): string {
  const text = sessionStorage.getItem(STORED) ?? "";
  return KEY.test(text) ? text : "";
}

/** The user's key; empty without a key. It is stored for this tab only. */
export const key = signal(storedKey());
/** The spaces and rights of the key; null until they are known. */
export const access = signal<Access | null>(null);
/** Whether the server requires a key and has got none. */
export const keyNeeded = signal(false);
/** Whether the server rejected the key. */
export const keyRefused = signal(false);
/** Whether the server answers. */
export const online = signal(true);
/** A counter that rises when the server is back and after each change, so that views load their data again. */
export const revision = signal(0);

/** Returns true if the key has the right. */
export function may(right: Right): boolean {
  return access.value?.rights.includes(right) ?? false;
}

/** Returns true if the key has the right in every space. */
export function mayEverywhere(right: Right): boolean {
  return may(right) && (access.value?.spaces.includes("*") ?? false);
}

/** Stores the key that the user typed. Returns false, and stores nothing, if the text cannot be a key. */
export function takeKey(text: string): boolean {
  const typed = text.trim();
  if (!KEY.test(typed)) return false;
  key.value = typed;
  sessionStorage.setItem(STORED, typed);
  keyNeeded.value = false;
  keyRefused.value = false;
  access.value = null;
  return true;
}

/** Whether the user's own key is being rotated: the server may refuse the old token before the new one arrives. */
let isRotating = false;

/** Rotates the user's own key, and continues with its new token; the views stay open, since one of them shows the token. */
export async function rotateOwnKey(rotate: () => Promise<ApiKeyToken>): Promise<ApiKeyToken> {
  const before = key.value;
  isRotating = true;
  try {
    const made = await rotate();
    // The user may have signed out meanwhile.
    if (key.value === before) {
      key.value = made.token;
      sessionStorage.setItem(STORED, made.token);
    }
    return made;
  } finally {
    isRotating = false;
  }
}

/** Removes the key. */
export function signOut(): void {
  sessionStorage.removeItem(STORED);
  key.value = "";
  access.value = null;
  keyNeeded.value = true;
  keyRefused.value = false;
}

/** Handles a request that the server refused because `used`, the key of the request, is missing or invalid. */
export function lostKey(used: string): void {
  // Requests with the old token may still be on their way when the key is rotated.
  if (isRotating || used !== key.value) return;
  keyRefused.value = key.value !== "";
  sessionStorage.removeItem(STORED);
  key.value = "";
  access.value = null;
  keyNeeded.value = true;
}

/** Makes all views load their data again. */
export function readAgain(): void {
  revision.value += 1;
}

export function noteAnswer(): void {
  online.value = true;
}

/** Handles a server that did not answer: checks until it does, then makes the views load their data again. */
export function noteSilence(): void {
  if (!online.value) return;
  online.value = false;
  const look = async () => {
    try {
      await fetch("/", { headers: { accept: "application/json" }, cache: "no-store" });
      online.value = true;
      readAgain();
    } catch {
      setTimeout(look, LOOK_EVERY);
    }
  };
  setTimeout(look, LOOK_EVERY);
}

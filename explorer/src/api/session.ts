import { signal } from "@preact/signals";
import type { Access, Right } from "./types";

const STORED = "mnemic.key";
/** Milliseconds between looks whether a server that went away is back. */
const LOOK_EVERY = 1500;

/** The user's key; empty without one. Kept for this tab only. */
export const key = signal(sessionStorage.getItem(STORED) ?? "");
/** What the key opens; null until that is known. */
export const access = signal<Access | null>(null);
/** Whether the server asks for a key that it did not get. */
export const keyNeeded = signal(false);
/** Whether the key that was given is not valid. */
export const keyRefused = signal(false);
/** Whether the server answers. */
export const online = signal(true);
/** Rises when the server is back and after each change, so that views read again. */
export const revision = signal(0);

/** Returns true if the key has the right. */
export function may(right: Right): boolean {
  return access.value?.rights.includes(right) ?? false;
}

/** Returns true if the key has the right in every space. */
export function mayEverywhere(right: Right): boolean {
  return may(right) && (access.value?.spaces.includes("*") ?? false);
}

/** Takes a key from the user. */
export function takeKey(text: string): void {
  key.value = text.trim();
  sessionStorage.setItem(STORED, key.value);
  keyNeeded.value = false;
  keyRefused.value = false;
  access.value = null;
}

/** Forgets the key. */
export function signOut(): void {
  sessionStorage.removeItem(STORED);
  key.value = "";
  access.value = null;
  keyNeeded.value = true;
  keyRefused.value = false;
}

/** The server did not accept the key, or got none. */
export function lostKey(): void {
  keyRefused.value = key.value !== "";
  sessionStorage.removeItem(STORED);
  key.value = "";
  access.value = null;
  keyNeeded.value = true;
}

/** Makes all views read again. */
export function readAgain(): void {
  revision.value += 1;
}

export function noteAnswer(): void {
  online.value = true;
}

/** The server did not answer: looks until it does, then makes the views read again. */
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

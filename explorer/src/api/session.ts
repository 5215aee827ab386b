import { signal } from "@preact/signals";
import type { Access, Right } from "./types";

const STORED = "mnemic.key";
/** Milliseconds between checks whether an unreachable server is back. */
const LOOK_EVERY = 1500;

/** The user's key; empty without a key. It is stored for this tab only. */
export const key = signal(sessionStorage.getItem(STORED) ?? "");
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

/** Stores the key that the user typed. */
export function takeKey(text: string): void {
  key.value = text.trim();
  sessionStorage.setItem(STORED, key.value);
  keyNeeded.value = false;
  keyRefused.value = false;
  access.value = null;
}

/** Removes the key. */
export function signOut(): void {
  sessionStorage.removeItem(STORED);
  key.value = "";
  access.value = null;
  keyNeeded.value = true;
  keyRefused.value = false;
}

/** Handles a request that the server refused because its key is missing or invalid. */
export function lostKey(): void {
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

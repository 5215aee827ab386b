/**
 * Difference between the server's clock and the browser's, in milliseconds; positive if the server is ahead. Browser clocks are
 * often wrong.
 */
let ahead = 0;

/** Updates the difference from the time of a response. */
export function noteServerTime(date: string | null): void {
  const time = date ? Date.parse(date) : Number.NaN;
  if (!Number.isNaN(time)) ahead = time - Date.now();
}

/** Returns the server's time in milliseconds, to about a second. */
export const serverNow = (): number => Date.now() + ahead;

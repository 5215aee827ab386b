import type { Page } from "@playwright/test";

/** Frames a second that a drag must show at least. On an idle machine it shows 50 and more; the machines of the gate do other work, and draw without a graphics processor. */
export const FRAMES_LEAST = 20;
/** Milliseconds for which frames are counted, and between two moves of the mouse. */
const WITHIN_MS = 2_000;
const MOVE_MS = 16;

interface Place {
  x: number;
  y: number;
}

/** Drags with the mouse back and forth from a place, all the time that frames are counted, and returns the frames a second that the page drew. */
export async function framesWhileDragging(page: Page, { x, y }: Place): Promise<number> {
  await page.mouse.move(x, y);
  await page.mouse.down();
  const counted = page.evaluate(
    (within) =>
      new Promise<number>((done) => {
        let frames = 0;
        const start = performance.now();
        const next = (now: number) => {
          frames += 1;
          if (now - start < within) requestAnimationFrame(next);
          else done((frames * 1000) / (now - start));
        };
        requestAnimationFrame(next);
      }),
    WITHIN_MS,
  );
  const end = Date.now() + WITHIN_MS;
  for (let step = 0; Date.now() < end; step += 1) {
    await page.mouse.move(x + 200 * Math.sin(step / 10), y);
    await page.waitForTimeout(MOVE_MS);
  }
  await page.mouse.up();
  return counted;
}

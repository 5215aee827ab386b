import type { Page } from "@playwright/test";

/**
 * Minimum number of frames per second during a drag. An idle machine draws 50 and more; the machines of CI do other
 * work, and draw without a graphics processor.
 */
export const FRAMES_LEAST = 20;
/** Time for which frames are counted, and time between two moves of the mouse, in milliseconds. */
const WITHIN_MS = 2_000;
const MOVE_MS = 16;

interface Place {
  x: number;
  y: number;
}

/** Drags back and forth with the mouse while frames are counted; returns the frames per second that the page drew. */
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

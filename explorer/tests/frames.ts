import type { Page } from "@playwright/test";

/** Drags with the mouse from a place to the left, and returns the frames a second that the page showed in the meantime. */
export async function framesWhileDragging(page: Page, x: number, y: number): Promise<number> {
  const within = 1_500;
  const frames = page.evaluate(
    (ms) =>
      new Promise<number>((done) => {
        let count = 0;
        const end = performance.now() + ms;
        const next = () => {
          count += 1;
          if (performance.now() < end) requestAnimationFrame(next);
          else done(count / (ms / 1000));
        };
        requestAnimationFrame(next);
      }),
    within,
  );
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 0; step < 40; step += 1) await page.mouse.move(x - step * 10, y);
  await page.mouse.up();
  return frames;
}

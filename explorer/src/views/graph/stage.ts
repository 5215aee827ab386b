import { select } from "d3-selection";
import { type D3ZoomEvent, type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import type { Scene, Spot } from "./layout";
import { type Camera, type Marked, type Size, paintScene, radiusOf, wholeScene } from "./paint";

const MAGNIFIED_MOST = 60;
const MAGNIFIED_LEAST = 0.5;
const STEP = 1.6;
/** Greatest distance from a node at which a click still picks it, in pixels. */
const NEAR = 6;
/** Milliseconds without a movement after which the scene is drawn sharply again. */
const REST_MS = 150;
const RATIO_MOST = 2;

/** A painted scene that is larger than the canvas, with the camera of the painting. */
interface Print {
  camera: Camera;
  canvas: HTMLCanvasElement;
}

/**
 * Shows a scene on a canvas that the user can move and magnify. During a movement it shows an earlier picture, so that a graph of
 * any size moves smoothly.
 */
export class Stage {
  scene: Scene = { spots: [], lines: [] };
  marked: Marked = { chosen: "", found: undefined };
  private transform: ZoomTransform = zoomIdentity;
  private whole: Camera = { k: 1, x: 0, y: 0 };
  private print: Print | undefined;
  private frame = 0;
  private rest = 0;
  private readonly behaviour = zoom<HTMLCanvasElement, unknown>();
  private readonly resized: ResizeObserver;
  private readonly colours = matchMedia("(prefers-color-scheme: dark)");

  constructor(
    private readonly canvas: HTMLCanvasElement,
    onPick: (id: string) => void,
  ) {
    this.behaviour.scaleExtent([MAGNIFIED_LEAST, MAGNIFIED_MOST]).on("zoom", this.move);
    select(canvas)
      .call(this.behaviour)
      .on("click", (event: MouseEvent) => {
        const spot = this.spotAt(event.offsetX, event.offsetY);
        if (spot) onPick(spot.id);
      });
    this.resized = new ResizeObserver(this.repaint);
    this.resized.observe(canvas);
    this.colours.addEventListener("change", this.repaint);
  }

  /** Returns true while the user moves or magnifies the scene. */
  get isTouched(): boolean {
    return this.rest !== 0;
  }

  /** Paints the scene in the next frame. */
  readonly repaint = (): void => {
    this.print = undefined;
    this.show();
  };

  zoomIn(): void {
    this.behaviour.scaleBy(select(this.canvas), STEP);
  }

  zoomOut(): void {
    this.behaviour.scaleBy(select(this.canvas), 1 / STEP);
  }

  showWhole(): void {
    this.behaviour.transform(select(this.canvas), zoomIdentity);
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.resized.disconnect();
    this.colours.removeEventListener("change", this.repaint);
    select(this.canvas).on(".zoom", null).on("click", null);
  }

  private readonly move = ({ transform }: D3ZoomEvent<HTMLCanvasElement, unknown>): void => {
    this.transform = transform;
    clearTimeout(this.rest);
    this.rest = window.setTimeout(() => {
      this.rest = 0;
      this.repaint();
    }, REST_MS);
    this.show();
  };

  private show(): void {
    if (!this.frame) this.frame = requestAnimationFrame(this.draw);
  }

  private get size(): Size {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  private get camera(): Camera {
    const { k, x, y } = this.transform;
    return { k: k * this.whole.k, x: k * this.whole.x + x, y: k * this.whole.y + y };
  }

  private readonly draw = (): void => {
    this.frame = 0;
    const pen = this.canvas.getContext("2d");
    const size = this.size;
    if (!pen || size.width === 0) return;
    const ratio = Math.min(RATIO_MOST, devicePixelRatio || 1);
    const wanted = { width: Math.round(size.width * ratio), height: Math.round(size.height * ratio) };
    if (this.canvas.width !== wanted.width || this.canvas.height !== wanted.height) Object.assign(this.canvas, wanted);
    if (!this.print) this.whole = wholeScene(this.scene, size);
    const print = this.print && this.covers(this.print, size) ? this.print : this.paint(size, ratio);
    const scale = this.camera.k / print.camera.k;
    const [left, top] = [this.camera.x - scale * print.camera.x, this.camera.y - scale * print.camera.y];
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, size.width, size.height);
    pen.drawImage(print.canvas, left, top, 2 * size.width * scale, 2 * size.height * scale);
  };

  /** Returns true if a print still fills the canvas and is not stretched too much. */
  private covers({ camera }: Print, { width, height }: Size): boolean {
    const scale = this.camera.k / camera.k;
    const [left, top] = [this.camera.x - scale * camera.x, this.camera.y - scale * camera.y];
    const isFilled = left <= 0 && top <= 0 && left + 2 * width * scale >= width && top + 2 * height * scale >= height;
    return isFilled && scale < 3;
  }

  /** Paints the scene with an extra margin of half a canvas on each side. */
  private paint({ width, height }: Size, ratio: number): Print {
    const canvas = this.print?.canvas ?? document.createElement("canvas");
    Object.assign(canvas, { width: Math.round(2 * width * ratio), height: Math.round(2 * height * ratio) });
    const camera = { k: this.camera.k, x: this.camera.x + width / 2, y: this.camera.y + height / 2 };
    const pen = canvas.getContext("2d");
    pen?.setTransform(ratio, 0, 0, ratio, 0, 0);
    const size = { width: 2 * width, height: 2 * height };
    if (pen) paintScene(pen, { scene: this.scene, camera, size, magnified: this.transform.k, marked: this.marked });
    this.print = { camera, canvas };
    return this.print;
  }

  private spotAt(x: number, y: number): Spot | undefined {
    const { scene, camera } = this;
    let best: Spot | undefined;
    let distance = Number.POSITIVE_INFINITY;
    for (const it of scene.spots) {
      const away = Math.hypot(camera.k * it.x + camera.x - x, camera.k * it.y + camera.y - y);
      const reach = radiusOf(it, scene.spots.length, this.transform.k) + NEAR;
      if (away <= reach && away < distance) [best, distance] = [it, away];
    }
    return best;
  }
}

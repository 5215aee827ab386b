import { theme } from "../../lib/theme";
import type { Line, Scene, Spot } from "./layout";

/** The transformation from the scene to the screen: `k * position + (x, y)`, in pixels. */
export interface Camera {
  k: number;
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** The highlighted nodes. */
export interface Marked {
  chosen: string;
  /** Nodes that a search found; undefined without a search. */
  found: Set<string> | undefined;
}

interface Inks {
  kinds: { [kind in Spot["kind"]]: string };
  edge: string;
  relation: string;
  faded: string;
  label: string;
  page: string;
  chosen: string;
}

/** Up to this number of nodes all labels are shown; with more nodes, only labels that have room. */
const ALL_LABELS = 20;
const LABEL_HEIGHT = 16;
const LABEL_CELL = 24;
/** Approximate width of a letter, in pixels. */
const LETTER = 7;
const FONT = "12px system-ui, sans-serif";
const ARROW = 7;
/** Margin around a scene that is shown as a whole, in pixels. */
const ROOM = 50;
const WHOLE_TURN = 2 * Math.PI;

const LIGHT: Inks = {
  kinds: {
    speaker: "#0f766e",
    person: "#0369a1",
    place: "#15803d",
    other: "#6d28d9",
    value: "#8b9794",
    event: "#c2410c",
    turn: "#b0703f",
  },
  edge: "#c3cccb",
  relation: "#d98a5b",
  faded: "#e8ecec",
  label: "#16201f",
  page: "#ffffff",
  chosen: "#b42318",
};
const DARK: Inks = {
  kinds: {
    speaker: "#5eead4",
    person: "#7dd3fc",
    place: "#86efac",
    other: "#c4b5fd",
    value: "#8b9794",
    event: "#fdba74",
    turn: "#d6a06a",
  },
  edge: "#3b4a48",
  relation: "#b9723a",
  faded: "#243030",
  label: "#e6edec",
  page: "#1b2423",
  chosen: "#fda29b",
};

/** Returns the current colours of the page: light or dark. */
export function inks(): Inks {
  const isDark = theme.value === "dark" || (theme.value === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  return isDark ? DARK : LIGHT;
}

/** Returns the camera that shows the whole scene. */
export function wholeScene({ spots }: Scene, { width, height }: Size): Camera {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of spots) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  const k = Math.min((width - 2 * ROOM) / Math.max(1, right - left), (height - 2 * ROOM) / Math.max(1, bottom - top));
  return { k, x: (width - k * (left + right)) / 2, y: (height - k * (top + bottom)) / 2 };
}

/**
 * Returns the radius of a spot in pixels. Spots of large graphs are smaller, and all spots grow a little with the magnification.
 */
export function radiusOf(it: Spot, count: number, magnified: number): number {
  const whole = 3.5 + 1.4 * Math.log2(1 + it.weight);
  return whole * (count > 1000 ? 0.55 : 1) * Math.min(2, Math.max(0.7, Math.sqrt(magnified)));
}

export interface Picture {
  scene: Scene;
  camera: Camera;
  size: Size;
  magnified: number;
  marked: Marked;
}

/** Draws links, nodes and labels. */
export function paintScene(pen: CanvasRenderingContext2D, it: Picture): void {
  const ink = inks();
  const { scene, marked } = it;
  const near = new Set<string>();
  for (const { from, to } of scene.lines) {
    if (from.id === marked.chosen) near.add(to.id);
    if (to.id === marked.chosen) near.add(from.id);
  }
  const isLit = (spot: Spot) =>
    marked.found ? marked.found.has(spot.id) : near.size === 0 || spot.id === marked.chosen || near.has(spot.id);
  pen.clearRect(0, 0, it.size.width, it.size.height);
  paintLines(pen, it, (line) => {
    if (!isLit(line.from) || !isLit(line.to)) return ink.faded;
    return line.kind === "relation" ? ink.relation : ink.edge;
  });
  paintSpots(pen, it, (spot) => {
    if (spot.id === marked.chosen) return ink.chosen;
    return isLit(spot) ? ink.kinds[spot.kind] : ink.faded;
  });
  paintLabels(pen, it, isLit, ink);
}

/** Groups things by their colour, so that each colour is drawn in one pass. */
function byColour<Thing>(things: Thing[], colourOf: (it: Thing) => string): Map<string, Thing[]> {
  return Map.groupBy(things, colourOf);
}

function paintLines(pen: CanvasRenderingContext2D, it: Picture, colourOf: (line: Line) => string): void {
  const { k, x, y } = it.camera;
  for (const [colour, lines] of byColour(it.scene.lines, colourOf)) {
    pen.strokeStyle = colour;
    pen.fillStyle = colour;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const { from, to } of lines) {
      pen.moveTo(k * from.x + x, k * from.y + y);
      pen.lineTo(k * to.x + x, k * to.y + y);
    }
    pen.stroke();
    for (const line of lines) if (line.kind === "relation") paintArrow(pen, it, line);
  }
}

/** Draws the head of an arrow where a relation reaches its target. */
function paintArrow(pen: CanvasRenderingContext2D, it: Picture, { from, to }: Line): void {
  const { k, x, y } = it.camera;
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const away = radiusOf(to, it.scene.spots.length, it.magnified);
  const [tipX, tipY] = [k * to.x + x - away * Math.cos(angle), k * to.y + y - away * Math.sin(angle)];
  pen.beginPath();
  pen.moveTo(tipX, tipY);
  for (const side of [-0.4, 0.4]) pen.lineTo(tipX - ARROW * Math.cos(angle + side), tipY - ARROW * Math.sin(angle + side));
  pen.fill();
}

function paintSpots(pen: CanvasRenderingContext2D, it: Picture, colourOf: (spot: Spot) => string): void {
  const { camera, scene } = it;
  for (const [colour, spots] of byColour(scene.spots, colourOf)) {
    pen.fillStyle = colour;
    pen.beginPath();
    for (const spot of spots) {
      const [x, y] = [camera.k * spot.x + camera.x, camera.k * spot.y + camera.y];
      const radius = radiusOf(spot, scene.spots.length, it.magnified);
      if (x < -radius || y < -radius || x > it.size.width + radius || y > it.size.height + radius) continue;
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, WHOLE_TURN);
    }
    pen.fill();
  }
}

/** Returns the cells of the drawing that a label occupies. */
function cellsOf(left: number, middle: number, label: string): string[] {
  const rows = [middle - LABEL_HEIGHT / 2, middle + LABEL_HEIGHT / 2].map((y) => Math.floor(y / LABEL_HEIGHT));
  const first = Math.floor(left / LABEL_CELL);
  const last = Math.floor((left + LETTER * label.length) / LABEL_CELL);
  return rows.flatMap((row) => Array.from({ length: last - first + 1 }, (_, at) => `${row}/${first + at}`));
}

/** Draws the names of the heaviest nodes that have room; the name of the chosen node is always drawn. */
function paintLabels(pen: CanvasRenderingContext2D, it: Picture, isLit: (spot: Spot) => boolean, ink: Inks): void {
  const { camera, marked, scene } = it;
  const taken = new Set<string>();
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.lineWidth = 3;
  pen.strokeStyle = ink.page;
  pen.fillStyle = ink.label;
  const chosen = scene.spots.filter((spot) => spot.id === marked.chosen);
  for (const spot of [...chosen, ...scene.spots]) {
    const left = camera.k * spot.x + camera.x + radiusOf(spot, scene.spots.length, it.magnified) + 3;
    const middle = camera.k * spot.y + camera.y;
    if (left < 0 || middle < 0 || left > it.size.width || middle > it.size.height || !isLit(spot)) continue;
    const cells = cellsOf(left, middle, spot.label);
    if (scene.spots.length > ALL_LABELS && spot.id !== marked.chosen && cells.some((cell) => taken.has(cell))) continue;
    cells.forEach((cell) => taken.add(cell));
    pen.strokeText(spot.label, left, middle);
    pen.fillText(spot.label, left, middle);
  }
}

import type { ScaleTime } from "d3-scale";

/** A record or event at its time. */
export interface Mark {
  id: string;
  at: number;
  lane: number;
}

export interface Span {
  from: number;
  until: number;
}

type Time = ScaleTime<number, number>;

interface Drawing {
  marks: Mark[];
  lanes: string[];
  selected: string;
  time: Time;
  laneHeight: number;
  height: number;
}

/** Width of a column for counting marks, in pixels. */
const COLUMN = 3;
/** Number of marks in a column at which its bar has the full height. */
const FULL = 12;
/** Greatest distance from a mark at which a click still picks it, in pixels. */
const NEAR = 12;
const LABEL_MOST = 28;

/** Returns the index of the first mark at or after a time; the marks must be sorted by time. */
export function firstAt(marks: Mark[], time: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.at ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function laneAt(y: number, laneHeight: number): number {
  return Math.floor(y / laneHeight);
}

/** Returns the mark of a lane that is nearest to a position, or undefined if no mark is near. */
export function nearestMark(marks: Mark[], time: Time, x: number, lane: number): Mark | undefined {
  const from = firstAt(marks, time.invert(x - NEAR).getTime());
  const until = firstAt(marks, time.invert(x + NEAR).getTime() + 1);
  let best: Mark | undefined;
  let distance = NEAR;
  for (let at = from; at < until; at += 1) {
    const mark = marks[at];
    if (!mark || mark.lane !== lane) continue;
    const apart = Math.abs(time(mark.at) - x);
    if (apart <= distance) [best, distance] = [mark, apart];
  }
  return best;
}

/** Draws lanes, marks and the axis. Marks in the same column of pixels become one higher bar. */
export function drawTimeline(canvas: HTMLCanvasElement, it: Drawing): void {
  const pen = canvas.getContext("2d");
  if (!pen) return;
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const wanted = { width: Math.round(width * ratio), height: Math.round(it.height * ratio) };
  if (canvas.width !== wanted.width || canvas.height !== wanted.height) Object.assign(canvas, wanted);
  const style = getComputedStyle(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, it.height);
  pen.font = `12px ${style.fontFamily}`;
  pen.textBaseline = "middle";
  // A canvas cannot read variables of the style sheet. The style sheet therefore stores the colours in properties that a canvas
  // does not use.
  const inks = { main: style.color, edge: style.borderTopColor, soft: style.outlineColor, chosen: style.caretColor };
  drawAxis(pen, it, width, inks);
  drawMarks(pen, it, width, inks);
  drawLabels(pen, it, inks);
}

interface Inks {
  main: string;
  edge: string;
  soft: string;
  chosen: string;
}

function drawAxis(pen: CanvasRenderingContext2D, it: Drawing, width: number, inks: Inks): void {
  const bottom = it.lanes.length * it.laneHeight;
  const label = it.time.tickFormat();
  const ticks = it.time.ticks(Math.max(2, Math.floor(width / 110)));
  pen.fillStyle = inks.soft;
  pen.strokeStyle = inks.edge;
  pen.beginPath();
  for (const tick of ticks) {
    const x = Math.round(it.time(tick)) + 0.5;
    pen.moveTo(x, 0);
    pen.lineTo(x, bottom);
    pen.fillText(label(tick), x + 4, bottom + 14);
  }
  for (let lane = 1; lane <= it.lanes.length; lane += 1) {
    pen.moveTo(0, lane * it.laneHeight + 0.5);
    pen.lineTo(width, lane * it.laneHeight + 0.5);
  }
  pen.stroke();
}

function drawMarks(pen: CanvasRenderingContext2D, it: Drawing, width: number, inks: Inks): void {
  const [start, end] = it.time.domain() as [Date, Date];
  const columns = Math.ceil(width / COLUMN) + 1;
  const counts = new Uint32Array(columns * it.lanes.length);
  const until = firstAt(it.marks, end.getTime() + 1);
  const scale = width / (end.getTime() - start.getTime());
  let chosen: Mark | undefined;
  for (let at = firstAt(it.marks, start.getTime()); at < until; at += 1) {
    const mark = it.marks[at];
    if (!mark) continue;
    if (mark.id === it.selected) chosen = mark;
    const place = mark.lane * columns + Math.floor(((mark.at - start.getTime()) * scale) / COLUMN);
    counts[place] = (counts[place] ?? 0) + 1;
  }
  pen.fillStyle = inks.main;
  const most = it.laneHeight * 0.5;
  counts.forEach((count, place) => {
    if (count === 0) return;
    const high = 4 + (most - 4) * Math.min(1, Math.log1p(count - 1) / Math.log1p(FULL));
    const base = (Math.floor(place / columns) + 1) * it.laneHeight - 1;
    pen.fillRect((place % columns) * COLUMN, base - high, COLUMN - 0.5, high);
  });
  if (chosen) {
    pen.fillStyle = inks.chosen;
    const x = (chosen.at - start.getTime()) * scale;
    pen.beginPath();
    pen.arc(x, (chosen.lane + 1) * it.laneHeight - 8, 6, 0, 2 * Math.PI);
    pen.fill();
  }
}

function drawLabels(pen: CanvasRenderingContext2D, it: Drawing, inks: Inks): void {
  pen.fillStyle = inks.soft;
  it.lanes.forEach((name, lane) => {
    const text = name.length > LABEL_MOST ? `${name.slice(0, LABEL_MOST)}…` : name;
    pen.fillText(text, 6, lane * it.laneHeight + 10);
  });
}

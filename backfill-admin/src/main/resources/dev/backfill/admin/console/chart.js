// Rows over time, drawn from nothing but what this page itself saw. It says which span that is, and leaves a gap where it
// saw nothing.

import { h, svg } from "./dom.js";
import { count, span } from "./format.js";

const MAX_SAMPLES = 900;
const GAP_MS = 8_000;
const HEIGHT = 170;
const PAD = { left: 6, right: 6, top: 10, bottom: 42 };

const series = new Map();

/** Remembers what one answer said. */
export function sample(row, now = Date.now()) {
  const samples = series.get(row.id) ?? [];
  samples.push({ at: now, rows: Number(row.progress.rows_scanned), exact: row.progress.rows_scanned });
  if (samples.length > MAX_SAMPLES) samples.shift();
  series.set(row.id, samples);
}

export function size(id) {
  return (series.get(id) ?? []).length;
}

export function chart(id, width) {
  const samples = series.get(id) ?? [];
  if (samples.length < 3) {
    return h("p", { class: "hint" }, "The chart begins once this page has watched for a few seconds.");
  }
  const first = samples[0];
  const last = samples.at(-1);
  const seen = span((last.at - first.at) / 1000);
  const gained = BigInt(last.exact) - BigInt(first.exact);
  const summary = gained === 0n
    ? `No rows committed in the last ${seen} that this page watched.`
    : `${count(gained)} rows committed in the last ${seen} that this page watched.`;
  return h("figure", { class: "chart" },
    drawing(samples, summary, Math.max(240, width)),
    h("figcaption", {}, summary, " ", h("span", { class: "hint" }, "Drawn from this page's own refreshes; a gap is a time without an answer, a reload begins anew.")));
}

function drawing(samples, summary, width) {
  const from = samples[0].at;
  const to = samples.at(-1).at;
  const low = samples[0].rows;
  const high = Math.max(samples.at(-1).rows, low + 1);
  const flat = samples.at(-1).rows === low;
  const x = (at) => PAD.left + ((at - from) / (to - from)) * (width - PAD.left - PAD.right);
  const floor = HEIGHT - PAD.bottom;
  const y = (rows) => (flat ? (PAD.top + floor) / 2 : floor - ((rows - low) / (high - low)) * (floor - PAD.top));
  return svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": summary },
    [0, 0.5, 1].map((share) => gridline(floor - share * (floor - PAD.top), width)),
    segments(samples).map((part) => line(part, x, y, floor)),
    svg("circle", { class: "dot", cx: x(to), cy: y(samples.at(-1).rows), r: 4 }),
    label(PAD.left, floor + 18, "start", `${count(samples[0].exact)} rows`),
    label(PAD.left, floor + 35, "start", timeOfDay(from)),
    label(width - PAD.right, floor + 18, "end", `${count(samples.at(-1).exact)} rows`),
    label(width - PAD.right, floor + 35, "end", `${timeOfDay(to)}, your clock`));
}

function gridline(at, width) {
  return svg("line", { class: "grid", x1: PAD.left, x2: width - PAD.right, y1: at, y2: at });
}

function line(part, x, y, floor) {
  const points = part.map(({ at, rows }) => `${x(at).toFixed(1)},${y(rows).toFixed(1)}`);
  const area = [`${x(part[0].at).toFixed(1)},${floor}`, ...points, `${x(part.at(-1).at).toFixed(1)},${floor}`];
  return [
    svg("polygon", { class: "area", points: area.join(" ") }),
    svg("polyline", { class: "line", points: points.join(" ") }),
  ];
}

function label(x, y, anchor, text) {
  return svg("text", { x, y, "text-anchor": anchor }, text);
}

/** Stretches in which answers came; what lies between them was not seen. */
function segments(samples) {
  const parts = [[samples[0]]];
  for (const next of samples.slice(1)) {
    if (next.at - parts.at(-1).at(-1).at > GAP_MS) parts.push([]);
    parts.at(-1).push(next);
  }
  return parts;
}

function timeOfDay(at) {
  return new Date(at).toLocaleTimeString("en-GB");
}

// How values read. What is unknown says so; it is never shown as zero, complete or healthy.

import { h } from "./dom.js";

let clockOffset = 0;

/** Learns how far this machine's clock is from the server's, from the Date header of an answer. */
export function learnServerTime(date) {
  const at = Date.parse(date ?? "");
  // The header has whole seconds: only a difference that matters is believed.
  if (!Number.isNaN(at)) clockOffset = Math.abs(at - Date.now()) > 2000 ? at - Date.now() : 0;
}

export function unknown(why) {
  return h("span", { class: "unknown", title: why }, "unknown");
}

/** A 64-bit number that came as a string; never through a double. */
export function count(text) {
  return text === null || text === undefined ? null : BigInt(text).toLocaleString("en-US");
}

export function countOr(text, why) {
  return count(text) ?? unknown(why);
}

/** A 64-bit number of bytes, as people read it: 1.4 GB. */
export function bytes(text) {
  if (text === null || text === undefined) return "unknown";
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  let value = Number(text);
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Milliseconds as people read them. */
export function milliseconds(ms) {
  return ms === null || ms === undefined ? "unknown" : ms < 10_000 ? `${ms} ms` : span(ms / 1000);
}

/** The share that is done, rounded down; 100 % is for a total that was counted, never for an estimate. */
export function percent({ fraction, rows_total: total }) {
  if (total !== null && fraction === 1) return "100 %";
  const share = `${Math.min(Math.floor(fraction * 1000) / 10, 99.9)} %`;
  return total === null ? `about ${share}` : share;
}

export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** Seconds of an ISO 8601 duration such as PT1H2M3S. */
export function seconds(iso) {
  const parts = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(iso ?? "");
  if (!parts) return null;
  const [days, hours, minutes, rest] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + rest;
}

export function clock(iso) {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

function relative(iso) {
  const away = (Date.now() + clockOffset - Date.parse(iso)) / 1000;
  if (Math.abs(away) < 1) return "now";
  return away > 0 ? `${span(away)} ago` : `in ${span(-away)}`;
}

/** "3 min ago", kept up to date by tick(), with the exact time beside or behind it. */
export function ago(iso) {
  return h("time", { datetime: iso, title: clock(iso), "data-relative": true }, relative(iso));
}

export function moment(iso, why) {
  return iso === null ? unknown(why) : h("span", {}, clock(iso), " (", ago(iso), ")");
}

export function tick() {
  for (const element of document.querySelectorAll("time[data-relative]")) {
    const text = relative(element.getAttribute("datetime"));
    if (element.textContent !== text) element.textContent = text;
  }
}

export function keyText(key) {
  return key.length === 1 ? key[0] : `(${key.join(", ")})`;
}

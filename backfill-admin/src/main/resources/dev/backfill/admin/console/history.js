// The audit: who asked for what, and what became of it.

import * as api from "./api.js";
import { foreign, h, swap } from "./dom.js";
import { ago, clock } from "./format.js";
import { ACTIONS, OUTCOMES, OWN_ACTIONS, stateWords, trouble } from "./words.js";

const PAGE = 50;

/** A timeline of one backfill, or of all if the ID is null. */
export function buildHistory(id) {
  const list = h("ol", { class: "timeline" });
  const more = h("button", { type: "button", class: "quiet", "data-key": "older", hidden: true, onclick: () => older() }, "Show older records");
  const note = h("p", { class: "hint", role: "status" });
  const view = { root: [list, more, note], items: [], next: null, pages: 0 };
  const path = (before) =>
    `${id === null ? "audit" : api.backfillPath(id, "/audit")}?limit=${PAGE}${before === null ? "" : `&before=${before}`}`;

  function show() {
    swap(list, view.items, () => view.items.map((item) => entry(item, id === null)));
    more.hidden = view.next === null;
    if (view.items.length === 0) note.textContent = "No records.";
  }

  async function older() {
    const result = await api.read(path(view.next));
    if (result.kind !== "ok") {
      note.textContent = `The older records could not be read. ${trouble(result)}`;
      return;
    }
    view.items = [...view.items, ...result.data.items];
    view.next = result.data.next_before;
    note.textContent = "";
    show();
  }

  /** Fetches the newest page and keeps the older ones that somebody asked for. */
  view.refresh = async () => {
    const result = await api.read(path(null));
    if (result.kind === "ok") {
      const { items, next_before: next } = result.data;
      const lowest = items.length ? BigInt(items.at(-1).audit_id) : null;
      const kept = lowest === null ? [] : view.items.filter((item) => BigInt(item.audit_id) < lowest);
      if (kept.length === 0) view.next = next;
      view.items = [...items, ...kept];
      note.textContent = "";
      show();
    }
    return result;
  };
  return view;
}

function entry(item, withId) {
  const action = ACTIONS[item.action]?.label ?? OWN_ACTIONS[item.action] ?? item.action;
  const moved = item.prior_state && item.resulting_state && item.prior_state !== item.resulting_state;
  return h("li", { class: item.outcome.startsWith("denied") ? "denied" : null },
    h("p", { class: "when" }, ago(item.at), " ", h("span", { class: "hint" }, clock(item.at))),
    h("p", {},
      h("strong", {}, item.actor === null ? item.authority.replaceAll("_", " ") : foreign(item.actor)), " · ", action,
      withId && item.id !== null ? [" · ", foreign(item.id)] : null,
      item.authority === "engine" ? null : [" · ", OUTCOMES[item.outcome] ?? item.outcome],
      moved ? ` · ${stateWords(item.prior_state).label} → ${stateWords(item.resulting_state).label}` : null),
    item.note === null ? null : h("p", { class: "note" }, foreign(item.note)),
    item.request_id === null ? null : h("p", { class: "hint" }, "request ", foreign(item.request_id)));
}

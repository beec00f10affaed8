// All backfills, those that need somebody first.

import { foreign, h, svg, swap } from "./dom.js";
import { ago, count, percent, seconds, span, unknown } from "./format.js";
import { openRequests } from "./controls.js";
import { ACTIONS, GROUPS, WAITING, stateWords } from "./words.js";

let filter = "";

export function badge(state) {
  const words = stateWords(state);
  return h("span", { class: `badge ${words.tone}` },
    svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" },
      svg("circle", { cx: 12, cy: 12, r: 10 }),
      svg("path", { d: words.icon })),
    words.label);
}

/** A bar that shows what is known: nothing is drawn where no fraction can be defended. */
export function progressBar(row) {
  const { fraction, rows_scanned: rows, rows_total: total, eta } = row.progress;
  if (row.state === "pending") return h("p", { class: "progress-text" }, "No work begun");
  if (row.bound.kind === "empty") return h("p", { class: "progress-text" }, "The table was empty at the start: nothing to repair");
  return h("div", { class: "progress" },
    fraction === null
      ? h("div", { class: "bar unknown-bar", role: "img", "aria-label": "Share of the work unknown" })
      : h("progress", { class: "bar", max: 1, value: fraction, "aria-label": `${percent(row.progress)} of the rows up to the end` }),
    h("p", { class: "progress-text" },
      fraction === null ? ["share ", unknown("The rows up to the end have been neither counted nor estimated")] : h("strong", {}, percent(row.progress)),
      total === null ? ` · ${count(rows)} rows so far` : ` · ${count(rows)} of ${count(total)} rows`,
      row.state === "running" && seconds(eta) !== null ? ` · about ${span(seconds(eta))} left` : null));
}

/** One sentence: what is going on, and why. */
export function situation(row) {
  const { state, waiting, claim, diagnostic } = row;
  if (diagnostic && (state === "blocked" || state === "failed")) {
    return [h("strong", {}, h("code", {}, diagnostic.code)), diagnostic.at ? [", ", ago(diagnostic.at)] : null, ": ", foreign(diagnostic.message)];
  }
  if (state === "blocked" || state === "failed") return ["The reason is ", unknown("No diagnostic was stored"), "."];
  if (waiting) {
    return [WAITING[waiting.reason] ?? waiting.reason, waiting.since ? [" (since ", ago(waiting.since), ")"] : null, ": ", foreign(waiting.detail),
      row.retry.next_at ? [". Next try ", ago(row.retry.next_at)] : null];
  }
  if (state === "pending") return ["Waits for somebody to start it."];
  if (state === "paused") return ["An operator paused it. Nothing runs until somebody resumes it."];
  if (state === "completed") return ["Done and validated ", row.completed_at ? ago(row.completed_at) : null, ". It never runs again."];
  if (claim.status === "expired") return ["Its worker ", foreign(claim.owner ?? "unknown"), " stopped renewing; any process may take over."];
  const doing = state === "validating" ? "Every row was visited; the result is being checked" : "At work";
  if (claim.status === "none") return ["Open to any worker; none holds it at this moment."];
  return [doing, " on ", foreign(claim.owner ?? "unknown"), row.last_progress_at && state === "running" ? [", last batch ", ago(row.last_progress_at)] : null, "."];
}

function card(row) {
  const href = `#/b/${encodeURIComponent(row.id)}`;
  return h("li", { class: `card ${stateWords(row.state).tone}`, "data-id": row.id },
    h("div", { class: "card-head" },
      badge(row.state),
      row.required ? h("span", { class: "chip" }, "readiness needs it") : null,
      row.known_here ? null : h("span", { class: "chip warn" }, "not known to this process")),
    h("h3", {}, h("a", { href, "data-key": row.id }, row.id)),
    row.description ? h("p", { class: "description" }, foreign(row.description)) : null,
    progressBar(row),
    h("p", { class: "situation" }, situation(row)));
}

/** The gate in words. */
export function gateBanner(gate) {
  const open = gate.state === "open";
  if (gate.mode === "manual") {
    return h("div", { class: "gate idle", "data-gate": "manual" },
      h("strong", {}, "Manual mode."), " No backfill keeps this host from being ready.");
  }
  const need = `${gate.required.length} required`;
  return h("div", { class: `gate ${open ? "good" : "bad"}`, "data-gate": gate.state },
    h("strong", {}, open ? "Readiness gate open." : "Readiness gate closed."),
    open ? ` All ${need} backfills are completed.` : ` ${gate.reasons.length} of ${need} not completed: `,
    open ? null : h("ul", { class: "inline" }, gate.reasons.map((reason) => h("li", {},
      h("a", { href: `#/b/${encodeURIComponent(reason.id)}`, "data-key": `gate-${reason.id}` }, reason.id),
      ` (${stateWords(reason.state).label.toLowerCase()}${reason.code === reason.state ? "" : `: ${reason.code}`})`))));
}

export function buildList() {
  const rows = h("div", {});
  const gate = h("div", {});
  const asked = h("div", {});
  const search = h("input", { id: "filter", type: "search", value: filter, autocomplete: "off", spellcheck: "false", "data-key": "filter" });
  const view = { root: [
    h("h1", { class: "visually-hidden" }, "Backfills"),
    asked,
    gate,
    h("div", { class: "filter" }, h("label", { for: "filter" }, "Filter by ID or description"), search),
    rows,
  ] };
  view.update = (overview) => {
    const open = openRequests();
    swap(asked, open.map((request) => request.requestId), () => open.map(unsettled));
    swap(gate, overview.gate, () => gateBanner(overview.gate));
    swap(rows, [filter, overview.backfills], () => groups(overview.backfills));
  };
  search.addEventListener("input", () => {
    filter = search.value;
    if (view.last) view.update(view.last);
  });
  return view;
}

function unsettled(request) {
  return h("p", { class: "gate warn" }, `${ACTIONS[request.action].label}: not known yet whether it happened, for `,
    h("a", { href: `#/b/${encodeURIComponent(request.id)}`, "data-key": `asked-${request.id}` }, request.id), ".");
}

/** What is broken comes before what somebody paused, what readiness needs before what it does not. */
function urgency(row) {
  return (stateWords(row.state).tone === "bad" ? 0 : 2) + (row.required ? 0 : 1);
}

function groups(all) {
  if (all.length === 0) return h("p", { class: "panel" }, "No backfill is registered in this database.");
  const wanted = filter.trim().toLowerCase();
  const shown = all.filter((row) => `${row.id} ${row.description}`.toLowerCase().includes(wanted));
  if (shown.length === 0) return h("p", { class: "panel" }, `None of ${all.length} backfills matches the filter.`);
  return GROUPS.map(([group, title]) => {
    const rows = shown.filter((row) => stateWords(row.state).group === group)
      .sort((a, b) => urgency(a) - urgency(b) || (a.id < b.id ? -1 : 1));
    return rows.length === 0 ? null : h("section", { "aria-label": title },
      h("h2", {}, `${title} `, h("span", { class: "count" }, String(rows.length))),
      h("ul", { class: "cards" }, rows.map(card)));
  });
}

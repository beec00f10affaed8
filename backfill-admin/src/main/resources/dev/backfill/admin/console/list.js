// All backfills: how many there are of each kind, then those that need somebody. What is looked for stands in the address.

import { foreign, h, svg, swap } from "./dom.js";
import { ago, count, percent, seconds, span, unknown } from "./format.js";
import * as api from "./api.js";
import { openRequests } from "./controls.js";
import { ACTIONS, GROUPS, STATES, WAITING, stateWords } from "./words.js";

const PAGE = 25;
const MOST = 1000;
const GATE_REASONS = 8;

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
      row.state === "running" && seconds(eta) !== null ? ` · about ${span(seconds(eta))} left`
        : ["paused", "blocked", "failed"].includes(row.state) && seconds(eta) !== null ? ` · about ${span(seconds(eta))} of work left, once it goes on` : null));
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

/** One backfill in one line; in two where somebody has to know why it stands. */
export function line(row) {
  const words = stateWords(row.state);
  const { fraction, rows_scanned: rows } = row.progress;
  const family = row.family === row.id;
  return h("li", { class: `card ${words.tone}`, "data-id": row.id },
    badge(row.state),
    h("h3", {}, h("a", { href: `#/b/${encodeURIComponent(row.id)}`, "data-key": row.id, title: row.description || null }, row.id)),
    h("p", { class: "line-progress" }, row.state === "pending" || row.bound.kind === "empty" ? null
      : fraction === null ? `${count(rows)} rows`
        : [h("progress", { class: "bar", max: 1, value: fraction, "aria-label": `${percent(row.progress)} of the rows up to the end` }), " ", percent(row.progress)]),
    h("p", { class: "chips" },
      family ? h("span", { class: "chip" }, "family") : null,
      row.required ? h("span", { class: "chip" }, "required for readiness") : null,
      row.changed_nothing ? h("span", { class: "chip warn" }, "changed nothing") : null,
      row.known_here ? null : h("span", { class: "chip warn" }, "not known to this process")),
    words.group === "done" ? null : h("p", { class: "situation" }, situation(row)));
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
    open ? null : h("ul", { class: "inline" }, gate.reasons.slice(0, GATE_REASONS).map((reason) => h("li", {},
      h("a", { href: `#/b/${encodeURIComponent(reason.id)}`, "data-key": `gate-${reason.id}` }, reason.id),
      ` (${stateWords(reason.state).label.toLowerCase()}${reason.code === reason.state ? "" : `: ${reason.code}`})`)),
      gate.reasons.length > GATE_REASONS ? h("li", {}, `and ${gate.reasons.length - GATE_REASONS} more`) : null));
}

/** What the address asks for. */
function asked() {
  const query = new URLSearchParams(location.hash.split("?")[1] ?? "");
  return { q: query.get("q") ?? "", labels: query.getAll("label"), states: query.getAll("state"), family: query.get("family"), open: query.getAll("open"), closed: query.getAll("closed") };
}

/** The address for it, which somebody else can be given. */
function address({ q, labels, states, family, open, closed }) {
  const query = new URLSearchParams();
  if (q) query.set("q", q);
  if (family) query.set("family", family);
  for (const [name, values] of Object.entries({ label: labels, state: states, open, closed })) values.forEach((value) => query.append(name, value));
  const text = query.toString();
  return text ? `#/?${text}` : "#/";
}

function statesOf(group) {
  return Object.keys(STATES).filter((state) => STATES[state].group === group);
}

export function buildList() {
  const parts = Object.fromEntries(["requests", "gate", "counts", "rows"].map((name) => [name, h("div", {})]));
  const search = h("input", { id: "filter", type: "search", value: asked().q, autocomplete: "off", spellcheck: "false", "data-key": "filter" });
  const label = h("input", { id: "label", type: "search", value: asked().labels.join(" "), placeholder: "team:messaging", autocomplete: "off", spellcheck: "false", "data-key": "label" });
  const limits = new Map();
  let wanted = asked();
  const view = { root: [
    h("h1", { class: "visually-hidden" }, "Backfills"),
    parts.requests, parts.gate, parts.counts,
    h("div", { class: "filter" },
      h("label", { for: "filter" }, "ID or description"), search,
      h("label", { for: "label" }, "Label"), label),
    parts.rows,
  ] };
  view.onChange = () => {};

  function want(change) {
    wanted = { ...wanted, ...change };
    history.replaceState(null, "", address(wanted));
    limits.clear();
    view.onChange();
  }

  const groups = () => GROUPS.filter(([group]) => wanted.states.length === 0 || statesOf(group).some((state) => wanted.states.includes(state)));
  const isOpen = (group) => wanted.states.length > 0 || (group === "done" ? wanted.open.includes(group) : !wanted.closed.includes(group));

  function path(group) {
    const query = new URLSearchParams({ limit: limits.get(group) ?? PAGE });
    if (wanted.family) query.set("family", wanted.family);
    else query.set("collapse", "families");
    if (wanted.q.trim()) query.set("q", wanted.q.trim());
    for (const given of wanted.labels) query.append("label", given);
    for (const state of statesOf(group)) if (wanted.states.length === 0 || wanted.states.includes(state)) query.append("state", state);
    return `?${query}`;
  }

  /** One question for each group that is open; the counts come with any of them. */
  view.load = async () => {
    const open = groups().map(([group]) => group).filter(isOpen);
    const answers = await Promise.all((open.length ? open : ["attention"]).map((group) => api.read(path(group))));
    const bad = answers.find((answer) => answer.kind !== "ok");
    if (bad) return bad;
    const lines = new Map(open.map((group, i) => [group, answers[i].data]));
    return { kind: "ok", data: { gate: answers[0].data.gate, counts: answers[0].data.counts, lines } };
  };

  view.update = ({ gate, counts, lines }) => {
    const open = openRequests();
    swap(parts.requests, open.map((request) => request.requestId), () => open.map(unsettled));
    swap(parts.gate, gate, () => gateBanner(gate));
    swap(parts.counts, [counts, wanted.states], () => countBar(counts, wanted.states, want));
    swap(parts.rows, [wanted, [...limits], counts, [...lines]], () => sections(counts, lines));
  };

  function sections(counts, lines) {
    const filtered = wanted.q || wanted.labels.length || wanted.family;
    const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
    if (all === 0) {
      return h("p", { class: "panel" }, filtered ? "No backfill matches the filter. " : "No backfill is registered in this database.",
        filtered ? h("button", { type: "button", class: "quiet", "data-key": "clear", onclick: () => { search.value = label.value = ""; want({ q: "", labels: [], family: null, states: [] }); } }, "Clear the filter") : null);
    }
    return groups().map(([group, title]) => section(group, title, statesOf(group).reduce((sum, state) => sum + (wanted.states.length === 0 || wanted.states.includes(state) ? counts[state] : 0), 0), lines.get(group)));
  }

  function section(group, title, total, data) {
    if (total === 0) return null;
    const open = isOpen(group);
    const toggle = () => want(group === "done"
      ? { open: open ? [] : [group] }
      : { closed: open ? [...wanted.closed, group] : wanted.closed.filter((one) => one !== group) });
    const rows = (data?.backfills ?? []).toSorted((a, b) => urgency(a) - urgency(b) || (a.id < b.id ? -1 : 1));
    return h("section", { "aria-label": title, "data-group": group },
      h("h2", {}, wanted.states.length ? [title, " ", h("span", { class: "count" }, total.toLocaleString("en-US"))]
        : h("button", { type: "button", class: "group", "aria-expanded": String(open), "data-key": `group-${group}`, onclick: toggle },
          `${title} `, h("span", { class: "count" }, total.toLocaleString("en-US")))),
      open ? h("ul", { class: "cards" }, rows.map(line)) : null,
      open && data?.next_after && (limits.get(group) ?? PAGE) < MOST ? h("button", { type: "button", class: "quiet", "data-key": `more-${group}`, onclick: () => {
        limits.set(group, Math.min(MOST, (limits.get(group) ?? PAGE) + (limits.has(group) ? 200 : PAGE)));
        view.onChange();
      } }, `Show more of ${total.toLocaleString("en-US")}`) : null,
      open && data?.next_after && (limits.get(group) ?? PAGE) >= MOST ? h("p", { class: "hint" }, `The first ${MOST.toLocaleString("en-US")} by ID. Narrow them with the filter.`) : null);
  }

  let typing = null;
  const typed = () => {
    clearTimeout(typing);
    typing = setTimeout(() => want({ q: search.value, labels: label.value.split(/\s+/).filter((one) => /^[^:]+:/.test(one)) }), 250);
  };
  search.addEventListener("input", typed);
  label.addEventListener("input", typed);
  return view;
}

/** How many there are in each state; each is a filter. */
function countBar(counts, chosen, want) {
  const states = Object.keys(STATES).filter((state) => counts[state] > 0 || chosen.includes(state));
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const button = (key, label, tone, pressed, onclick) =>
    h("button", { type: "button", class: `tally ${tone}`, "aria-pressed": String(pressed), "data-key": `count-${key}`, onclick }, label);
  return h("div", { class: "tallies", role: "group", "aria-label": "Backfills by state" },
    button("all", [h("strong", {}, all.toLocaleString("en-US")), " all"], "idle", chosen.length === 0, () => want({ states: [] })),
    states.map((state) => button(state, [h("strong", {}, counts[state].toLocaleString("en-US")), ` ${stateWords(state).label.toLowerCase()}`], stateWords(state).tone, chosen.includes(state),
      () => want({ states: chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state] }))));
}

function unsettled(request) {
  return h("p", { class: "gate warn" }, `${ACTIONS[request.action].label}: not known yet whether it happened, for `,
    h("a", { href: `#/b/${encodeURIComponent(request.id)}`, "data-key": `asked-${request.id}` }, request.id), ".");
}

/** What is broken comes before what somebody paused, what is required for readiness before what is not. */
function urgency(row) {
  return (stateWords(row.state).tone === "bad" ? 0 : 2) + (row.required ? 0 : 1);
}

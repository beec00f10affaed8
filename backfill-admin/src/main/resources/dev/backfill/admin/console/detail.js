// One backfill: what is going on, what can be done about it, and everything that is known.

import * as api from "./api.js";
import * as controls from "./controls.js";
import { chart, size } from "./chart.js";
import { confirm } from "./dialog.js";
import { foreign, h, swap } from "./dom.js";
import { ago, bytes, count, countOr, keyText, moment, seconds, span, unknown } from "./format.js";
import { buildHistory } from "./history.js";
import { badge, line, progressBar, situation } from "./list.js";
import { answerBox } from "./outcome.js";
import { buildSettings } from "./settings.js";
import { ACTIONS, ANSWERS, QUESTIONS, stateWords, trouble } from "./words.js";

const LEAD = {
  blocked: "It stopped and waits for an operator.",
  failed: "It gave up and waits for an operator.",
};

let remedies = null;

export function buildDetail(id) {
  const parts = Object.fromEntries(["head", "now", "actions", "verdicts", "progress", "parts", "validation", "preflight", "facts"].map((name) => [name, h("div", {})]));
  const history = buildHistory(id);
  const preflight = { state: "not asked" };
  const settings = buildSettings(id);
  const asked = { mark: null, verdicts: null, table: null };
  const view = { root: [
    h("p", { class: "back" }, h("a", { href: "#/", "data-key": "back" }, "← All backfills")),
    parts.head, parts.now,
    h("section", { class: "panel", "aria-label": "Actions" }, parts.actions),
    h("section", { class: "panel", "aria-label": "What may be done" }, h("h2", {}, "What may be done"), parts.verdicts),
    h("section", { class: "panel", "aria-label": "Progress" }, h("h2", {}, "Progress"), parts.progress),
    parts.parts,
    h("div", { class: "columns" },
      h("section", { class: "panel", "aria-label": "Validation" }, h("h2", {}, "Validation on request"), parts.validation),
      h("section", { class: "panel", "aria-label": "Preflight" }, h("h2", {}, "Preflight"), parts.preflight),
      h("section", { class: "panel", "aria-label": "Rehearsal" }, h("h2", {}, "Rehearsal"), settings.rehearsal),
      h("section", { class: "panel", "aria-label": "Pace" }, h("h2", {}, "Pace"), settings.pace)),
    h("section", { class: "panel", "aria-label": "Facts" }, h("h2", {}, "Details"), parts.facts),
    h("section", { class: "panel", "aria-label": "Audit" }, h("h2", {}, "Who did what"), history.root),
  ], history };

  const render = () => view.last && view.update(view.last, view.current);
  const check = async () => {
    preflight.state = "asking";
    render();
    preflight.result = await api.read(api.backfillPath(id, "/preflight"));
    preflight.state = "answered";
    render();
  };
  /** Asked once for each state: a preflight may stand behind it. */
  const judge = async (row) => {
    const mark = JSON.stringify([row.state, row.validation, row.known_here, row.required]);
    if (asked.mark === mark) return;
    asked.mark = mark;
    const [verdicts, evidence] = await Promise.all([api.read(api.backfillPath(id, "/verdicts")),
      rowCondition(row) ? api.read(api.backfillPath(id, "/evidence")) : null]);
    if (asked.mark !== mark) return;
    asked.verdicts = verdicts;
    asked.table = evidence?.kind === "ok" ? evidence.data.definition.table : null;
    render();
  };
  view.update = (row, current) => {
    judge(row);
    const request = controls.requestFor(id);
    swap(parts.head, [row.id, row.state, row.description, row.required, row.known_here], () => head(row));
    swap(parts.now, [row.state, row.diagnostic, row.waiting, row.claim, row.last_progress_at, row.retry, remedies !== null, asked.table], () => now(row, asked.table));
    swap(parts.actions, [row.state, row.claim.generation, row.actions, row.required, current, request && { ...request, timer: null }], () => actions(row, request, current));
    swap(parts.verdicts, asked.verdicts, () => verdictList(asked.verdicts));
    const width = parts.progress.clientWidth || 640;
    swap(parts.progress, [width, row.progress, row.state, row.bound, row.state === "running" ? size(id) : Math.min(size(id), 3)], () => progress(row, width));
    swap(parts.parts, row.parts ?? null, () => row.parts ? family(row.parts) : null);
    swap(parts.validation, row.validation, () => validation(row.validation));
    swap(parts.preflight, [preflight.state, preflight.result], () => preflightPanel(preflight, check));
    swap(parts.facts, row, () => facts(row));
  };
  view.render = render;
  if (remedies === null) {
    api.diagnostics().then((all) => { remedies = all; render(); }, () => {});
  }
  return view;
}

/** The parts of a family, worst first. */
function family(parts) {
  const order = ["failed", "blocked", "paused", "running", "validating", "pending", "completed"];
  return h("section", { "aria-label": "Parts" }, h("h2", {}, "Parts ", h("span", { class: "count" }, String(parts.length))),
    h("ul", { class: "cards" }, parts.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state)).map(line)));
}

function head(row) {
  return [
    h("div", { class: "card-head" }, badge(row.state),
      row.required ? h("span", { class: "chip" }, "required for readiness") : null,
      row.known_here ? null : h("span", { class: "chip warn" }, "not known to this process")),
    h("h1", { class: "mono" }, row.id),
    row.description ? h("p", { class: "description" }, foreign(row.description)) : null,
  ];
}

/** The condition that finds the row a blocked backfill names, such as "id = 1132"; null if it names none. */
function rowCondition(row) {
  if (row.state !== "blocked" || !row.diagnostic) return null;
  const { message } = row.diagnostic;
  const named = /^Key \((.+?)\)\. /.exec(message);
  if (named) return named[1];
  const single = /\b([a-z_][a-z0-9_]* = (?:'[^']*'|[0-9.+-]+)(?: (?:and|AND) [a-z_][a-z0-9_]* = (?:'[^']*'|[0-9.+-]+))*)/.exec(message);
  if (single) return single[1];
  const between = /\bbetween ([a-z_][a-z0-9_]*) ([0-9]+) and ([0-9]+)/.exec(message);
  if (!between) return null;
  return between[2] === between[3] ? `${between[1]} = ${between[2]}` : `${between[1]} BETWEEN ${between[2]} AND ${between[3]}`;
}

function verdictList(result) {
  if (result === null) return h("p", { class: "hint" }, "Asking the server…");
  if (result.kind !== "ok") return h("p", { role: "status" }, "Not known: ", trouble(result));
  return h("dl", { class: "verdicts" }, Object.entries(QUESTIONS).map(([name, question]) => {
    const { verdict, reasons } = result.data[name];
    const [label, tone] = ANSWERS[verdict] ?? [verdict, "warn"];
    return h("div", { "data-verdict": `${name}-${verdict}` }, h("dt", {}, question),
      h("dd", {}, h("strong", { class: tone }, label), ". ", reasons.map((reason, i) => [i ? " " : null, foreign(reason.message)])));
  }));
}

function now(row, table) {
  const condition = rowCondition(row);
  const remedy = row.diagnostic && remedies?.[row.diagnostic.code];
  return h("div", { class: `now ${stateWords(row.state).tone}`, "data-state": row.state },
    h("p", { class: "situation" }, LEAD[row.state] ? h("strong", { class: "lead" }, LEAD[row.state]) : null, situation(row)),
    remedy && !row.diagnostic.message.includes(remedy.meaning) ? h("p", {}, remedy.meaning) : null,
    remedy ? h("p", {}, h("strong", {}, "What to do: "), remedy.remedy) : null,
    condition && table ? h("p", {}, h("strong", {}, "To see it: "), foreign(`SELECT * FROM ${table} WHERE ${condition};`, "code")) : null,
    row.changed_nothing ? h("p", {}, h("strong", {}, "It changed no row. "), "That is right where nothing was left to repair; otherwise look at its condition.") : null,
    row.state === "pending" ? h("p", {}, h("strong", {}, "Before a start: "),
      "the code that writes new rows correctly must be rolled out on every host, and old writers drained. The library can't check that.") : null,
    row.retry.attempt > 1 && row.state === "running"
      ? h("p", {}, `Attempt ${row.retry.attempt} of ${row.retry.max_attempts} since the last committed batch.`) : null);
}

function actions(row, request, current) {
  const open = controls.isOpen(request);
  const buttons = row.actions.map((action) => h("button", {
    type: "button", class: action === "validate" ? "quiet" : "primary", "data-action": action, "data-key": `action-${action}`,
    disabled: open || !current,
    onclick: async () => {
      const decision = await confirm(action, row);
      if (decision) controls.begin(row.id, action, decision.note, row.claim.generation);
    },
  }, ACTIONS[action]?.label ?? action));
  return [
    row.actions.length ? h("div", { class: "buttons" }, buttons) : h("p", {}, "There is nothing to do here."),
    !current ? h("p", { class: "hint" }, "What is shown is not current, so nothing can be decided on it. Actions come back with the next answer.") : null,
    request ? answerBox(request) : null,
  ];
}

function progress(row, width) {
  const { rows_changed: changed, batches, rows_per_second: rate, eta } = row.progress;
  const why = "Not known yet, or not to be defended";
  const fact = (label, value) => h("div", {}, h("dt", {}, label), h("dd", {}, value));
  const moving = row.state === "running";
  return [
    progressBar(row),
    h("dl", { class: "numbers" },
      fact("Rows changed", countOr(changed, why)),
      fact("Batches", countOr(batches, why)),
      fact("Rows per second", rate === null ? unknown(why) : Math.round(rate).toLocaleString("en-US")),
      fact("Time left", !moving ? "—" : seconds(eta) === null ? unknown(why) : `about ${span(seconds(eta))}`),
      fact("Last batch", row.last_progress_at === null ? (row.state === "pending" ? "none yet" : unknown("No batch was committed yet, or it is not known")) : ago(row.last_progress_at))),
    row.state === "pending" || row.state === "completed" ? null : chart(row.id, width),
  ];
}

function validation(latest) {
  const words = {
    not_run: "Nobody has asked for one yet. That says nothing about the rows.",
    running: "One is running.",
    success: "Success: it ran, and every row up to the end was as it should be.",
    failure: "Failure: it ran, and rejected what it found.",
  };
  return h("div", { class: `disposition ${latest.disposition}`, "data-disposition": latest.disposition },
    h("p", {}, h("strong", {}, words[latest.disposition] ?? latest.disposition), latest.at ? [" ", ago(latest.at)] : null),
    latest.diagnostic ? h("p", {}, h("code", {}, latest.diagnostic.code), " ", foreign(latest.diagnostic.message)) : null,
    latest.request_id ? h("p", { class: "hint" }, "request ", foreign(latest.request_id)) : null,
    h("p", { class: "hint" }, "What the worker's own validation found shows in the state above."));
}

function preflightPanel(preflight, check) {
  const { state, result } = preflight;
  const button = h("button", { type: "button", class: "quiet", "data-key": "preflight", disabled: state === "asking", onclick: check },
    state === "asking" ? "Running…" : state === "answered" ? "Run preflight again" : "Run preflight");
  if (state !== "answered") return [h("p", {}, "Looks at tables, columns, privileges and triggers. Changes nothing."), button];
  if (result.kind !== "ok") return [h("p", { role: "status" }, "Not known: ", trouble(result)), button];
  const { errors, warnings, estimates } = result.data;
  const list = (title, found) => found.length === 0 ? null : [h("h3", {}, title), h("ul", { class: "findings" },
    found.map((one) => h("li", {}, h("code", {}, one.code), " ", foreign(one.subject), ": ", foreign(one.message))))];
  const basis = (text) => (text ? [" (", foreign(text), ")"] : null);
  return h("div", { role: "status" },
    h("p", {}, h("strong", {}, errors.length ? "A start would be refused." : "Nothing stands in the way of a start.")),
    list("Errors", errors), list("Good to know", warnings),
    h("p", {}, "Rows: ", countOr(estimates.rows, "No estimate"), basis(estimates.rows_basis)),
    h("p", {}, "WAL to be written: ", estimates.wal_bytes === null ? unknown("No estimate") : h("span", { title: `${count(estimates.wal_bytes)} bytes` }, bytes(estimates.wal_bytes)), basis(estimates.wal_basis)),
    button);
}

function facts(row) {
  const { claim, retry, bound } = row;
  const code = (text) => foreign(text, "code");
  const known = (at) => (at === null ? null : moment(at));
  const seen = row.diagnostic && retry.last_error && row.diagnostic.code === retry.last_error.code && row.diagnostic.message === retry.last_error.message;
  const groups = {
    "Where it stands": [
      ["Begins after", bound.after && code(keyText(bound.after))],
      ["Checkpoint (inclusive)", row.checkpoint === null ? "none: before everything" : code(keyText(row.checkpoint))],
      ["End (inclusive)", bound.kind === "none" ? "not captured yet" : bound.kind === "empty" ? "the table was empty" : bound.key === null ? "each part has its own" : code(keyText(bound.key))],
      ["Key type", row.key_type === null ? unknown("No definition was ever registered") : code(keyText(row.key_type))],
    ],
    "Who works": [
      ["Claim", { none: "nobody holds it", held: ["held by ", foreign(claim.owner ?? "its parts' workers")], expired: ["expired; was held by ", foreign(claim.owner ?? "unknown")] }[claim.status] ?? claim.status],
      ["Claim lapses", known(claim.expires_at)],
      ["Generation", claim.generation === null ? "each part has its own" : code(claim.generation)],
      ["Attempts", `${retry.attempt} of ${retry.max_attempts} since the last committed batch`],
      ["Next attempt", known(retry.next_at)],
      // The diagnostic stands above; it is not told twice.
      ["Last error", retry.last_error === null || seen ? null : diagnosticText(retry.last_error)],
    ],
    When: [
      ["Registered", known(row.registered_at)],
      ["Started", known(row.started_at)],
      ["Last batch", known(row.last_progress_at)],
      ["End reached", known(row.validating_at)],
      ["Completed", known(row.completed_at)],
    ],
    "What is known": [
      ["Family", row.family === null || row.family === row.id ? null : h("a", { href: `#/b/${encodeURIComponent(row.family)}`, "data-key": "family" }, row.family)],
      ["Labels", Object.keys(row.labels).length === 0 ? null : Object.entries(row.labels).map(([name, value]) => h("a", { class: "chip", href: `#/?label=${encodeURIComponent(`${name}:${value}`)}`, "data-key": `label-${name}` }, foreign(`${name}: ${value}`)))],
      ["SQLSTATE", row.diagnostic?.sql_state ? code(row.diagnostic.sql_state) : null],
      ["WAL position of completion", row.completed_lsn === null ? null : code(row.completed_lsn)],
    ],
  };
  return h("div", { class: "fact-groups" }, Object.entries(groups).map(([title, rows]) => {
    const shown = rows.filter(([, value]) => value !== null && value !== undefined);
    return shown.length === 0 ? null : h("section", { "aria-label": title }, h("h3", {}, title),
      h("dl", { class: "facts" }, shown.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)))));
  }));
}

function diagnosticText(diagnostic) {
  return [h("code", {}, diagnostic.code), diagnostic.sql_state ? [" SQLSTATE ", h("code", {}, diagnostic.sql_state)] : null, " ",
    foreign(diagnostic.message), diagnostic.at ? [" (", ago(diagnostic.at), ")"] : null];
}

// Pace and rehearsal: what can be steered beside the lifecycle.

import * as api from "./api.js";
import { foreign, h, swap } from "./dom.js";
import { bytes, count, countOr, milliseconds, unknown } from "./format.js";
import { newRequestId } from "./controls.js";
import { trouble } from "./words.js";

const LIMITS = [
  ["rows_per_second", "Rows per second, at most"],
  ["wal_bytes_per_second", "WAL bytes per second, at most"],
  ["target_batch_ms", "Batch time to aim at, in ms"],
  ["pause_ratio", "Rest after a batch, as a multiple of its time"],
];

/** The two panels of one backfill; nothing is asked before somebody opens them. */
export function buildSettings(id) {
  const pace = h("div", {});
  const rehearsal = h("div", {});
  const state = { pace: null, said: null, rehearsal: null, busy: false };

  const path = (rest) => api.backfillPath(id, rest);
  const show = () => {
    swap(pace, [state.pace, state.said, state.busy], () => pacePanel());
    swap(rehearsal, [state.rehearsal, state.busy], () => rehearsalPanel());
  };
  const during = async (work) => {
    state.busy = true;
    show();
    await work();
    state.busy = false;
    show();
  };

  const look = () => during(async () => { state.pace = await api.read(path("/pace")); state.said = null; });
  const put = (body) => during(async () => {
    const answer = await api.setting("PUT", path("/pace"), newRequestId(), body);
    if (answer.kind === "ok") state.pace = { kind: "ok", data: answer.data.pace };
    state.said = answer.kind === "ok" ? "In force from the next batch on." : `Not known to be set. ${trouble(answer)}`;
  });
  const rehearse = () => during(async () => { state.rehearsal = await api.setting("POST", path("/rehearsal"), newRequestId(), null); });

  function pacePanel() {
    if (state.pace === null) {
      return [h("p", {}, "How hard it may press on the database, and how the database fares."),
        h("button", { type: "button", class: "quiet", "data-key": "pace", disabled: state.busy, onclick: look }, "Show pace")];
    }
    if (state.pace.kind !== "ok") return [h("p", { role: "status" }, "Not known: ", trouble(state.pace)), h("button", { type: "button", class: "quiet", "data-key": "pace", onclick: look }, "Ask again")];
    const now = state.pace.data;
    const fields = LIMITS.map(([name, label]) => [name, h("input", { id: `pace-${name}`, inputmode: "decimal", value: now[name] === null ? "" : String(now[name]), placeholder: "unlimited", "data-key": `pace-${name}` }), label]);
    const set = (event) => {
      event.preventDefault();
      const body = {};
      for (const [name, field] of fields) {
        const text = field.value.trim();
        body[name] = text === "" ? null : name === "wal_bytes_per_second" ? text : Number(text);
      }
      put(body);
    };
    return h("form", { class: "pace", onsubmit: set },
      h("p", {}, now.by_operator ? ["Set by ", foreign(now.set_by ?? "unknown"), "."] : "The definition's own pace."),
      fields.map(([name, field, label]) => h("div", {}, h("label", { for: `pace-${name}` }, label), field)),
      h("div", { class: "buttons" },
        h("button", { type: "submit", class: "quiet", "data-key": "pace-set", disabled: state.busy }, "Set pace"),
        h("button", { type: "button", class: "quiet", "data-key": "pace-reset", disabled: state.busy || !now.by_operator, onclick: () => put({ reset: true }) }, "Back to the definition's own")),
      state.said ? h("p", { role: "status" }, state.said) : null,
      now.signals.length === 0 ? null : h("ul", { class: "findings" }, now.signals.map((signal) => h("li", {}, h("code", {}, signal.name), `: ${signal.status.replaceAll("_", " ")}`,
        signal.value === null ? null : ` (${signal.value} of ${signal.limit ?? "no limit"} ${signal.unit})`))));
  }

  function rehearsalPanel() {
    const { rehearsal: answer } = state;
    const button = h("button", { type: "button", class: "quiet", "data-key": "rehearse", disabled: state.busy, onclick: rehearse }, answer ? "Rehearse again" : "Rehearse");
    if (answer === null) return [h("p", {}, "Real batches at the first, a middle and the last window, each rolled back. Moves nothing."), button];
    if (answer.kind !== "ok") return [h("p", { role: "status" }, "No result: ", trouble(answer)), button];
    const { samples, projection, batch_size: size } = answer.data.rehearsal;
    return h("div", { role: "status" },
      h("p", {}, `Windows of ${size.toLocaleString("en-US")} keys. Everything was rolled back.`),
      h("ul", { class: "findings" }, samples.map((sample) => h("li", {}, `${sample.position}: `,
        sample.failure ? [h("code", {}, sample.failure.code), " ", foreign(sample.failure.message)]
          : `${count(sample.would_change)} of ${count(sample.scanned)} rows would change, in ${milliseconds(sample.took_ms)}, WAL ${bytes(sample.wal_bytes)}`))),
      h("p", {}, "The whole: ", projection === null ? unknown("No sample to project from")
        : [countOr(projection.rows, "No estimate"), ` keys, ${count(projection.changed_low)} to ${count(projection.changed_high)} rows changed, in batches for ${milliseconds(projection.took_ms_low)} to ${milliseconds(projection.took_ms_high)}, WAL ${bytes(projection.wal_bytes_low)} to ${bytes(projection.wal_bytes_high)}`]),
      button);
  }

  show();
  return { pace, rehearsal };
}

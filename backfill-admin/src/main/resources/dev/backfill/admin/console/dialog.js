// Asks before anything is done, and says what it will do.

import { foreign, h } from "./dom.js";
import { ACTIONS } from "./words.js";

const MAX_NOTE = 500;

/** Resolves to {note} once somebody confirmed, to null if they did not. */
export function confirm(action, row) {
  const words = ACTIONS[action];
  const dialog = document.getElementById("dialog");
  const note = h("textarea", { id: "note", rows: 3, maxlength: MAX_NOTE, "aria-describedby": "note-help" });
  const left = h("span", {}, `${MAX_NOTE} characters left`);
  note.addEventListener("input", () => (left.textContent = `${MAX_NOTE - note.value.length} characters left`));
  return new Promise((resolve) => {
    const close = (result) => {
      dialog.close();
      resolve(result);
    };
    dialog.replaceChildren(
      h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); close({ note: note.value.trim() }); } },
        h("h2", { id: "dialog-title" }, words.ask),
        h("p", { class: "mono" }, foreign(row.id)),
        words.consequence.map((sentence) => h("p", {}, sentence)),
        row.required && row.state !== "completed"
          ? h("p", { class: "hint" }, "Readiness of the host that answers here depends on this backfill.") : null,
        h("label", { for: "note" }, "Note for the audit (optional)"),
        note,
        h("p", { class: "hint", id: "note-help" }, "Why you do this. Everybody who may read the audit sees it. ", left),
        h("div", { class: "buttons" },
          h("button", { type: "button", class: "quiet", "data-key": "cancel", onclick: () => close(null) }, "Cancel"),
          h("button", { type: "submit", class: "primary", "data-key": "confirm" }, `${words.label} now`))));
    dialog.oncancel = (event) => {
      event.preventDefault();
      close(null);
    };
    dialog.showModal();
    // Cancel has the focus: the Enter key of somebody in a hurry must not decide.
    dialog.querySelector("[data-key=cancel]").focus();
  });
}

// What became of a control, or that it is not known yet.

import * as controls from "./controls.js";
import { foreign, h } from "./dom.js";
import { ACTIONS, CONFLICTS, VALIDATION_REASONS, stateWords, trouble } from "./words.js";

/** The box under the buttons: one request, from the click until its outcome is known. */
export function answerBox(request) {
  const name = ACTIONS[request.action].label;
  const { tone, words, detail } = controls.isOpen(request) ? open(request, name) : answered(request, name);
  const repeatable = request.phase === "open" || outcomeOf(request) === "current-state";
  return h("div", { class: `answer ${tone}`, role: "status", "data-outcome": outcomeOf(request), "data-request": request.requestId },
    h("p", {}, h("strong", {}, words)),
    detail ? h("p", {}, detail) : null,
    h("div", { class: "buttons" },
      repeatable ? h("button", { type: "button", class: "primary", "data-key": "again", onclick: () => controls.again(request) }, "Ask again now") : null,
      request.phase === "sending" ? null : h("button", { type: "button", class: "quiet", "data-key": "dismiss", onclick: () => controls.dismiss(request) },
        request.phase === "open" ? "Stop asking" : "Close")),
    h("p", { class: "hint" }, "request ", foreign(request.requestId)));
}

function outcomeOf(request) {
  if (request.phase === "sending") return "sending";
  if (request.phase === "open") return "unknown";
  const { answer } = request;
  return answer.kind === "ok" ? answer.data.result ?? answer.data.outcome : answer.code ?? String(answer.status);
}

function open(request, name) {
  const { answer } = request;
  if (request.phase === "sending") {
    return { tone: "busy", words: request.tries > 1 ? `${name}: asking again with the same request…` : `${name}: sent, waiting for the answer…` };
  }
  if (answer?.kind === "ok") {
    return { tone: "busy", words: "Validation is still running. No result yet.", detail: "The same request is asked again every few seconds; it joins the one that runs." };
  }
  const again = request.nextTry ? "The same request is sent again by itself; it can't act twice." : "Asking again sends the same request; it can't act twice.";
  if (answer?.kind === "problem" && answer.status === 401) {
    return { tone: "warn", words: request.lost ? `${name}: not known whether it happened.` : `${name}: not done, because you are signed out.`, detail: "Sign in as the same operator and ask again." };
  }
  if (answer?.kind === "problem" && answer.status === 503 && !request.lost) {
    return { tone: "warn", words: `${name}: not done yet. ${trouble(answer)}`, detail: `${answer.code === "unavailable" ? "Nothing is known to have changed." : "Nothing was changed."} ${again}` };
  }
  return { tone: "warn", words: `${name}: not known whether it happened.`, detail: `No answer came back; the request may or may not have arrived. ${again}` };
}

function answered(request, name) {
  const { answer } = request;
  if (answer.kind === "problem") return refused(request, name, answer);
  const { data } = answer;
  // A browser repeats by itself too, when a connection breaks: then the server tells by "replayed".
  const recovered = request.lost || data.replayed ? "An answer was lost on the way; asking again with the same request recovered it." : null;
  if (data.outcome) return validated(data, recovered);
  return data.result === "applied"
    ? { tone: "good", words: `${name}: done. It is now ${stateWords(data.backfill.state).label.toLowerCase()}.`, detail: recovered }
    : { tone: "good", words: `${name}: it was so already. It is ${stateWords(data.backfill.state).label.toLowerCase()}.`, detail: recovered };
}

function validated(data, recovered) {
  if (data.outcome === "success") {
    return { tone: "good", words: "Validation: success. It ran, and every row up to the end was as it should be.", detail: recovered };
  }
  if (data.outcome === "failure") {
    return { tone: "bad", words: "Validation: failure. It ran, and rejected what it found.",
      detail: data.diagnostic ? [h("code", {}, data.diagnostic.code), " ", foreign(data.diagnostic.message)] : recovered };
  }
  return { tone: "warn", words: "Validation: no result. That means neither success nor failure.",
    detail: `It did not run, or has not ended: ${VALIDATION_REASONS[data.reason] ?? data.reason}.` };
}

function refused(request, name, answer) {
  const findings = (answer.findings ?? []).map((one) => h("li", {}, h("code", {}, one.code), " ", foreign(one.subject), ": ", foreign(one.message)));
  const state = answer.backfill ? ` It is ${stateWords(answer.backfill.state).label.toLowerCase()}.` : "";
  const reason = CONFLICTS[answer.code]
    ?? (answer.status === 403 ? "Your token may look, but not act." : answer.status === 404 ? "There is no such backfill any more." : trouble(answer));
  return { tone: "bad", words: `${name}: refused.${state}`, detail: [reason, findings.length ? h("ul", { class: "findings" }, findings) : null] };
}

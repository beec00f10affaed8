// Controls on their way. The request ID is made once for what somebody decided, kept until the outcome is known, and sent
// again with every repeat, so that a lost answer is recovered instead of a second action being taken. It outlives a reload.

import * as api from "./api.js";

const STORE = "backfill.requests";
const AUTOMATIC_REPEATS_MS = [1000, 2000, 4000, 8000];
const VALIDATION_REPEAT_MS = 3000;

const requests = new Map();
let changed = () => {};

/** An own random source: crypto.randomUUID exists only on secure origins, and a console may be reached by plain HTTP. */
export function newRequestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function onChange(listener) {
  changed = listener;
}

export function requestFor(id) {
  return requests.get(id) ?? null;
}

/** Requests whose outcome is not known yet. */
export function openRequests() {
  return [...requests.values()].filter((request) => isOpen(request));
}

/** Whether the outcome of a request is still open. */
export function isOpen(request) {
  return request !== null && request.phase !== "answered";
}

export function begin(id, action, note, generation) {
  const request = { id, action, note, generation, requestId: newRequestId(), phase: "sending", lost: false, tries: 0, answer: null };
  requests.set(id, request);
  send(request);
}

/** The same request once more. */
export function again(request) {
  request.tries = 0;
  send(request);
}

export function dismiss(request) {
  clearTimeout(request.timer);
  requests.delete(request.id);
  keep();
  changed();
}

/** Requests of this tab whose outcome was not known when the page was left. They wait for a token. */
export function restore() {
  try {
    for (const { id, action, note, generation, requestId } of JSON.parse(sessionStorage.getItem(STORE) ?? "[]")) {
      requests.set(id, { id, action, note, generation, requestId, phase: "open", lost: true, tries: 0, answer: null });
    }
  } catch {
    sessionStorage.removeItem(STORE);
  }
}

function keep() {
  const plain = openRequests().map(({ id, action, note, generation, requestId }) => ({ id, action, note, generation, requestId }));
  if (plain.length) sessionStorage.setItem(STORE, JSON.stringify(plain));
  else sessionStorage.removeItem(STORE);
}

async function send(request) {
  clearTimeout(request.timer);
  request.phase = "sending";
  request.tries += 1;
  keep();
  changed();
  const answer = await api.control(request.id, request.action, request.requestId, request.note, request.generation);
  if (requests.get(request.id) !== request) return;
  request.answer = answer;
  settle(request, answer);
  keep();
  changed(request);
}

function settle(request, answer) {
  if (answer.kind === "lost") {
    request.lost = true;
    repeatLater(request, AUTOMATIC_REPEATS_MS[request.tries - 1]);
  } else if (answer.kind === "ok") {
    const running = answer.data.outcome === "current-state" && answer.data.reason === "already_running";
    if (running) repeatLater(request, VALIDATION_REPEAT_MS);
    else request.phase = "answered";
  } else if (answer.status === 503) {
    const wait = AUTOMATIC_REPEATS_MS[request.tries - 1];
    repeatLater(request, wait && Math.max(wait, (answer.retryAfter ?? 0) * 1000));
  } else if (answer.status === 401 || (answer.status === 403 && request.lost) || answer.status >= 500) {
    // Whether an earlier copy arrived is still not known.
    request.phase = "open";
  } else {
    request.phase = "answered";
  }
}

/** A repeat by itself for a while only: a pause that arrives ten minutes after it was meant would surprise somebody. */
function repeatLater(request, wait) {
  request.phase = "open";
  request.nextTry = wait ? Date.now() + wait : null;
  if (wait) request.timer = setTimeout(() => api.isSignedIn() && send(request), wait);
}

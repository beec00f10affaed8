// Talks to the operator API. The token lives in this closure and nowhere else: not in storage, not in a URL, not in a
// cookie; a reload forgets it.

import { learnServerTime } from "./format.js";

const BASE = new URL("..", document.baseURI);
const READ_LIMIT_MS = 10_000;
const CONTROL_LIMIT_MS = 15_000;
const SETTING_LIMIT_MS = 60_000;

let token = null;

export function signIn(text) {
  token = text;
}

export function signOut() {
  token = null;
}

export function isSignedIn() {
  return token !== null;
}

/** The answer as {kind: "ok", data}, {kind: "problem", status, code, detail, …} or {kind: "lost"}: it may or may not have arrived. */
async function call(method, path, headers, body, limit, credential = token) {
  let response;
  try {
    response = await fetch(new URL(path, BASE), {
      method,
      headers: { Authorization: `Bearer ${credential}`, ...headers },
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(limit),
    });
    learnServerTime(response.headers.get("Date"));
    const data = await response.json();
    if (response.ok) return { kind: "ok", data };
    return problem(response, data);
  } catch {
    // No answer, or half of one, or one that is not ours: a proxy's page, for instance.
    if (response && !response.ok && response.status < 500) {
      return { kind: "problem", status: response.status, code: null, detail: null };
    }
    return { kind: "lost" };
  }
}

function problem(response, data) {
  return {
    kind: "problem",
    status: response.status,
    code: typeof data.code === "string" ? data.code : null,
    detail: typeof data.detail === "string" ? data.detail : null,
    backfill: data.backfill ?? null,
    findings: data.findings ?? [],
    retryAfter: Number(response.headers.get("Retry-After")) || null,
  };
}

export function read(path) {
  return call("GET", path, {}, undefined, READ_LIMIT_MS);
}

/** What the list says to a token that is not in use yet. */
export function attempt(credential) {
  return call("GET", "?limit=1", {}, undefined, READ_LIMIT_MS, credential);
}

/** A control on the generation that somebody saw when they decided; null for a family, whose parts have their own. */
export function control(id, action, requestId, note, generation) {
  const body = note ? JSON.stringify({ note }) : undefined;
  const headers = { "Idempotency-Key": requestId, ...(body ? { "Content-Type": "application/json" } : {}), ...(generation ? { "If-Match": `"${generation}"` } : {}) };
  return call("POST", `${encodeURIComponent(id)}/${action}`, headers, body, CONTROL_LIMIT_MS);
}

/** A request beside the lifecycle; a body of null is none. */
export function setting(method, path, requestId, body) {
  const headers = { "Idempotency-Key": requestId, ...(body ? { "Content-Type": "application/json" } : {}) };
  return call(method, path, headers, body ? JSON.stringify(body) : undefined, SETTING_LIMIT_MS);
}

/** Meaning and remedy of each diagnostic code. */
export async function diagnostics() {
  const response = await fetch(new URL("console/diagnostics.json", BASE), { credentials: "omit" });
  return response.ok ? response.json() : {};
}

export function backfillPath(id, rest = "") {
  return encodeURIComponent(id) + rest;
}

// The page: who is signed in, which view is open, and whether what it shows is current.

import * as api from "./api.js";
import * as controls from "./controls.js";
import { sample } from "./chart.js";
import { buildDetail } from "./detail.js";
import { h, swap } from "./dom.js";
import { span, tick } from "./format.js";
import { buildHistory } from "./history.js";
import { buildList } from "./list.js";
import { trouble } from "./words.js";

const REFRESH_MS = 2_000;
/** An answer older than this is not current, even while the next one is still awaited. */
const CURRENT_MS = 7_000;

const main = document.getElementById("main");
const session = document.getElementById("session");
const freshness = document.getElementById("freshness");
const nav = document.getElementById("nav");

let view = null;
let answeredAt = null;
let failure = null;
let round = 0;
let timer = null;

function route() {
  const [kind, id] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/");
  if (kind === "b" && id) return { kind: "detail", id: decoded(id) };
  return { kind: kind === "audit" ? "audit" : "list" };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Opens what the address names. */
function open() {
  const to = route();
  answeredAt = null;
  failure = null;
  nav.hidden = !api.isSignedIn();
  for (const link of nav.querySelectorAll("a")) {
    if (link.dataset.nav === to.kind) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!api.isSignedIn()) return signInView();
  view = to.kind === "detail" ? detailView(to.id) : to.kind === "audit" ? auditView() : listView();
  document.title = `${to.kind === "detail" ? to.id : to.kind === "audit" ? "Audit" : "Backfills"} · Backfill console`;
  main.replaceChildren(h("p", { class: "hint", id: "loading" }, "Asking the server…"));
  sessionBar();
  refresh();
}

function listView() {
  const list = buildList();
  list.onChange = () => { if (api.isSignedIn()) refresh(); };
  return { parts: list, load: list.load, show: (data) => { list.last = data; list.update(data); } };
}

function auditView() {
  const history = buildHistory(null);
  const parts = { root: [h("h1", {}, "Audit"), h("section", { class: "panel", "aria-label": "Audit records" }, history.root)] };
  return { parts, load: () => history.refresh(), show: () => {} };
}

function detailView(id) {
  const detail = buildDetail(id);
  let lastGeneration = null;
  return {
    id, parts: detail,
    load: () => api.read(api.backfillPath(id)),
    show: (data) => {
      sample(data);
      detail.last = data;
      detail.current = true;
      detail.update(data, true);
      // The audit moves with what happens to the row; asking for it each time would be waste.
      const mark = JSON.stringify([data.state, data.claim.generation, data.validation]);
      if (mark !== lastGeneration) detail.history.refresh();
      lastGeneration = mark;
    },
    stale: () => { detail.current = false; detail.render(); },
    renewed: () => { detail.render(); detail.history.refresh(); },
  };
}

/** One round: ask, show, plan the next. Only the newest round may show anything. */
async function refresh() {
  clearTimeout(timer);
  const mine = ++round;
  const shown = view;
  const result = await shown.load();
  if (mine !== round || shown !== view) return;
  if (result.kind === "ok") {
    if (answeredAt === null) main.replaceChildren(...shown.parts.root);
    answeredAt = Date.now();
    failure = null;
    shown.show(result.data);
  } else if (result.status === 401) {
    api.signOut();
    failure = result;
    sessionBar();
  } else {
    failure = result;
  }
  showFreshness();
  if (api.isSignedIn()) timer = setTimeout(refresh, REFRESH_MS);
}

/** Marks what is shown as current or not, and says how old it is. */
function showFreshness() {
  const signedOut = view !== null && !api.isSignedIn();
  const age = answeredAt === null ? null : Date.now() - answeredAt;
  const current = !failure && !signedOut && (age === null || age < CURRENT_MS);
  const wasCurrent = document.body.dataset.current !== "no";
  document.body.dataset.current = current ? "yes" : "no";
  if (!current && wasCurrent) view?.stale?.();
  const reason = failure?.status === 404 ? "There is no backfill of that ID."
    : failure?.status === 403 ? "Your token does not allow to look at this."
      : signedOut ? "Your token is not valid any more." : failure ? trouble(failure) : "The server has not answered for a while.";
  document.getElementById("loading")?.replaceChildren(failure ? `Nothing to show. ${reason}` : "Asking the server…");
  swap(freshness, current ? null : [reason, signedOut, age === null ? null : Math.round(age / 1000)], () => current ? null
    : h("div", { class: "stale" },
      h("strong", {}, age === null ? "No data." : `Not current: ${span(age / 1000)} old.`), ` ${reason} `,
      signedOut ? h("button", { type: "button", class: "quiet", "data-key": "back-in", onclick: signInView }, "Sign in again") : "Asking again by itself."));
}

function sessionBar() {
  swap(session, api.isSignedIn(), () => api.isSignedIn()
    ? h("button", { type: "button", class: "quiet", "data-key": "sign-out", onclick: leave }, "Sign out") : null);
}

function leave() {
  api.signOut();
  clearTimeout(timer);
  view = null;
  failure = null;
  round += 1;
  document.body.dataset.current = "yes";
  freshness.replaceChildren();
  delete freshness.dataset.signature;
  sessionBar();
  signInView();
}

/** Asks for a token. Nothing is shown, and nothing is asked of the server, before there is one. */
function signInView(message = null) {
  clearTimeout(timer);
  view = null;
  nav.hidden = true;
  document.title = "Sign in · Backfill console";
  document.body.dataset.current = "yes";
  freshness.replaceChildren();
  delete freshness.dataset.signature;
  const field = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const status = h("p", { class: "error", role: "alert" }, typeof message === "string" ? message : "");
  const enter = async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!/^[!-~]+$/.test(text)) {
      status.textContent = "A token has visible ASCII characters only. Was something else pasted?";
      return;
    }
    const result = await api.attempt(text);
    if (result.status === 401 || result.status === 403) {
      status.textContent = result.status === 401 ? "The server does not accept this token." : "This token does not allow to look at backfills.";
      field.select();
      return;
    }
    field.value = "";
    api.signIn(text);
    open();
  };
  main.replaceChildren(h("form", { class: "panel sign-in", onsubmit: enter },
    h("h1", {}, "Sign in"),
    h("label", { for: "token" }, "Operator token"), field,
    h("p", { class: "hint" }, "It is kept in this page's memory only and forgotten when you reload or close it."),
    h("button", { type: "submit", class: "primary" }, "Sign in"), status));
  field.focus();
}

document.getElementById("skip").addEventListener("click", () => main.focus());
controls.onChange((settled) => {
  view?.parts.render?.();
  // The row moved, or may have: do not wait for the next round.
  if (settled && view && api.isSignedIn()) refresh().then(() => view?.renewed?.());
});
addEventListener("hashchange", () => {
  // The form stays as it is: what was typed would be lost, and the address is read when somebody is signed in.
  if (api.isSignedIn() || view) open();
});
document.addEventListener("visibilitychange", () => {
  // A hidden page's timers are slowed down; whoever comes back wants to see what is, not what was.
  if (!document.hidden && view && api.isSignedIn()) refresh();
});
setInterval(() => { tick(); if (view) showFreshness(); }, 1000);
controls.restore();
open();

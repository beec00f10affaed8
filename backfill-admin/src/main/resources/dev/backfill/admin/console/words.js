// What things are called and what they mean, in the words of somebody who is woken up by them.

export const STATES = {
  pending: { label: "Not started", tone: "idle", group: "waiting", icon: "M12 6v6l4 2" },
  running: { label: "Running", tone: "busy", group: "working", icon: "M9 7l8 5-8 5z" },
  validating: { label: "Validating", tone: "busy", group: "working", icon: "M7 12l4 4 7-8" },
  paused: { label: "Paused", tone: "warn", group: "attention", icon: "M9 7v10M15 7v10" },
  blocked: { label: "Blocked", tone: "bad", group: "attention", icon: "M7 7l10 10M17 7L7 17" },
  failed: { label: "Failed", tone: "bad", group: "attention", icon: "M12 6v7M12 17v.5" },
  completed: { label: "Completed", tone: "good", group: "done", icon: "M7 12l4 4 7-8" },
};

/** A state that this console does not know is shown as what it is called, never guessed. */
export function stateWords(state) {
  return STATES[state] ?? { label: `Unknown state: ${state}`, tone: "warn", group: "attention", icon: "M12 6v7M12 17v.5" };
}

export const GROUPS = [
  ["attention", "Needs attention"],
  ["working", "Working"],
  ["waiting", "Not started"],
  ["done", "Completed"],
];

export const ACTIONS = {
  start: {
    label: "Start",
    ask: "Start this backfill?",
    consequence: [
      "It captures the newest key of the table as its fixed end, then begins to repair rows in small batches.",
      "Rows written after this moment are not its business: the code that writes them correctly must be rolled out on every host already, and old writers drained. The library can't check that, and a start can't be taken back.",
    ],
  },
  pause: {
    label: "Pause",
    ask: "Pause this backfill?",
    consequence: [
      "No further batch starts, and a batch under way either commits before the pause or is rolled back.",
      "Everything committed stays. It stays paused until somebody resumes it; a backfill that readiness needs keeps the host unready meanwhile.",
    ],
  },
  resume: {
    label: "Resume",
    ask: "Resume this backfill?",
    consequence: ["It goes on right after its checkpoint, with the same end. Nothing is done twice."],
  },
  retry: {
    label: "Retry",
    ask: "Retry this backfill?",
    consequence: [
      "It goes on right after its checkpoint, with the same end and a fresh count of attempts. Validation is not skipped.",
      "If the cause is still there, it will stop again at the same place.",
    ],
  },
  validate: {
    label: "Validate",
    ask: "Run the validation now?",
    consequence: [
      "It reads the table and changes no row. It can take minutes and puts read load on the database.",
      "Only a backfill in state Validating can be completed by it; everywhere else it only reports.",
    ],
  },
};

/** What the engine does by itself, as the audit calls it. */
export const OWN_ACTIONS = { block: "Stopped", fail: "Gave up", complete: "Completed", read: "Look", control: "Control", any: "Any", pace: "Pace", rehearse: "Rehearsal" };

export const WAITING = {
  retry_delay: "It waits before it tries again",
  claim_held: "A process holds it, but has shown no progress yet",
  no_worker: "No process has taken it up",
  unknown_here: "The process that answers here does not know this backfill",
  start_barrier: "It waits for transactions that were open when it was started",
  throttled: "It is slowed on purpose, by its pace or by the state of the database",
  lock_wait: "It waits for a lock that another session holds",
  schema: "The database lacks something that it needs",
  capacity: "Every worker of this process is busy with other backfills",
  prerequisite: "It waits until a backfill that comes before it is completed",
  read_only: "The database or its role is read-only",
  commit_wait: "Its commit waits for a standby that has to confirm it",
};

export const VALIDATION_REASONS = {
  not_started: "the backfill has not been started",
  already_running: "a validation is still running",
  start_barrier: "transactions from before the start are still open",
  timed_out: "it did not end in time",
  unknown_here: "the process that answers here does not know this backfill",
  incompatible_schema: "the database lacks something that the validation needs",
  unavailable: "the database could not be used",
};

export const CONFLICTS = {
  illegal_transition: "That is not possible in the present state. Somebody or something was faster.",
  request_id_reused: "This request ID belongs to another operator's request. Begin again.",
  unknown_here: "The process that answers here has no definition of this backfill or can't read its row. Ask a host of the release that can.",
  incompatible_schema: "The database lacks a table, column or privilege that it needs.",
  preflight_failed: "The check before the start found errors.",
  prerequisite_incomplete: "A backfill that comes before it is not completed yet.",
  generation_conflict: "It has moved on since you looked: another owner or operator was faster. Look again, then decide.",
};

export const OUTCOMES = {
  applied: "done",
  converged: "already so",
  replayed: "repeated request, answered again",
  illegal_transition: "refused: not possible in that state",
  request_id_reused: "refused: request ID was used before",
  unknown_here: "refused: not known to that process",
  incompatible_schema: "refused: the schema lacks something",
  preflight_failed: "refused: preflight found errors",
  prerequisite_incomplete: "refused: one that comes before is not completed",
  generation_conflict: "refused: it had moved on",
  busy: "not done: the row was locked",
  malformed: "refused: malformed request",
  success: "validation succeeded",
  failure: "validation rejected",
  current_state: "no result yet",
  unknown_id: "refused: no such backfill",
  denied: "denied",
  denied_summary: "denied, many times",
};

/** Why data could not be read, for people. */
export function trouble(result) {
  if (result.kind === "lost") return "The server did not answer.";
  const known = {
    unavailable: "The server can't reach PostgreSQL.",
    busy: "The row was locked for too long.",
    audit_unavailable: "The audit record could not be written.",
    schema_missing: "The library's tables are not in the database.",
    schema_incompatible: "The library's tables are of another version.",
    privilege_missing: "The database role lacks a privilege.",
    read_only: "The database is read-only.",
  };
  return known[result.code] ?? `The server answered ${result.status}: ${result.detail ?? "no reason given"}`;
}

/** What operators ask before they act, as the server calls it. */
export const QUESTIONS = {
  may_start: "May it be started?",
  may_contract: "May the contract migration run?",
  may_remove_code: "May its code be removed?",
};

export const ANSWERS = { yes: ["Yes", "good"], no: ["No", "bad"], cannot_tell: ["Cannot tell", "warn"] };

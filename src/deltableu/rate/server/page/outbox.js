// Answers on their way: kept in the browser until the server confirms them, under keys that never
// change, so that sending one twice rates nothing twice.

import { config, csrf, say, store, stored } from "./page.js";

const PATIENCE = 20_000;
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

/** What went wrong with a request: status 0 where no answer came. */
export class Failure extends Error {
  constructor(status, code, message, pause) {
    super(message);
    this.status = status;
    this.code = code;
    this.pause = pause;
  }

  /** Why, in the rater's language where the page has words for it. */
  get reason() {
    const name = `why_${this.code}`;
    return name in config.words ? say(name, { message: this.message }) : this.message;
  }

  /** Whether the same request may succeed later. */
  get passing() {
    return [0, 408, 429].includes(this.status) || this.status >= 500;
  }
}

/** Ask the server; whatever is not its JSON (a proxy's page, a hotel's) counts as no connection. */
export async function ask(address, options = {}) {
  let response;
  let content;
  try {
    response = await fetch(address, {
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE),
      ...options,
    });
    content = await response.json();
  } catch {
    throw new Failure(response && response.status >= 400 ? response.status : 0, "", "", null);
  }
  if (response.ok) return content;
  const seconds = Number(response.headers.get("Retry-After"));
  const pause = seconds > 0 ? Math.min(seconds, 300) * 1000 : null;
  throw new Failure(response.status, content.error ?? "", content.message ?? "", pause);
}

/** How long to wait after so many failures in a row; a little random, so that not all come at once. */
export function pauseAfter(failures) {
  const pause = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
  return pause * (0.75 + Math.random() / 2);
}

function newKey() {
  // crypto.randomUUID is missing where a page comes by plain http.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const outbox = {
  keptByBrowser: true,

  /** All answers that are not confirmed, oldest first. */
  entries() {
    const found = stored("outbox");
    return Array.isArray(found) ? found : [];
  },

  write(entries) {
    this.keptByBrowser = store("outbox", entries.length > 0 ? entries : null);
  },

  /** Keep an answer; `body` is what the server wants but for the key and the waiting time. */
  add(body, task) {
    const entry = {
      key: newKey(),
      body,
      task: task.task,
      kind: task.kind,
      answered: Date.now(),
      tries: 0,
    };
    this.write([...this.entries(), entry]);
    return entry;
  },

  remove(key) {
    this.write(this.entries().filter((entry) => entry.key !== key));
  },

  /** Send one answer; returns what the server says of it, or throws a Failure. */
  async send(entry) {
    const waited = entry.tries > 0 ? Math.max(0, Date.now() - entry.answered) : 0;
    this.write(
      this.entries().map((one) => (one.key === entry.key ? { ...one, tries: one.tries + 1 } : one)),
    );
    return ask("api/answers", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
      body: JSON.stringify({ key: entry.key, ...entry.body, waited }),
      keepalive: true,
    });
  },
};

/** The tasks this rater holds and has not answered. */
export function askForTasks(count) {
  return ask(`api/tasks?count=${count}`);
}

/** The rater's last answer, to be changed. */
export function askForLast() {
  return ask("api/last");
}

/** Whether two descriptions are of the same task; tickets may be renewed each time. */
export function sameTask(one, other) {
  return one.kind === other.kind && one.task === other.task;
}


// Tasks in, answers out: what the server said last, the tasks that are here, and what is unsent.

import { notify, say } from "./page.js";
import { askForTasks, outbox, pauseAfter, sameTask } from "./outbox.js";

// The task on the screen and the one after it, so that nobody waits between two.
const AHEAD = 2;
const LOOK_AGAIN = { waiting: 20_000, paused: 30_000 };

/** Load the page anew for a fresh token, but not for ever. */
function reloadOnce() {
  try {
    if (sessionStorage.getItem("deltableu:reloaded") !== null) return;
    sessionStorage.setItem("deltableu:reloaded", "1");
  } catch {
    return;
  }
  location.reload();
}

function reloadWorked() {
  try {
    sessionStorage.removeItem("deltableu:reloaded");
  } catch {
    // Then there was no reload either.
  }
}

export const supply = {
  state: null, // "practice", "rating", "waiting", "done" or "paused"; null until the server spoke
  completion: null,
  done: 0,
  total: 0,
  queue: [], // tasks that are here and not answered; the first one is on the screen
  failure: null, // why the last round did not come through
  replies: new Map(), // what the server said of an answer, for whoever waits for it
  confirmed: 0, // answers confirmed while this page is open
  stale: false, // whether the tasks here may have gone to others meanwhile
  changed: () => {},

  answered: [], // tasks answered since the last request for tasks began
  failures: 0,
  busy: false,
  again: false,
  timer: 0,

  /** Keep an answer for the next round; the task leaves the queue at once. */
  answer(task, body) {
    const entry = outbox.add({ ticket: task.ticket, ...body }, task);
    this.queue = this.queue.filter((other) => other !== task);
    this.answered.push(task);
    return entry.key;
  },

  get unsent() {
    return outbox.entries().length;
  },

  /** Answered tasks, with those that are still on their way. */
  get completed() {
    const waiting = outbox.entries().filter((entry) => entry.kind === "task" && !entry.body.revises);
    return Math.min(this.done + waiting.length, this.total);
  },

  /** Send what waits, then fill the queue. One round at a time; a failed one comes again. */
  async sync() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    clearTimeout(this.timer);
    try {
      do {
        this.again = false;
        await this.sendAll();
        await this.fill();
      } while (this.again);
      this.recovered();
    } catch (failure) {
      if (failure.status === undefined) throw failure;
      this.failed(failure);
    } finally {
      this.busy = false;
    }
    this.changed();
  },

  recovered() {
    this.failures = 0;
    this.failure = null;
    if (this.keptSome) notify(say("connected"));
    this.keptSome = false;
    if (this.queue.length === 0 && this.state !== "done") {
      this.timer = setTimeout(() => this.sync(), LOOK_AGAIN[this.state] ?? LOOK_AGAIN.waiting);
    }
  },

  failed(failure) {
    const first = this.failure === null;
    this.failures += 1;
    this.failure = failure;
    if (failure.code === "csrf") reloadOnce();
    if (!failure.passing) return;
    this.timer = setTimeout(() => this.sync(), failure.pause ?? pauseAfter(this.failures));
    if (this.unsent === 0) return;
    this.keptSome = true;
    if (first && this.queue.length > 0) notify(failure.reason || `${say("offline")}. ${say("offline_text")}`);
  },

  async sendAll() {
    for (const entry of outbox.entries()) {
      this.changed();
      try {
        const reply = await outbox.send(entry);
        this.replies.set(entry.key, reply);
        this.done = reply.done;
        this.total = reply.total;
        this.confirmed += 1;
        reloadWorked();
      } catch (failure) {
        const final = [403, 409, 413, 422].includes(failure.status) && failure.code !== "csrf";
        if (!final) throw failure;
        this.replies.set(entry.key, {});
        notify(say("refused", { message: failure.reason }));
      }
      outbox.remove(entry.key);
      this.changed();
    }
  },

  /** Ask for tasks where fewer than wanted are here; what was answered meanwhile stays away. */
  async fill() {
    if (this.queue.length >= AHEAD && !this.stale) return;
    const stale = this.stale;
    this.stale = false;
    this.answered = [];
    const reply = await askForTasks(AHEAD);
    const gone = [...outbox.entries().filter((entry) => !entry.body.revises), ...this.answered];
    const held = reply.tasks.filter((task) => !gone.some((other) => sameTask(task, other)));
    const shown = this.queue[0];
    if (shown) {
      const place = held.findIndex((task) => sameTask(task, shown));
      if (place >= 0) shown.ticket = held.splice(place, 1)[0].ticket;
      if (place >= 0 || !stale) held.unshift(shown);
    }
    this.queue = held;
    this.state = reply.state;
    this.done = reply.done;
    this.total = reply.total;
    this.completion = reply.completion ?? null; // a code for whoever sent the rater
  },
};

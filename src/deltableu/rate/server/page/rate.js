// The rater's page: one screen at a time, chosen anew whenever something changes.

import { config, make, notify, say, store, stored, studyText } from "./page.js";
import { askForLast, outbox, sameTask } from "./outbox.js";
import { supply } from "./supply.js";
import { TaskView, keysHint } from "./task.js";

// What is pressed so soon after a screen appears was meant for the one before it.
const REACTION = 300;
// "Saving" and "Loading" are shown only where that takes a moment: flicker helps nobody.
const SLOW = 400;

const [main, help, saved, progress, dialog] = ["main", "help", "saved", "progress", "instructions"].map(
  (id) => document.getElementById(id),
);

let screen = null; // {name, ...} of what is in main; of a task also {task, view, next, ...}
let begun = stored("begun") === true; // whether the instructions were read and left
let practised = false; // whether the last task was practice, so that a word is due before it counts
let revision = null; // {task, answer, values} while the last answer is being changed
let checked = null; // {key, ...screen} of a practice answer whose feedback is awaited or shown

// -------------------------------------------------------------------------- which screen

function render() {
  renderTop();
  const { failure, queue, state } = supply;
  if (failure?.status === 401) showMessage("signed_out");
  else if (failure && !failure.passing) showMessage("trouble", failure, retry("try_again"));
  else if (checked) showFeedback();
  else if (revision) showTask(revision.task);
  else if (queue.length > 0 && !begun) showStart();
  else if (queue.length > 0 && practised && queue[0].kind === "task") showPracticeOver();
  else if (queue.length > 0) showTask(queue[0]);
  else if (failure) showMessage(failureName(failure), failure, retry("try_again"));
  else if (state === null || state === "rating" || state === "practice") showLoading();
  else showMessage(state, null, state === "done" && supply.done > 0 ? undoButton() : null);
}

/** Put a screen into main and let a reader hear its heading; keys work wherever the focus is. */
function show(name, details, ...children) {
  screen = { name, shownAt: performance.now(), ...details };
  main.replaceChildren(...children);
  main.className = details.task?.responses.length > 1 ? "wide" : "";
  window.scrollTo(0, 0);
  main.querySelector("h2")?.focus({ preventScroll: true });
}

const heading = (text, options = {}) => make("h2", { tabindex: "-1", ...options, text });

function showMessage(name, failure = null, button = null) {
  const unsent = name === "done" && supply.unsent > 0 ? "done_unsent" : null;
  const text = failure?.reason || (name === "loading" ? "" : say(unsent ?? `${name}_text`));
  const completion = name === "done" && !unsent && supply.completion?.code ? supply.completion : null;
  const shown = `${name} ${text} ${completion?.code ?? ""}`;
  if (screen?.shown === shown) return;
  show(
    name,
    { shown },
    make(
      "div",
      { class: "card message" },
      name === "done" ? make("div", { class: "tick", "aria-hidden": "true", text: "✓" }) : null,
      heading(say(name), name === "loading" ? { class: "loading" } : {}),
      text ? studyText("p", text) : null,
      completion ? make("p", { class: "code" }, say("completion_code"), " ", make("code", { text: completion.code })) : null,
      completion?.url ? make("p", {}, make("a", { href: completion.url, rel: "noreferrer", text: say("completion_link") })) : null,
      button,
    ),
  );
}

/** While the next task is on its way, the one before it stays for a moment, out of reach. */
function showLoading() {
  if (screen?.name !== "task") showMessage("loading");
  else if (!screen.over) {
    const { view } = screen;
    screen.over = true;
    view.lock();
    setTimeout(() => screen.view === view && showMessage("loading"), SLOW);
  }
}

function failureName(failure) {
  if (failure.code === "paused") return "paused";
  return failure.reason ? "trouble" : "offline";
}

function retry(words) {
  const again = () => (supply.failure?.passing ? supply.sync() : location.reload());
  return make("button", { type: "button", class: "main", text: say(words), on: { click: again } });
}

// -------------------------------------------------------------------------- instructions

function instructionParts() {
  return [
    ...config.instructions.map((paragraph) => studyText("p", paragraph)),
    make(
      "div",
      { class: "keys" },
      make("h3", { text: say("keyboard") }),
      make("p", { text: `${keysHint()} ${say("keys_undo")}` }),
    ),
  ];
}

function showStart() {
  if (screen?.name === "start") return;
  const practice = supply.queue[0].kind === "practice";
  const start = () => {
    begun = true;
    store("begun", true);
    render();
  };
  show(
    "start",
    {},
    make(
      "div",
      { class: "card prose" },
      heading(say("instructions")),
      ...instructionParts(),
      make("button", {
        type: "button",
        class: "main",
        text: say(practice ? "start_practice" : "start"),
        on: { click: start },
      }),
    ),
  );
}

function showPracticeOver() {
  if (screen?.name === "practice_over") return;
  const start = () => {
    practised = false;
    render();
  };
  show(
    "practice_over",
    {},
    make(
      "div",
      { class: "card message" },
      heading(say("practice_over")),
      make("p", { text: say("practice_over_text") }),
      make("button", { type: "button", class: "main", text: say("start"), on: { click: start } }),
    ),
  );
}

function openInstructions() {
  dialog.replaceChildren(
    make("h2", { id: "instructions-title", tabindex: "-1", text: say("instructions") }),
    ...instructionParts(),
    make("button", {
      type: "button",
      class: "main",
      text: say("close"),
      on: { click: () => dialog.close() },
    }),
  );
  dialog.showModal();
  dialog.querySelector("h2").focus();
  dialog.scrollTop = 0;
}

// -------------------------------------------------------------------------- a task

function showTask(task) {
  if (screen?.task === task) {
    screen.undo?.replaceWith((screen.undo = undoButton()));
    return;
  }
  const practice = task.kind === "practice";
  const view = new TaskView(task, { changed });
  const next = make("button", {
    class: "main",
    text: say(revision ? "undo_save" : practice ? "check" : "next"),
  });
  const undo = revision ? cancelButton() : undoButton();
  const note = revision ? say("undo_note") : practice ? say("practice_note") : null;
  const number = Math.min(supply.completed + 1, supply.total);
  const title = practice
    ? say("practice")
    : say("task", { number: revision ? supply.completed : number, total: supply.total });
  const actions = make(
    "div",
    { class: "actions" },
    undo,
    make("p", { class: "keys", text: keysHint() }),
    next,
  );
  show(
    "task",
    { task, view, next, actions, undo: revision ? null : undo },
    make(
      "form",
      { novalidate: true, on: { submit: (event) => (event.preventDefault(), goOn()) } },
      heading(title, { class: "unseen" }),
      note ? make("p", { class: "note", text: note }) : null,
      view.body,
      actions,
    ),
  );
  const draft = stored("draft");
  if (revision) view.set(revision.values);
  else if (draft && sameTask(draft, task)) view.set(draft.values);
  showReady();
}

function changed() {
  const { task, view } = screen;
  if (!revision) store("draft", { kind: task.kind, task: task.task, values: view.values });
  showReady();
}

function showReady() {
  screen.next.setAttribute("aria-disabled", String(!screen.view.complete));
}

/** The main button, or Enter: to the next question, to the next task, or on after feedback. */
function goOn() {
  if (screen.name !== "task") {
    main.querySelector("button.main")?.click();
    return;
  }
  if (screen.over) return;
  const { task, view, shownAt } = screen;
  const soon = performance.now() - (checked?.shownAt ?? shownAt) < REACTION;
  if (checked) {
    if (checked.shownAt === undefined || soon) return;
    checked = null;
    render();
    return;
  }
  if (!view.complete) {
    if (!soon) view.unanswered.remind();
    return;
  }
  if (revision && JSON.stringify(view.values) === JSON.stringify(revision.values)) {
    cancelRevision();
    return;
  }
  const key = supply.answer(task, {
    values: view.values,
    elapsed: Math.round(performance.now() - shownAt),
    revises: revision?.answer ?? null,
  });
  if (!revision) store("draft", null);
  revision = null;
  practised = task.kind === "practice";
  if (practised) {
    checked = { key };
    view.lock();
    screen.next.textContent = say("saving");
    screen.next.setAttribute("aria-disabled", "true");
  }
  render();
  supply.sync();
}

/** After a practice answer: what the server says of it, in its place under the answer. */
function showFeedback() {
  const reply = supply.replies.get(checked.key);
  if (reply === undefined || checked.shownAt !== undefined) return;
  if (!reply.feedback) {
    checked = null;
    render();
    return;
  }
  const { right, text } = reply.feedback;
  checked.shownAt = performance.now();
  const verdict = make("h3", { tabindex: "-1", text: say(right ? "right" : "wrong") });
  const box = make(
    "div",
    { class: right ? "feedback right" : "feedback wrong" },
    verdict,
    studyText("p", text),
  );
  screen.actions.before(box);
  screen.next.textContent = say("go_on");
  screen.next.removeAttribute("aria-disabled");
  verdict.focus({ preventScroll: true });
  box.scrollIntoView({ block: "nearest" });
}

// -------------------------------------------------------------------------- undo

function undoButton() {
  const practice = supply.queue[0]?.kind === "practice";
  return make("button", {
    type: "button",
    class: "quiet undo",
    hidden: practice || supply.completed === 0,
    text: say("undo"),
    on: { click: startRevision },
  });
}

function cancelButton() {
  return make("button", {
    type: "button",
    class: "quiet",
    text: say("undo_cancel"),
    on: { click: cancelRevision },
  });
}

async function startRevision() {
  if (revision || checked || supply.completed === 0) return;
  if (supply.unsent > 0) {
    notify(say("undo_wait"));
    supply.sync();
    return;
  }
  try {
    const { task, answer, values } = await askForLast();
    if (task === null) notify(say("undo_none"));
    else if (!revision && !checked) revision = { task, answer, values };
  } catch (failure) {
    notify(failure.reason || say("offline"));
  }
  render();
}

function cancelRevision() {
  revision = null;
  render();
}

// -------------------------------------------------------------------------- the head of the page

let slowly = 0;

function renderTop() {
  help.hidden = !begun;
  progress.hidden = supply.total === 0;
  const places = { done: supply.completed, total: supply.total };
  const bar = progress.querySelector("progress");
  bar.max = supply.total || 1;
  bar.value = supply.completed;
  progress.querySelector("span").textContent = say("progress", places);

  clearTimeout(slowly);
  const { unsent, failure } = supply;
  if (unsent > 0 && failure) showSaved("unsent");
  else if (unsent > 0) slowly = setTimeout(() => showSaved("saving"), SLOW);
  else if (supply.confirmed > 0) showSaved("saved");
}

function showSaved(name) {
  saved.hidden = false;
  saved.className = `saved ${name}`;
  saved.textContent = say(name, { count: supply.unsent });
}

// -------------------------------------------------------------------------- keys and events

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialog.open) return;
  const onButton = document.activeElement?.tagName === "BUTTON";
  if (event.key === "Enter") {
    if (onButton) return;
    event.preventDefault();
    if (!event.repeat) goOn();
  } else if (event.key === "Backspace" && !event.repeat) startRevision();
  else if (event.key === "Escape" && revision) cancelRevision();
  else if (screen?.name === "task" && !screen.over && !checked && screen.view.takeKey(event)) event.preventDefault();
}

supply.changed = render;
help.addEventListener("click", openInstructions);
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
document.addEventListener("keydown", onKey);
window.addEventListener("online", () => supply.sync());
window.addEventListener("storage", renderTop);
window.addEventListener("beforeunload", (event) => {
  if (supply.unsent > 0 && !outbox.keptByBrowser) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  supply.stale = true;
  supply.sync();
});
render();
supply.sync();

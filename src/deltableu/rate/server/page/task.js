// One task as the rater sees it: what was said, what is to be judged, and the questions.

import { config, make, say, studyText } from "./page.js";
import { newField } from "./fields.js";

/** Turns of two speakers who alternate; the response is the second speaker's, so we count back. */
function conversation(task) {
  const turns = task.context.map((text) => ({ text, label: say("earlier") }));
  if (task.message !== null) turns.push({ text: task.message, label: say("message") });
  if (turns.length === 0) return null;
  const items = turns.map(({ text, label }, place) => {
    const near = (turns.length - place) % 2 === 1;
    const repeated = place > 0 && turns[place - 1].label === label;
    return make(
      "li",
      { class: near ? "turn theirs" : "turn ours" },
      make("span", { class: repeated ? "caption unseen" : "caption", text: label }),
      studyText("p", text, { class: "bubble" }),
    );
  });
  return make("ol", { class: "turns", "aria-label": say("conversation") }, ...items);
}

const assessed = config.layout === "assessment";
const caption = (text) => make("h3", { class: "caption", text });

/** The gray text; dark screens show it on paper too, for gray and black mean something here. */
function grayText(task) {
  const text = task.reference ?? task.message ?? "";
  return [caption(say("gray_text")), studyText("p", text, { class: "gray text" })];
}

/** A response under its title. */
function response(title, text) {
  return [caption(title), studyText("p", text, { class: assessed ? "black text" : "bubble" })];
}

/** A task with its fields. `changed` is called whenever an answer changes. */
export class TaskView {
  constructor(task, { changed }) {
    this.task = task;
    this.changed = changed;
    this.rows = [];
    this.body = make("div", { class: "task" });
    if (task.responses.length > 1) this.addPair();
    else this.addOne();
    this.fields = this.rows.flat();
    if (this.fields.length === 1) this.body.classList.add("single");
  }

  addOne() {
    const { task } = this;
    const [text] = task.responses;
    const shown = assessed
      ? [...grayText(task), ...response(say("black_text"), text)]
      : [
          conversation(task),
          make("div", { class: "turn ours judged" }, ...response(say("response"), text)),
        ];
    this.body.append(
      make("section", { class: assessed ? "card paper" : "card talk" }, ...shown),
      make("div", { class: "card answers" }, ...this.fieldsFor()),
    );
  }

  addPair() {
    const { task } = this;
    const rated = config.scale !== "preference";
    const before = assessed ? grayText(task) : [conversation(task)];
    const titles = [say("first_response"), say("second_response")];
    const sides = task.responses.map((text, place) =>
      make(
        "section",
        { class: "card judged" },
        make("div", { class: assessed ? "paper" : "said" }, ...response(titles[place], text)),
        rated ? make("div", { class: "answers" }, ...this.fieldsFor(titles[place])) : null,
      ),
    );
    if (before[0] !== null) {
      this.body.append(make("section", { class: assessed ? "card paper" : "card talk" }, ...before));
    }
    this.body.append(make("div", { class: rated ? "pair rated" : "pair" }, ...sides));
    if (!rated) this.body.append(make("div", { class: "card answers" }, ...this.fieldsFor()));
  }

  fieldsFor(title = "") {
    const row = config.criteria.map((criterion) =>
      newField(criterion, { changed: () => this.changed(), title }),
    );
    this.rows.push(row);
    return row.map((field) => field.element);
  }

  get values() {
    return this.rows.map((row) => row.map((field) => field.value));
  }

  /** Put answers back: those of an answer to be changed, or of a page that was closed half-way. */
  set(values) {
    this.rows.forEach((row, place) =>
      row.forEach((field, number) => field.set(values[place]?.[number] ?? null)),
    );
  }

  get unanswered() {
    return this.fields.find((field) => field.value === null) ?? null;
  }

  get complete() {
    return this.unanswered === null;
  }

  /** The field that keys go to. */
  get current() {
    return this.fields.find((field) => field.holdsFocus) ?? this.unanswered ?? this.fields[0];
  }

  /** Answer with a key; true where the key meant something. */
  takeKey(event) {
    const taken = this.current.takeKey(event);
    if (taken === "settled" && !this.complete) this.unanswered.focus();
    return taken !== null;
  }

  lock() {
    this.fields.forEach((field) => field.lock());
  }
}

/** How to answer with keys, on this scale. */
export function keysHint() {
  return say({ likert5: "keys_likert", slider100: "keys_slider" }[config.scale] ?? "keys_preference");
}


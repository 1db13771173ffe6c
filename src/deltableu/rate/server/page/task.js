// One task as the rater sees it: what was said, what is to be judged, and the questions.

import { config, make, say, studyText } from "./page.js";
import { newField } from "./fields.js";

/** Turns of two speakers who alternate; the response is the second speaker's, so we count back. */
function conversation(task) {
  const turns = task.context.map((text) => ({ text, caption: say("earlier") }));
  if (task.message !== null) turns.push({ text: task.message, caption: say("message") });
  if (turns.length === 0) return null;
  const items = turns.map(({ text, caption }, place) => {
    const near = (turns.length - place) % 2 === 1;
    const repeated = place > 0 && turns[place - 1].caption === caption;
    return make(
      "li",
      { class: near ? "turn theirs" : "turn ours" },
      make("span", { class: repeated ? "caption unseen" : "caption", text: caption }),
      studyText("p", text, { class: "bubble" }),
    );
  });
  return make("ol", { class: "turns", "aria-label": say("conversation") }, ...items);
}

/** The reference in gray; dark screens show it on paper too, where gray and black mean something. */
function assessment(task) {
  const text = task.reference ?? task.message ?? "";
  return [
    make("h3", { class: "caption", text: say("gray_text") }),
    studyText("p", text, { class: "gray text" }),
    make("h3", { class: "caption", text: say("black_text") }),
    studyText("p", task.responses[0], { class: "black text" }),
  ];
}

/** A task with its fields. `changed` is called whenever an answer changes. */
export class TaskView {
  constructor(task, { changed }) {
    this.task = task;
    this.changed = changed;
    this.rows = [];
    this.body = make("div", { class: `task ${config.layout}` });
    const two = task.responses.length > 1;
    if (config.layout === "assessment" && !two) {
      this.body.append(
        make("section", { class: "card paper" }, ...assessment(task)),
        make("div", { class: "card answers" }, ...this.fieldsFor()),
      );
    } else this.addDialogue(two);
    this.fields = this.rows.flat();
    if (this.fields.length === 1) this.body.classList.add("single");
  }

  addDialogue(two) {
    const { task } = this;
    const turns =
      config.layout === "assessment"
        ? studyText("p", task.reference ?? task.message ?? "", { class: "gray text" })
        : conversation(task);
    const titles = two ? [say("first_response"), say("second_response")] : [say("response")];
    const shown = task.responses.map((text, place) => [
      make("h3", { class: "caption", text: titles[place] }),
      studyText("p", text, { class: config.layout === "assessment" ? "black text" : "bubble" }),
    ]);
    if (!two) {
      this.body.append(
        make(
          "section",
          { class: "card talk" },
          turns,
          make("div", { class: "turn ours judged" }, ...shown[0]),
        ),
        make("div", { class: "card answers" }, ...this.fieldsFor()),
      );
      return;
    }
    const rated = config.scale !== "preference";
    if (turns) {
      const look = config.layout === "assessment" ? "card paper" : "card talk";
      this.body.append(make("section", { class: look }, turns));
    }
    this.body.append(
      make(
        "div",
        { class: rated ? "pair rated" : "pair" },
        ...shown.map((parts, place) =>
          make(
            "section",
            { class: config.layout === "assessment" ? "card judged paper" : "card judged" },
            make("div", { class: "said" }, ...parts),
            rated ? make("div", { class: "answers" }, ...this.fieldsFor(titles[place])) : null,
          ),
        ),
      ),
    );
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


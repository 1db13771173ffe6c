// One question and its answer: a choice of steps, a preference, or a line without a default.

import { config, make, say, studyText } from "./page.js";

let counter = 0;
const nextId = () => `field-${++counter}`;

/** The digit a key stands for, on any keyboard layout, or null. */
function digitOf(event) {
  if (/^[0-9]$/.test(event.key)) return Number(event.key);
  const found = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
  return found && !event.shiftKey ? Number(found[1]) : null;
}

/** +1 for an arrow towards the end of the scale, -1 towards its start, 0 for other keys. */
function stepOf(event, { vertical }) {
  const forward = config.direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  const back = config.direction === "rtl" ? "ArrowRight" : "ArrowLeft";
  if (event.key === forward || (vertical && event.key === "ArrowDown")) return 1;
  if (event.key === back || (vertical && event.key === "ArrowUp")) return -1;
  return 0;
}

/** What choice and line share: a group with the question as its name, and a place for a reminder. */
class Field {
  constructor(criterion, { changed, title }) {
    this.changed = changed;
    this.id = nextId();
    this.question = studyText("span", criterion.question, { class: "question" });
    this.reminder = make("p", { class: "reminder", id: `${this.id}-reminder`, hidden: true });
    this.element = make(
      "fieldset",
      { class: "field", "aria-describedby": `${this.id}-reminder` },
      make(
        "legend",
        { id: `${this.id}-question` },
        title ? make("span", { class: "unseen", text: `${title}. ` }) : null,
        this.question,
      ),
    );
  }

  get holdsFocus() {
    return this.element.contains(document.activeElement);
  }

  remind() {
    this.reminder.textContent = say("unanswered");
    this.reminder.hidden = false;
    this.focus();
  }

  answered() {
    this.reminder.hidden = true;
    this.changed();
  }

  lock() {
    this.element.disabled = true;
  }
}

/** One of several options, each with its value, its key and its words. */
class Choice extends Field {
  constructor(criterion, options, context) {
    super(criterion, context);
    this.options = options;
    this.inputs = options.map(({ value, words }) =>
      make("input", {
        type: "radio",
        name: this.id,
        value,
        "aria-label": words.startsWith(String(value)) ? words : `${value}: ${words}`,
        on: { change: () => this.choose(this.inputs.findIndex((input) => input.checked)) },
      }),
    );
    this.chosen = make("b", { dir: "auto" });
    this.element.append(
      make(
        "div",
        { class: "options" },
        ...options.map(({ value, words }, place) =>
          make(
            "label",
            { class: "option", title: words },
            this.inputs[place],
            make("span", { class: "number", "aria-hidden": "true", text: value }),
            studyText("span", words, { class: "words", "aria-hidden": "true" }),
          ),
        ),
      ),
      make(
        "p",
        { class: "anchors", "aria-hidden": "true" },
        studyText("span", options[0].words),
        this.chosen,
        studyText("span", options.at(-1).words),
      ),
      this.reminder,
    );
  }

  get value() {
    const place = this.inputs.findIndex((input) => input.checked);
    return place < 0 ? null : this.options[place].value;
  }

  set(value) {
    this.inputs.forEach((input, place) => (input.checked = this.options[place].value === value));
    this.show();
  }

  /** Where there is no room for all words, those of the choice stand between the two ends'. */
  show() {
    const place = this.inputs.findIndex((input) => input.checked);
    const between = place > 0 && place < this.inputs.length - 1;
    this.chosen.textContent = between ? this.options[place].words : "";
  }

  choose(place) {
    this.inputs[place].checked = true;
    this.inputs[place].focus();
    this.show();
    this.answered();
  }

  focus() {
    (this.inputs.find((input) => input.checked) ?? this.inputs[0]).focus();
  }

  /** Answer with a key; returns "settled" where the rater is through with this field. */
  takeKey(event) {
    const digit = digitOf(event);
    if (digit !== null) {
      const place = this.options.findIndex(({ value }) => value === digit);
      if (place < 0) return null;
      this.choose(place);
      return "settled";
    }
    const step = stepOf(event, { vertical: this.holdsFocus });
    if (step === 0) return null;
    const now = this.inputs.findIndex((input) => input.checked);
    this.choose(now < 0 ? this.entry(step) : Math.min(Math.max(now + step, 0), this.inputs.length - 1));
    return "moved";
  }

  /** Where the first arrow leads. */
  entry(step) {
    return step > 0 ? 0 : this.inputs.length - 1;
  }
}

class Preference extends Choice {
  /** The arrow points at the response that is better. */
  entry(step) {
    return step > 0 ? this.inputs.length - 1 : 0;
  }
}

/** A line from 0 to 100. It has no marker, and no answer, until the rater sets one. */
class Slider extends Field {
  constructor(criterion, context) {
    super(criterion, context);
    this.touched = false;
    this.pressed = false;
    this.typed = "";
    this.input = make("input", {
      type: "range",
      class: "untouched",
      min: 0,
      max: 100,
      step: 1,
      value: 50,
      "aria-labelledby": `${this.id}-question`,
      "aria-valuetext": say("unset"),
      "aria-describedby": `${this.id}-ends ${this.id}-hint`,
      // A press on the very middle changes no value, but it is a choice all the same; after a
      // touch there is no click, and one that began to scroll the page is none of ours.
      on: {
        input: () => this.touch(),
        click: () => this.touch(),
        pointerdown: () => (this.pressed = true),
        pointercancel: () => (this.pressed = false),
        pointerup: () => this.pressed && this.touch(),
      },
    });
    this.hint = make("p", { class: "hint", id: `${this.id}-hint`, text: say("place") });
    this.element.append(
      this.input,
      make(
        "p",
        { class: "ends", id: `${this.id}-ends` },
        studyText("span", criterion.labels[0]),
        studyText("span", criterion.labels[1]),
      ),
      this.hint,
      this.reminder,
    );
  }

  get value() {
    return this.touched ? Number(this.input.value) : null;
  }

  set(value) {
    this.touched = value !== null;
    if (this.touched) this.input.value = value;
    this.show();
  }

  show() {
    this.input.classList.toggle("untouched", !this.touched);
    this.input.setAttribute("aria-valuetext", this.touched ? `${this.value}%` : say("unset"));
    this.hint.textContent = this.touched ? "" : say("place");
  }

  touch() {
    if (this.element.disabled) return;
    this.touched = true;
    this.show();
    this.answered();
  }

  put(value) {
    this.input.value = value;
    this.input.focus();
    this.touch();
  }

  focus() {
    this.input.focus();
  }

  takeKey(event) {
    const digit = digitOf(event);
    if (digit !== null) {
      this.type(String(digit));
      return "moved";
    }
    const moves = this.holdsFocus ? ["ArrowUp", "ArrowDown", "PageUp", "PageDown"] : [];
    const sideways = stepOf(event, { vertical: false });
    if (!this.touched && (sideways !== 0 || moves.includes(event.key))) {
      this.put(50);
      return "moved";
    }
    if (!this.holdsFocus && sideways !== 0) {
      this.put(Number(this.input.value) + sideways);
      return "moved";
    }
    return null;
  }

  /** Digits typed one after another make one number. */
  type(digit) {
    clearTimeout(this.forget);
    this.forget = setTimeout(() => (this.typed = ""), 1500);
    this.typed = Number(this.typed + digit) <= 100 ? this.typed + digit : digit;
    this.put(Number(this.typed));
  }
}

/** The field for a criterion on the scale of this campaign. */
export function newField(criterion, context) {
  if (config.scale === "slider100") return new Slider(criterion, context);
  const options = (values) =>
    values.map((value, place) => ({ value, words: criterion.labels[place] }));
  if (config.scale === "preference") return new Preference(criterion, options([1, 0, 2]), context);
  return new Choice(criterion, options([1, 2, 3, 4, 5]), context);
}

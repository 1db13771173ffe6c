// What every part of the page uses: the settings, the words, and elements made of plain text.

export const config = JSON.parse(document.getElementById("config").textContent);
export const csrf = document.querySelector("meta[name=csrf]").content;

/** The words of this name, with {places} filled in; numbers as the language writes them. */
export function say(name, places = {}) {
  return config.words[name].replace(/\{(\w+)\}/g, (whole, place) => {
    const value = places[place];
    return typeof value === "number" ? value.toLocaleString(config.language) : (value ?? whole);
  });
}

/**
 * A new element. Text is only ever set as text, so that no string of a study becomes markup.
 * Options: `text`; `class`; `on` (event listeners); everything else is an attribute.
 */
export function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Text of the study, in whichever direction it runs. */
export function studyText(tag, text, options = {}) {
  return make(tag, { dir: "auto", ...options, text });
}

/** Have a screen reader say this. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Show a sentence for a while at the foot of the window, and have it read out. */
export function notify(text) {
  const notice = document.getElementById("notice");
  notice.textContent = text;
  notice.hidden = false;
  announce(text);
  clearTimeout(notify.timer);
  notify.timer = setTimeout(() => (notice.hidden = true), 8000);
}

// Storage of this rater in this campaign. Where the browser refuses, answers live as long as the page.
const memory = new Map();
const storageName = (name) => `deltableu:${config.campaign}:${config.rater}:${name}`;

export function stored(name) {
  try {
    const text = localStorage.getItem(storageName(name));
    if (text !== null) return JSON.parse(text);
  } catch {
    // Blocked or damaged: what is in memory counts.
  }
  return memory.get(name) ?? null;
}

/** Keep a value; false where only this page keeps it. */
export function store(name, value) {
  memory.delete(name);
  try {
    if (value === null) localStorage.removeItem(storageName(name));
    else localStorage.setItem(storageName(name), JSON.stringify(value));
    return true;
  } catch {
    if (value !== null) memory.set(name, value);
    return false;
  }
}

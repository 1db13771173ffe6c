// The organiser's page: asks for the campaign's state every few seconds and draws it.
const csrf = document.querySelector("meta[name=csrf]").content;
const find = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const SECONDS = 5;
let paused = false;

function make(name, values = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(values)) {
    if (key === "class") element.className = value;
    else if (key in element && key !== "scope") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function draw(name, values = {}, text = null) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  return element;
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
  };
  const answer = await fetch(path, { cache: "no-store", ...options });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.message || `The server answered ${answer.status}.`);
  return said;
}

function trouble(message) {
  const place = find("trouble");
  place.hidden = !message;
  place.textContent = message || "";
}

function duration(hours) {
  if (hours === null) return "–";
  if (hours < 1) return `${Math.round(hours * 60)} min`;
  return `${short.format(hours)} h`;
}

function ago(moment, now) {
  if (!moment) return "never";
  const minutes = Math.max(0, Math.round((new Date(now) - new Date(moment)) / 60000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h ago`;
  return `${Math.round(minutes / 1440)} days ago`;
}

function showTiles(view) {
  const { cost } = view;
  const money = (value) => (value === null ? null : number.format(Math.round(value)));
  const tiles = [
    ["ratings given", `${number.format(view.given)} of ${number.format(view.wanted)}`],
    ["tasks complete", `${number.format(view.complete)} of ${number.format(view.tasks)}`],
    ["in the last busy hour", view.per_hour === null ? "–" : number.format(view.per_hour)],
    ["of work so far", duration(cost.hours)],
    ["of work left", duration(cost.hours_left)],
  ];
  if (cost.money !== null) tiles.push(["cost so far", money(cost.money)]);
  if (cost.money_left !== null) tiles.push(["cost of the rest", money(cost.money_left)]);
  find("tiles").replaceChildren(
    ...tiles.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
  );
}

function showHours(hours) {
  const most = Math.max(1, ...hours.map((one) => one.answers));
  const width = 480, height = 150, base = 125, step = width / hours.length;
  const total = hours.reduce((sum, one) => sum + one.answers, 0);
  const label = `${total} answers in the last ${hours.length} hours, at most ${most} in one`;
  const chart = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  chart.append(draw("line", { class: "axis", x1: 0, x2: width, y1: base, y2: base }));
  hours.forEach((one, place) => {
    const size = (one.answers / most) * (base - 22);
    const bar = draw("rect", { class: "bar", x: place * step + 1, width: Math.max(1, step - 2), y: base - size, height: size, rx: 2 });
    bar.append(draw("title", {}, `${new Date(one.start).toLocaleString()}: ${one.answers}`));
    chart.append(bar);
  });
  chart.append(draw("text", { x: 0, y: 12 }, `at most ${number.format(most)}`));
  chart.append(draw("text", { x: 0, y: height - 4 }, `${hours.length} hours ago`));
  chart.append(draw("text", { x: width, y: height - 4, "text-anchor": "end" }, "now"));
  find("hours").replaceChildren(
    total ? chart : make("p", { class: "quiet-text" }, `Nobody has answered in the last ${hours.length} hours.`),
  );
}

function curve(criterion) {
  const values = criterion.consistency;
  const width = 480, height = 170, left = 34, base = 140, top = 10;
  const low = Math.min(0, ...values);
  const x = (place) => left + 8 + (place * (width - left - 20)) / Math.max(1, values.length - 1);
  const y = (value) => base - ((value - low) / (1 - low)) * (base - top);
  const last = values[values.length - 1].toFixed(2);
  const label = `The mean of ${values.length} raters correlates ${last} with that of the others`;
  const chart = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const value of [0, 0.5, 1]) {
    chart.append(draw("line", { class: "axis", x1: left, x2: width, y1: y(value), y2: y(value) }));
    chart.append(draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(1)));
  }
  chart.append(draw("polyline", { class: "curve", points: values.map((value, place) => `${x(place)},${y(value)}`).join(" ") }));
  values.forEach((value, place) => {
    const dot = draw("circle", { class: "dot", cx: x(place), cy: y(value), r: 3.5 });
    dot.append(draw("title", {}, `${place + 1} raters: ${value.toFixed(3)}`));
    chart.append(dot);
  });
  chart.append(draw("text", { x: width, y: height - 6, "text-anchor": "end" }, `1 to ${values.length} raters against the others`));
  return chart;
}

function showAgreement(criteria) {
  const parts = criteria.flatMap((one) => {
    const name = criteria.length > 1 ? `${one.name}: ` : "";
    const alpha = one.alpha === null
      ? `${name}Too few tasks have two ratings yet.`
      : `${name}Krippendorff's alpha is ${one.alpha.toFixed(2)} (1 is full agreement, 0 is chance).`;
    return [make("p", {}, alpha), one.consistency.length > 1 ? curve(one) : null];
  });
  find("agreement").replaceChildren(...parts.filter((part) => part !== null));
}

function showRaters(view) {
  const words = { passed: "passed", failed: "failed", unknown: "not known yet" };
  const order = { failed: 0, unknown: 1, passed: 2 };
  const rows = [...view.raters].sort((a, b) => order[a.verdict] - order[b.verdict] || b.answers - a.answers);
  // Who is at a button must not lose it to a redraw.
  if (find("raters").contains(document.activeElement)) return;
  find("raters").replaceChildren(...rows.map((one) => {
    const reasons = one.verdict === "failed" && one.reasons.length
      ? make("ul", {}, ...one.reasons.map((reason) => make("li", {}, reason))) : null;
    const link = make("td", {}, one.excluded ? "excluded " : one.can_rate ? "" : "ended ");
    link.append(make("button", { type: "button", class: "quiet", "aria-label": `New link for ${one.name}`, onclick: () => newLink(one.name) }, "New link"));
    if (one.can_rate) {
      link.append(" ", make("button", { type: "button", class: "quiet", "aria-label": `End the link of ${one.name}`, onclick: () => revoke(one.name) }, "End"));
    }
    if (one.verdict === "failed" && !one.excluded) {
      link.append(" ", make("button", { type: "button", class: "quiet", "aria-label": `Exclude ${one.name}`, onclick: () => exclude(one.name) }, "Exclude"));
    }
    return make("tr", {},
      make("td", { dir: "auto" }, one.name),
      make("td", { class: "count" }, number.format(one.answers)),
      make("td", { class: "count" }, one.seconds === null ? "–" : short.format(one.seconds)),
      make("td", {}, ago(one.last, view.now)),
      make("td", {}, make("span", { class: one.verdict }, words[one.verdict]), reasons),
      link,
    );
  }));
}

function show(view) {
  paused = view.state !== "open";
  find("answer").textContent = view.sentences[0];
  find("more").replaceChildren(...view.sentences.slice(1).map((one) => make("p", {}, one)));
  find("progress").value = view.wanted ? view.given / view.wanted : 0;
  const button = find("pause");
  button.textContent = paused ? "Resume" : "Pause";
  button.removeAttribute("aria-disabled");
  showTiles(view);
  showHours(view.hours);
  showAgreement(view.criteria);
  showRaters(view);
  find("fresh").textContent = `as of ${new Date(view.now).toLocaleTimeString()}`;
}

function showLinks(links) {
  const base = new URL(".", location.href).href;
  find("links").replaceChildren(
    make("ol", {}, ...links.map((one) => make("li", {}, make("span", { dir: "auto" }, one.name), make("code", {}, base + one.path)))),
    make("p", { class: "quiet-text" }, "These links are shown only now: copy them before you leave this page."),
  );
}

async function attempt(action) {
  try {
    await action();
    trouble("");
  } catch (error) {
    trouble(error.message);
  }
}

const newLink = (name) => attempt(async () => {
  if (!confirm(`Make a new link for ${name}? The old one will end.`)) return;
  showLinks((await ask("api/admin/link", { name })).links);
  find("links").scrollIntoView({ block: "center" });
});

const revoke = (name) => attempt(async () => {
  if (!confirm(`End the link of ${name}? What was answered stays.`)) return;
  document.activeElement.blur();
  await ask("api/admin/revoke", { name });
  show(await ask("api/admin/status"));
});

const exclude = (name) => attempt(async () => {
  if (!confirm(`Let nothing count that ${name} said, and give these tasks to others? This cannot be undone.`)) return;
  document.activeElement.blur();
  await ask("api/admin/exclude", { name });
  show(await ask("api/admin/status"));
});

find("pause").addEventListener("click", () => attempt(async () => {
  await ask("api/admin/state", { paused: !paused });
  show(await ask("api/admin/status"));
}));

find("add").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const text = find("names").value.trim();
    if (!text) throw new Error("Give names, or how many raters to add.");
    const body = /^[0-9]+$/.test(text)
      ? { count: Number(text) }
      : { names: text.split("\n").map((name) => name.trim()).filter(Boolean) };
    showLinks((await ask("api/admin/raters", body)).links);
    find("names").value = "";
    show(await ask("api/admin/status"));
  });
});

async function look() {
  await attempt(async () => show(await ask("api/admin/status")));
  setTimeout(look, SECONDS * 1000);
}
look();

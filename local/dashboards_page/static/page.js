// The frame: which dashboard, which time range, when to refresh. The figures come from the server, one widget at a time.
import { ago, clock, dayAndClock, element } from "./format.js";
import { fill, frame, words } from "./widgets.js";
import { inbox } from "./inbox.js";

const RANGES = { "1h": 3600e3, "3h": 3 * 3600e3, "12h": 12 * 3600e3, "1d": 24 * 3600e3 };
// Where nobody tells of changes: there are new figures once a minute. Where somebody does, not faster than the eye.
const MINUTE_MS = 60000, CALM_MS = 1000;
// ?still: for a picture, without what moves and what belongs to a person's session.
const asked = new URLSearchParams(location.search);
const still = asked.has("still");
const AT_ONCE = 4;
const at = (id) => document.getElementById(id);
const page = { dashboard: null, range: asked.get("range") in RANGES ? asked.get("range") : "3h", live: true, widgets: [], boxes: [], data: [], turn: 0, times: null };

// The page's own address, or the console's, as links on dashboards have it.
const inAddress = () => decodeURIComponent(location.hash.slice(1)).replace(/^dashboards:name=/, "");

async function ask(path, parameters = {}) {
  try {
    const answer = await fetch(`/api/${path}?${new URLSearchParams(parameters)}`);
    return answer.ok ? await answer.json() : { error: `The page's server answered ${answer.status}` };
  } catch {
    return { error: "The page's server does not answer: it was stopped" };
  }
}

function problem(text) {
  at("problem").textContent = text || "";
  at("problem").hidden = !text;
}

// When it was first so far, for whoever measures.
const mark = (what) => performance.getEntriesByName(what).length || performance.mark(what);

async function refresh() {
  const turn = ++page.turn;
  const overview = await ask("overview");
  if (turn !== page.turn) return;
  problem(overview.error);
  if (overview.error) return;
  page.times = { start: overview.now - RANGES[page.range], end: overview.now };
  header(overview);
  alarms(overview.alarms, overview.now);
  at("inbox").hidden = still || overview.inbox === null;
  if (overview.inbox) inbox(at("inbox"), overview.inbox);
  await widgets(turn, page.times);
  if (turn === page.turn) {
    document.body.dataset.ready = page.dashboard;
    at("status").textContent = `${dayAndClock(page.times.start)} to ${dayAndClock(page.times.end)} UTC · ${overview.endpoint} · refreshed ${clock(Date.now(), true)} UTC`;
  }
}

function header(overview) {
  at("environment").textContent = overview.environment;
  document.title = `Neuron Fleet · ${overview.environment}`;
  const names = overview.dashboards.map(({ name }) => name);
  if (!names.includes(page.dashboard)) {
    const wanted = inAddress();
    page.dashboard = names.find((name) => name === wanted) || names[0];
  }
  const known = [...at("dashboards").children].map((tab) => tab.dataset.name).join();
  if (known !== names.join()) {
    at("dashboards").replaceChildren(...overview.dashboards.map(({ name, title }) => {
      const tab = element("button", { type: "button", "data-name": name }, title);
      tab.addEventListener("click", () => show(name));
      return tab;
    }));
  }
  for (const tab of at("dashboards").children) {
    if (tab.dataset.name === page.dashboard) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
}

function show(name) {
  page.dashboard = name;
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  refresh();
}

// Of links on dashboards, and of the browser's way back.
function follow() {
  const names = [...at("dashboards").children].map((tab) => tab.dataset.name);
  const wanted = inAddress() || names[0];
  if (!names.includes(wanted)) return problem(`No dashboard ${wanted} here`);
  if (wanted === page.dashboard) return problem();
  scrollTo(0, 0);
  show(wanted);
}

function alarms(all, now) {
  // The parts of a composite tell nobody and have no tile: they are not counted either.
  const told = all.filter(({ pages }) => pages);
  const count = (state) => told.filter((alarm) => alarm.state === state).length;
  const counts = ["ALARM", "INSUFFICIENT_DATA", "OK"].filter(count).map((state) =>
    element("span", { class: `count ${state}` }, `${count(state)} ${state === "ALARM" ? "in alarm" : words(state)}`));
  const tags = told.filter(({ state }) => state === "ALARM").map((alarm) =>
    element("span", { class: "tag", title: alarm.reason }, alarm.name.split("/").slice(1).join(" / ") || alarm.name,
      alarm.since ? element("time", {}, ago(alarm.since, now)) : null));
  at("alarms").replaceChildren(...counts, ...tags);
  at("alarms").hidden = !told.length;
}

async function widgets(turn, times) {
  const name = page.dashboard;
  const answer = await ask("dashboard", { name });
  if (turn !== page.turn) return;
  problem(answer.error);
  if (answer.error) return;
  const layout = JSON.stringify([name, answer.widgets]);
  if (layout !== page.layout) {
    for (const box of page.boxes) for (const chart of box.querySelectorAll(".chart")) echarts.getInstanceByDom(chart)?.dispose();
    Object.assign(page, { layout, widgets: answer.widgets, boxes: answer.widgets.map(frame), data: [] });
    at("grid").replaceChildren(...page.boxes);
  }
  const waiting = page.widgets.map((_, index) => index);
  // In the order of the page, so what a person sees first is there first.
  const onScreen = page.boxes.filter((box) => box.getBoundingClientRect().top < innerHeight).length;
  let filled = 0;
  const next = async () => {
    while (waiting.length && turn === page.turn) {
      const index = waiting.shift();
      const data = await ask("widget", { name, index, start: times.start, end: times.end });
      if (turn !== page.turn) return;
      page.data[index] = data;
      fill(page.boxes[index], page.widgets[index], data, times);
      mark("first-widget");
      if (++filled === onScreen) mark("screen-filled");
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  mark("all-widgets");
}

function redraw() {
  page.widgets.forEach((widget, index) => page.data[index] && fill(page.boxes[index], widget, page.data[index], page.times));
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  redraw();
}

function controls() {
  at("ranges").replaceChildren(...Object.keys(RANGES).map((range) => {
    const button = element("button", { type: "button", "aria-pressed": String(range === page.range) }, range);
    button.addEventListener("click", () => {
      page.range = range;
      for (const other of at("ranges").children) other.setAttribute("aria-pressed", String(other === button));
      refresh();
    });
    return button;
  }));
  at("live").addEventListener("click", () => {
    page.live = !page.live;
    at("live").setAttribute("aria-pressed", String(page.live));
    if (page.live) refresh();
  });
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  preferred.addEventListener("change", () => theme(preferred.matches ? "dark" : "light"));
  at("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  theme(asked.get("theme") || (preferred.matches ? "dark" : "light"));
  addEventListener("resize", () => {
    for (const holder of document.querySelectorAll(".chart")) echarts.getInstanceByDom(holder)?.resize();
  });
  addEventListener("hashchange", follow);
  echarts.connect("page");
}

// One refresh at a time; what changes meanwhile is shown by the next one.
const fresh = { running: false, again: false };

async function refreshSoon() {
  if (!page.live || document.hidden) { fresh.again = true; return; }
  if (fresh.running) { fresh.again = true; return; }
  Object.assign(fresh, { running: true, again: false });
  await refresh();
  setTimeout(() => {
    fresh.running = false;
    if (fresh.again) refreshSoon();
  }, CALM_MS);
}

function keepFresh() {
  const changes = new EventSource("/api/changes");
  changes.addEventListener("message", refreshSoon);
  changes.addEventListener("silent", () => {
    changes.close();
    setInterval(refreshSoon, MINUTE_MS);
  });
  document.addEventListener("visibilitychange", () => { if (fresh.again) refreshSoon(); });
}

controls();
refresh();
if (still) document.body.classList.add("still"); else keepFresh();

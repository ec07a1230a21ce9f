// The frame: which dashboard, which time range, when to refresh. The figures come from the server, one widget at a time.
import { ago, clock, dayAndClock, element } from "./format.js";
import { fill, frame, words } from "./widgets.js";
import { inbox } from "./inbox.js";

const RANGES = { "1h": 3600e3, "3h": 3 * 3600e3, "12h": 12 * 3600e3, "1d": 24 * 3600e3 };
const REFRESH_MS = 10000;
const AT_ONCE = 4;
const at = (id) => document.getElementById(id);
const page = { dashboard: null, range: "3h", live: true, widgets: [], boxes: [], data: [], turn: 0, times: null };

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

async function refresh() {
  const turn = ++page.turn;
  const overview = await ask("overview");
  if (turn !== page.turn) return;
  problem(overview.error);
  if (overview.error) return;
  page.times = { start: overview.now - RANGES[page.range], end: overview.now };
  header(overview);
  alarms(overview.alarms, overview.now);
  at("inbox").hidden = overview.inbox === null;
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
    const asked = decodeURIComponent(location.hash.slice(1));
    page.dashboard = names.find((name) => name === asked) || names.find((name) => name.endsWith("-operator")) || names[0];
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

function alarms(all, now) {
  const count = (state) => all.filter((alarm) => alarm.state === state).length;
  const counts = ["ALARM", "INSUFFICIENT_DATA", "OK"].filter(count).map((state) =>
    element("span", { class: `count ${state}` }, `${count(state)} ${state === "ALARM" ? "in alarm" : words(state)}`));
  const tags = all.filter(({ state, pages }) => state === "ALARM" && pages).map((alarm) =>
    element("span", { class: "tag", title: alarm.reason }, alarm.name.split("/").slice(1).join(" / ") || alarm.name,
      alarm.since ? element("time", {}, ago(alarm.since, now)) : null));
  at("alarms").replaceChildren(...counts, ...tags);
  at("alarms").hidden = !all.length;
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
  const next = async () => {
    while (waiting.length && turn === page.turn) {
      const index = waiting.shift();
      const data = await ask("widget", { name, index, start: times.start, end: times.end });
      if (turn !== page.turn) return;
      page.data[index] = data;
      fill(page.boxes[index], page.widgets[index], data, times);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
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
  const asked = new URLSearchParams(location.search).get("theme");
  theme(asked || (preferred.matches ? "dark" : "light"));
  addEventListener("resize", () => {
    for (const holder of document.querySelectorAll(".chart")) echarts.getInstanceByDom(holder)?.resize();
  });
  echarts.connect("page");
}

async function keepFresh() {
  await refresh();
  setTimeout(async function again() {
    if (page.live && !document.hidden) await refresh();
    setTimeout(again, REFRESH_MS);
  }, REFRESH_MS);
}

controls();
keepFresh();

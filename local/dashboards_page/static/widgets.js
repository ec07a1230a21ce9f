// Draws one widget from its data; each kind has one function.
import { ago, element, figure, lastValue } from "./format.js";
import { colorOf, draw } from "./chart.js";

export function frame(widget, index) {
  const title = widget.title || (widget.type === "text" ? "Text" : "");
  const box = element("section", { class: `widget ${widget.type}`, "data-index": index, "aria-label": title || `Widget ${index + 1}` });
  box.style.gridColumn = `${widget.x === null ? "auto" : widget.x + 1} / span ${widget.width}`;
  box.style.gridRow = `${widget.y === null ? "auto" : widget.y + 1} / span ${widget.height}`;
  if (widget.title) {
    const unit = widget.unit || widget.type === "log" ? element("small", {}, widget.unit || "") : null;
    box.append(element("h2", { title: widget.title }, element("span", {}, widget.title), unit));
  }
  box.append(element("div", { class: "body" }, element("p", { class: "note" }, "…")));
  return box;
}

export function fill(box, widget, data, range) {
  const body = box.querySelector(".body");
  box.dataset.state = data.error ? "error" : "drawn";
  if (data.error) {
    forget(body);
    body.replaceChildren(element("p", { class: "note error" }, data.error));
  } else if (widget.type === "metric") metric(body, data, range);
  else if (widget.type === "alarm") body.replaceChildren(states(data.alarms, range.end));
  else if (widget.type === "log") {
    const counted = box.querySelector("h2 small");
    if (counted) counted.textContent = howMany(data);
    body.replaceChildren(data.rows.length ? table(data) : note("No rows in this time range"));
  }
  else body.replaceChildren(markdown(data.html));
}

const note = (text) => element("p", { class: "note" }, text);

function forget(body) {
  const chart = body.classList.contains("chart") ? echarts.getInstanceByDom(body) : null;
  if (chart) chart.dispose();
  body.classList.remove("chart");
  body.removeAttribute("role");
  body.removeAttribute("aria-label");
}

function metric(body, data, range) {
  const hasData = data.series.some((series) => lastValue(series) !== null);
  if (data.view === "singleValue") {
    body.replaceChildren(values(data.series, data.sparkline));
  } else if (!hasData) {
    forget(body);
    body.replaceChildren(note("No data in this time range"));
  } else {
    if (!body.classList.contains("chart")) body.replaceChildren();
    body.classList.add("chart");
    draw(body, data, range);
  }
}

// The way to the newest value, without axes: the number says how much, the line whether it grew.
function sparkline(points, color) {
  const measured = points.filter(([, value]) => value !== null);
  if (measured.length < 2) return null;
  const [first, last] = [measured[0][0], measured.at(-1)[0]];
  const top = Math.max(...measured.map(([, value]) => value)) || 1;
  const at = ([moment, value]) => `${(200 * (moment - first) / (last - first)).toFixed(1)},${(39 - 37 * value / top).toFixed(1)}`;
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 200 40", preserveAspectRatio: "none", class: "sparkline", "aria-hidden": "true" })) picture.setAttribute(name, value);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", measured.map(at).join(" "));
  line.style.stroke = color;
  picture.append(line);
  return picture;
}

function values(series, hasSparkline) {
  const shown = series.map((one, index) => {
    const dot = element("i", { "aria-hidden": "true" });
    dot.style.color = colorOf(one, index);
    return element("div", { class: "value" }, element("b", {}, figure(lastValue(one))), element("span", {}, dot, one.label),
      hasSparkline ? sparkline(one.points, colorOf(one, index)) : null);
  });
  return shown.length ? element("div", { class: "values" }, ...shown) : note("No data in this time range");
}

function states(alarms, now) {
  if (!alarms.length) return note("No alarm in these states");
  const order = { ALARM: 0, MISSING: 1, INSUFFICIENT_DATA: 2, OK: 3 };
  const sorted = [...alarms].sort((a, b) => order[a.state] - order[b.state] || a.name.localeCompare(b.name));
  return element("ul", { class: "states" }, ...sorted.map((alarm) => {
    const [subject, key] = alarm.name.split("/").slice(1);
    const since = alarm.since && alarm.state === "ALARM" ? `for ${ago(alarm.since, now)}` : words(alarm.state);
    return element("li", { class: `state ${alarm.state}`, title: `${alarm.name}\n${alarm.reason}` },
      element("i", { "aria-hidden": "true" }), element("b", {}, key || alarm.name),
      element("small", {}, subject ? `${subject} · ${since}` : since));
  }));
}

export const words = (state) => ({ INSUFFICIENT_DATA: "no data", MISSING: "not deployed", OK: "OK", ALARM: "alarm" })[state] || state;

// As many as are drawn; a query with a limit does not say how many it left out.
function howMany({ rows, limit }) {
  if (limit && rows.length >= limit) return `${rows.length} shown, there may be more`;
  return `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
}

// The words that dashboards/cores.py and dashboards/operator.py call their columns, and what they call not now.
const STATE = "last_state", AGE = "minutes_ago", STALE_MINUTES = 5;
const isNumber = (text) => text !== "" && !Number.isNaN(Number(text));
const isWord = (text) => /^[A-Z_]+$/.test(text);

// Since when a node's cores are not known, in minutes; null while they are.
function unseenFor(row, columns) {
  const age = Number(row[columns.indexOf(AGE)] || 0);
  if (row[columns.indexOf(STATE)] === "BLIND") {
    const reason = row.map((text) => / (?:for|after) (\d+) s\b/.exec(text)).find(Boolean);
    return reason ? age + Math.floor(reason[1] / 60) - 1 : age;
  }
  return age > STALE_MINUTES ? age : null;
}

function table(data) {
  // A state in place of a figure that was not measured does not make its column one of words.
  const numeric = data.columns.map((_, column) => data.rows.some((row) => isNumber(row[column]))
    && data.rows.every((row) => row[column] === "" || isNumber(row[column]) || isWord(row[column])));
  const kind = (column) => (numeric[column] ? "number" : null);
  const cell = (text, column, unseen) => {
    const name = data.columns[column];
    const list = name === "by_core" && unseen !== null ? unseenCores(text, unseen) : strip(text);
    if (list) return element("td", {}, list);
    if (name === STATE) return element("td", {}, element("span", { class: `node-state ${text}` }, text));
    const shown = isNumber(text) && numeric[column] && !/^\d{1,6}$/.test(text) ? figure(Number(text)) : text;
    return element("td", { class: kind(column) }, shown);
  };
  return element("table", {},
    element("thead", {}, element("tr", {}, ...data.columns.map((name, column) => element("th", { scope: "col", class: kind(column) }, name)))),
    element("tbody", {}, ...data.rows.map((row) => {
      const unseen = data.columns.includes(AGE) ? unseenFor(row, data.columns) : null;
      return element("tr", { class: unseen === null ? null : "unseen" }, ...row.map((text, column) => cell(text, column, unseen)));
    })));
}

// A list of percents, one a core: a strip with a cell for each, in their order. CloudWatch shows the list as it is.
function strip(text) {
  if (!/^\[(null|[\d.]+)(, ?(null|[\d.]+))*\]$/.test(text)) return null;
  const cells = JSON.parse(text).map((percent, index) => {
    const cell = element("i", { title: `core ${index}: ${percent === null ? "not measured" : `${figure(percent)} %`}`, class: percent === null ? "unmeasured" : null });
    if (percent !== null) cell.style.background = HEAT.find(([limit]) => percent <= limit)[1];
    return cell;
  });
  return element("span", { class: "strip" }, ...cells);
}

// Grey and dated: what they did then says nothing of now.
function unseenCores(text, minutes) {
  const cells = strip(text) || element("span", { class: "strip" }, element("i", { class: "all" }));
  for (const core of cells.children) core.style.background = "";
  return element("span", { class: "not-now", title: strip(text) ? null : text }, cells, `last seen ${minutes} min ago`);
}

// The bands of the heat in dashboards/cores.py, and its colors.
const HEAT = [[5, "#b79956"], [20, "#b3b305"], [40, "#09c466"], [60, "#288ec8"], [80, "#3468c0"], [Infinity, "#404fdb"]];

function markdown(html) {
  const holder = element("div", { class: "text" });
  // Rendered by the server with raw HTML switched off.
  holder.innerHTML = html;
  return holder;
}

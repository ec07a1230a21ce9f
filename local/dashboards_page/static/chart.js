// A metric widget's figures as an ECharts drawing.
import { dayAndClock, figure, lastValue } from "./format.js";

const LIGHT = ["#2f6fde", "#12918a", "#c98a12", "#d4553f", "#7a5fd3", "#4f9136", "#c44d8e", "#66788c"];
const DARK = ["#6ea0f5", "#3cc4ba", "#e5b04a", "#f2836c", "#a78ff0", "#83c466", "#e884b8", "#97a9bd"];

const LEGEND_GAP = 8, LEGEND_ROW = 18 + LEGEND_GAP, LEGEND_ROWS = 3;
const FONT = getComputedStyle(document.body).fontFamily;

export const isDark = () => document.documentElement.dataset.theme === "dark";
export const palette = () => (isDark() ? DARK : LIGHT);
export const colorOf = (series, index) => series.color || palette()[index % palette().length];

const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function draw(holder, data, range) {
  const chart = echarts.getInstanceByDom(holder) || echarts.init(holder, null, { renderer: "canvas" });
  chart.group = "page";
  chart.setOption(option(data, range, holder.clientWidth), { notMerge: true });
  chart.resize();
  holder.setAttribute("role", "img");
  holder.setAttribute("aria-label", describe(data));
}

export function describe(data) {
  const parts = data.series.map((series) => `${series.label}: ${figure(lastValue(series))}`);
  return parts.length ? `Newest values. ${parts.join("; ")}` : "No data";
}

function option(data, range, width) {
  const ink = { color: variable("--muted"), fontFamily: FONT, fontSize: 11 };
  const hasRight = data.series.some((series) => series.axis === "right");
  const stacks = data.stacked ? union(data.series) : null;
  // A layer that is empty all the time would only push the others out of the legend.
  const layers = data.series.filter((series) => !stacks || series.points.some((point) => point[1]));
  const named = (layers.length ? layers : data.series).map((series) => series.label);
  const lines = data.legend === "hidden" ? 0 : legendRows(named, width);
  const rows = lines > LEGEND_ROWS ? 1 : lines;
  return {
    animation: false,
    useUTC: true,
    grid: { left: 8, right: hasRight ? 8 : 14, top: data.thresholds.length ? 18 : 12, bottom: 2 + LEGEND_ROW * rows, containLabel: true },
    legend: {
      show: data.legend !== "hidden", data: named, type: lines > LEGEND_ROWS ? "scroll" : "plain", bottom: 0, left: 4, icon: "roundRect", itemWidth: 10, itemHeight: 4,
      itemGap: LEGEND_GAP, width: width - 24, textStyle: { ...ink, lineHeight: 18, height: 18 }, pageIconSize: 9, pageTextStyle: ink, pageIconColor: variable("--muted"), pageIconInactiveColor: variable("--line"),
    },
    tooltip: {
      trigger: "axis", confine: true, order: "valueDesc", backgroundColor: variable("--card"), borderColor: variable("--line"),
      textStyle: { color: variable("--ink"), fontSize: 12, fontFamily: FONT },
      valueFormatter: (value) => figure(value),
      axisPointer: { type: "line", lineStyle: { color: variable("--muted"), type: "dashed" }, label: { formatter: ({ value }) => dayAndClock(value) } },
    },
    xAxis: {
      type: "time", min: range.start, max: range.end, axisLine: { lineStyle: { color: variable("--line") } },
      axisTick: { show: false }, axisLabel: { ...ink, hideOverlap: true, formatter: { hour: "{HH}:{mm}", minute: "{HH}:{mm}", day: "{MM}-{dd}" } },
      splitLine: { show: false },
    },
    yAxis: [axis(data.axes.left, ink, data.series), ...(hasRight ? [{ ...axis(data.axes.right, ink, data.series), splitLine: { show: false } }] : [])],
    series: data.series.map((series, index) => line(series, index, stacks)).concat(thresholds(data, range)),
  };
}

// How many rows the names take: the chart leaves them room, because a name that is cut off says nothing.
function legendRows(names, width) {
  const pen = legendRows.pen ||= document.createElement("canvas").getContext("2d");
  pen.font = `11px ${FONT}`;
  let rows = names.length ? 1 : 0, used = 0;
  for (const name of names) {
    const needed = pen.measureText(name).width + 15 + LEGEND_GAP;
    if (used && used + needed > width - 24) [rows, used] = [rows + 1, 0];
    used += needed;
  }
  return rows;
}

// Nodes and errors come in whole numbers, and so do the marks of their axis.
const areWhole = (series) => series.every(({ points }) => points.every((point) => Number.isInteger(point[1] ?? 0)));

function axis(settings, ink, series) {
  return {
    minInterval: areWhole(series) ? 1 : 0,
    type: "value", min: settings?.min ?? undefined, max: settings?.max ?? undefined,
    // With both ends given, quarters: ECharts would round the steps and squeeze the last one.
    interval: settings?.min !== undefined && settings?.max !== undefined ? (settings.max - settings.min) / 4 : undefined,
    axisLabel: { ...ink, formatter: (value) => figure(value) }, splitNumber: 4,
    splitLine: { lineStyle: { color: variable("--line"), opacity: 0.8 } },
  };
}

function line(series, index, stacks) {
  const color = colorOf(series, index);
  const points = stacks ? aligned(series.points, stacks) : series.points;
  return {
    name: series.label, type: "line", data: points.map((point, at) => (alone(points, at) ? { value: point, symbol: "circle", symbolSize: 4 } : point)),
    yAxisIndex: series.axis === "right" ? 1 : 0, symbol: "none", connectNulls: false, color,
    lineStyle: { width: stacks ? 0 : 1.7, color }, itemStyle: { color },
    ...(stacks ? { stack: `stack-${series.axis}`, areaStyle: { color, opacity: 0.8 } } : {}),
    emphasis: { disabled: true },
  };
}

// A measured minute between two gaps has no line to either side, so it gets a dot.
function alone(points, at) {
  const empty = (index) => index < 0 || index >= points.length || points[index][1] === null;
  return points[at][1] !== null && empty(at - 1) && empty(at + 1);
}

function union(all) {
  return [...new Set(all.flatMap((series) => series.points.map(([moment]) => moment)))].sort((a, b) => a - b);
}

function aligned(points, moments) {
  const known = new Map(points);
  return moments.map((moment) => [moment, known.get(moment) ?? null]);
}

function thresholds(data, range) {
  return data.thresholds.map((threshold) => {
    const color = threshold.color ? (isDark() ? echarts.color.lift(threshold.color, 0.35) : threshold.color) : variable("--alarm");
    return {
      // The unseen line stretches the axis to the threshold, which a mark alone does not.
      type: "line", data: [[range.start, threshold.value], [range.end, threshold.value]], name: "", silent: true, symbol: "none",
      z: 9, lineStyle: { opacity: 0 }, tooltip: { show: false }, yAxisIndex: threshold.axis === "right" ? 1 : 0,
      markLine: {
        symbol: "none", silent: true, lineStyle: { color, type: [5, 4], width: 1.2 },
        label: { position: "insideEndTop", color, fontSize: 10.5, fontFamily: FONT, backgroundColor: variable("--card"), padding: [0, 3], formatter: threshold.label || figure(threshold.value) },
        data: [{ yAxis: threshold.value }],
      },
    };
  });
}

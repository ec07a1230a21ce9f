// Numbers and times as the page writes them. Times are UTC, like every time that the platform writes.

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

export function figure(value) {
  if (value === null || value === undefined) return "no data";
  const size = Math.abs(value);
  for (const [step, prefix] of PREFIXES) {
    if (size >= step * 10 || (step > 1e3 && size >= step)) return trim(value / step) + prefix;
  }
  return trim(value);
}

function trim(value) {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.01 || size === 0 ? 2 : 4;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

export function clock(milliseconds, withSeconds = false) {
  return new Date(milliseconds).toISOString().slice(11, withSeconds ? 19 : 16);
}

export function dayAndClock(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 16).replace("T", " ");
}

export function ago(from, to) {
  const minutes = Math.max(0, Math.round((to - from) / 60000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${String(minutes % 60).padStart(2, "0")}` : `${Math.floor(hours / 24)} d`;
}

export function lastValue(series) {
  for (let index = series.points.length - 1; index >= 0; index -= 1) {
    if (series.points[index][1] !== null) return series.points[index][1];
  }
  return null;
}

// An element with attributes and children; text is always text, never markup.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// The pages that arrived in the embedded inbox, newest first.
import { clock, element } from "./format.js";

const NAMES = { slack: "Slack", pagerduty: "PagerDuty" };

export function inbox(holder, messages) {
  const before = [...holder.querySelectorAll("details")];
  const open = new Set(before.filter((item) => item.open).map((item) => item.dataset.key));
  // What is new is shown open; the person closes it.
  if (messages.length > before.length) open.add(String(messages.length - 1));
  const items = messages.map((message, index) => item(message, String(index), open)).reverse();
  holder.replaceChildren(
    element("h2", {}, "Pages", element("span", {}, `${messages.length} received`)),
    ...(items.length ? items : [element("p", { class: "note" }, "Nobody has been paged.")]));
}

function item(message, key, open) {
  const told = title(message);
  const kind = /^RESOLVED/.test(told) ? "resolved" : /^PAGE/.test(told) ? "page-severity" : "";
  const when = `${message.received_at ? `${clock(message.received_at * 1000)} UTC · ` : ""}${NAMES[message.channel] || message.channel}`;
  const text = element("pre", {});
  for (const part of body(message).split(/(\*[^*\n]+\*)/)) {
    text.append(/^\*[^*\n]+\*$/.test(part) ? element("b", {}, part.slice(1, -1)) : part);
  }
  return element("details", { class: `page ${kind}`, "data-key": key, open: open.has(key) ? "" : null },
    element("summary", {}, told, element("span", { class: "when" }, when)), text);
}

function title({ body: sent }) {
  return sent?.payload?.summary || sent?.text || (sent?.event_action === "resolve" ? "RESOLVED in PagerDuty" : "Message");
}

function body({ body: sent }) {
  if (sent?.blocks) {
    return sent.blocks.slice(1).map((block) => block.text?.text || "").join("\n\n")
      .replace(/<([^|>]+)\|([^>]+)>/g, "$2").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  }
  const details = sent?.payload?.custom_details || {};
  return Object.entries(details).map(([name, value]) => `*${name}:* ${Array.isArray(value) ? `\n${value.join("\n")}` : value}`).join("\n");
}

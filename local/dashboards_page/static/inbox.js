// The pages that arrived in the embedded inbox, newest first.
import { clock, element } from "./format.js";

const NAMES = { slack: "Slack", pagerduty: "PagerDuty" };

export function inbox(holder, messages) {
  const pages = merged(messages);
  const before = [...holder.querySelectorAll("details")];
  const open = new Set(before.filter((item) => item.open).map((item) => item.dataset.key));
  // What is new is shown open; the person closes it.
  if (pages.length > before.length) open.add(String(pages.length - 1));
  const items = pages.map((page, index) => item(page, String(index), open)).reverse();
  holder.replaceChildren(
    element("h2", {}, "Pages", element("span", {}, `${pages.length} received`)),
    ...(items.length ? items : [element("p", { class: "note" }, "Nobody has been paged.")]));
}

// The same words to several channels are one entry; Slack's text is the one to read.
function merged(messages) {
  const pages = [];
  for (const message of messages) {
    const told = title(message);
    const same = pages.find((page) => page.title === told && page.receivedAt === message.received_at);
    const channel = NAMES[message.channel] || message.channel;
    if (!same) pages.push({ title: told, receivedAt: message.received_at, channels: [channel], text: body(message) });
    else {
      same.channels.push(channel);
      if (message.body?.blocks) same.text = body(message);
    }
  }
  return pages;
}

function item(page, key, open) {
  const kind = /^RESOLVED/.test(page.title) ? "resolved" : /^PAGE/.test(page.title) ? "page-severity" : "";
  const when = `${page.receivedAt ? `${clock(page.receivedAt * 1000)} UTC · ` : ""}${page.channels.join(", ")}`;
  const text = element("pre", {});
  for (const part of page.text.split(/(\*[^*\n]+\*)/)) {
    text.append(/^\*[^*\n]+\*$/.test(part) ? element("b", {}, part.slice(1, -1)) : part);
  }
  return element("details", { class: `page ${kind}`, "data-key": key, open: open.has(key) ? "" : null },
    element("summary", {}, page.title, element("span", { class: "when" }, when)), text);
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

/**
 * The researcher's page: live tables with intervals. It shows what the API returns, no more.
 * The token stands after '#' in the address, which no browser sends to a server.
 */

import { element, show, tell } from "./element.js";
import { textIn } from "./words.js";

const name = decodeURIComponent(location.pathname.split("/").pop() ?? "");
const REFRESH_SECONDS = 5;
const SVG = "http://www.w3.org/2000/svg";
let token = decodeURIComponent(location.hash.slice(1));
let shown = "";

void refresh();
setInterval(() => { if (!document.hidden && token) void refresh(); }, REFRESH_SECONDS * 1000);
addEventListener("hashchange", () => { token = decodeURIComponent(location.hash.slice(1)); void refresh(); });

async function refresh() {
  if (!token) return askForToken("");
  try {
    const response = await fetch(`/v1/surveys/${encodeURIComponent(name)}/results`, {
      headers: { Authorization: `Bearer ${token}` }, credentials: "omit", cache: "no-store",
    });
    const text = await response.text();
    const found = JSON.parse(text);
    if (response.status === 401 || response.status === 403) return askForToken(found.detail);
    if (!response.ok) throw new Error(found.detail);
    tell("");
    if (text !== shown) draw(found);
    shown = text;
  } catch (error) {
    tell(`No news from the server: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {string} why */
function askForToken(why) {
  const input = element("input", { type: "password", id: "token", autocomplete: "off" });
  show(
    element("h1", {}, "This view needs a token"),
    element("p.error", {}, why),
    element("form", { submit: (/** @type {Event} */ event) => {
      event.preventDefault();
      token = /** @type {HTMLInputElement} */ (input).value.trim();
      void refresh();
    } }, element("p", {}, element("label", { for: "token" }, "Token "), input), element("button.primary", {}, "Open")));
}

/** @param {any} found */
function draw(found) {
  const open = new Set([...document.querySelectorAll("details[open]")].map((one) => one.id));
  const title = textIn(found.title) || found.name;
  document.title = `${title} – results`;
  const place = scrollY;
  const refused = Object.values(found.refused).reduce((sum, count) => sum + Number(count), 0);
  const view = /** @type {HTMLElement} */ (document.getElementById("view"));
  view.replaceChildren(
    element("h1", {}, title),
    element("p.lead", {}, `${found.state === "closed" ? "Closed" : "Collecting"}. Shares are estimated from randomized reports; the bars are 95 % intervals. Estimates are unbiased, so a rare category may fall below 0.`),
    element("div.facts", {},
      fact(found.people.toLocaleString("en"), "reports"),
      fact(`ε ≤ ${found.epsilon.answer}`, "spent by each respondent"),
      fact(String(found.blocks.filter((/** @type {any} */ block) => !block.open).length), "blocks closed"),
      fact(refused.toLocaleString("en"), "reports refused"),
      found.merged ? fact(found.merged.toLocaleString("en"), "tallies merged") : null,
      found.invitations.issued ? fact(`${found.invitations.redeemed} / ${found.invitations.issued}`, "invitations used") : null),
    found.impossible.length ? impossible(found) : "",
    element("div.grid", {}, ...found.attributes.map((/** @type {any} */ one) => attribute(one, open))),
    refused ? table("Refused, by reason", ["reason", "reports"], Object.entries(found.refused)) : "",
    table("Blocks", ["block", "reports", "came late", "state"], found.blocks.map((/** @type {any} */ block) => [block.number, block.reports.toLocaleString("en"), block.late.toLocaleString("en"), block.open ? "open" : "closed"])),
    element("p.row", {},
      element("button", { click: () => void take("tally", "json") }, "Save the tally"),
      element("button", { click: () => void take("reports?format=csv", "csv") }, "Save the reports")),
    element("p.small", {}, `This page asks again every ${REFRESH_SECONDS} seconds. What came late was made for a block that had closed: it counts in the survey, not in the block's own tally.`));
  scrollTo(0, place);
}

/**
 * What no population can show: the reports that liars sent are among these.
 * @param {any} found
 */
function impossible(found) {
  const rows = found.impossible.map((/** @type {any} */ one) => [
    one.attributes.map((/** @type {number} */ at, /** @type {number} */ place) => answer(found.attributes[at], one.answers[place])).join(" · "),
    one.blocks.length > 1 ? `${one.blocks[0]} to ${one.blocks[one.blocks.length - 1]}` : one.blocks[0],
    share(one.seen),
    `${share(one.possible[0])} to ${share(one.possible[1])}`,
  ]);
  return element("section.warning", {},
    element("p", {}, "Some reports were not made by their channel. These answers are named more often, or less, than anybody's truth could make them:"),
    table("Impossible frequencies", ["answers", "block", "seen", "possible"], rows));
}

/**
 * @param {any} attribute
 * @param {number} cell
 */
function answer(attribute, cell) {
  return `${textIn(attribute.labels[cell]) || attribute.cells[cell]} (${textIn(attribute.label) || attribute.name})`;
}

/**
 * Save what the server returns, which needs the token and so cannot be a plain link.
 * @param {string} what
 * @param {string} kind
 */
async function take(what, kind) {
  const response = await fetch(`/v1/surveys/${encodeURIComponent(name)}/${what}`, {
    headers: { Authorization: `Bearer ${token}` }, credentials: "omit", cache: "no-store",
  });
  if (!response.ok) return tell((await response.json()).detail);
  const address = URL.createObjectURL(await response.blob());
  element("a", { href: address, download: `${name}.${kind}` }).click();
  URL.revokeObjectURL(address);
}

/**
 * @param {string} value
 * @param {string} label
 */
function fact(value, label) {
  return element("div", {}, element("strong", {}, value), element("span.small", {}, label));
}

/**
 * @param {any} one
 * @param {Set<string>} open
 */
function attribute(one, open) {
  const title = textIn(one.label) || one.name;
  if (one.estimate === null) {
    return element("section.card", {}, element("h2", {}, title), element("p.small", {}, "Too few reports yet."));
  }
  const rows = one.cells.map((/** @type {string} */ cell, /** @type {number} */ at) => element("tr", {},
    element("th", { scope: "row" }, textIn(one.labels[at]) || cell),
    element("td.number", {}, share(one.estimate[at])),
    element("td.number.small", {}, `${share(one.low[at])} to ${share(one.high[at])}`),
    element("td.chart", { "aria-hidden": "true" }, interval(one.low[at], one.estimate[at], one.high[at]))));
  const id = `blocks-${one.name}`;
  return element("section.card", {},
    element("table.shares", {},
      element("caption", {}, title, element("span.small", {}, ` ${one.people.toLocaleString("en")} asked · ε ≤ ${one.epsilon}`)),
      element("thead", {}, element("tr", {}, ...["category", "share", "95 % interval"].map((text, at) =>
        element(at ? "th.number" : "th", { scope: "col" }, text)),
        element("td.chart", { "aria-hidden": "true" }, scale("0", "50", "100 %")))),
      element("tbody", {}, ...rows)),
    one.convergence.length > 1 ? element("details", { id, open: open.has(id) },
      element("summary", {}, "Block by block"), ...one.cells.map((/** @type {string} */ cell, /** @type {number} */ at) =>
        curve(textIn(one.labels[at]) || cell, one.convergence, at))) : "");
}

/** @param {...string} marks */
function scale(...marks) {
  return element("div.scale.small", {}, ...marks.map((mark) => element("span", {}, mark)));
}

/** @param {number} value */
function share(value) {
  return `${(value * 100).toFixed(1)}\u00a0%`.replace("-", "−");
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} properties
 * @param {...Node} children
 */
function drawn(name, properties, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/**
 * @param {number} from
 * @param {number} at
 * @param {number} to
 */
function interval(from, at, to) {
  // What lies outside 0 and 1 is drawn at the edge; the number beside it says how far out.
  const x = (/** @type {number} */ value) => 2 + 196 * Math.min(1, Math.max(0, value));
  return drawn("svg", { class: "interval", viewBox: "0 0 200 16", preserveAspectRatio: "none" },
    ...[0, 0.5, 1].map((mark) => drawn("line", { class: "axis", x1: x(mark), x2: x(mark), y1: 0, y2: 16 })),
    drawn("line", { class: "range", x1: x(from), x2: x(to), y1: 8, y2: 8 }),
    drawn("rect", { class: "dot", x: x(at) - 2, y: 2, width: 4, height: 12 }));
}

/**
 * @param {string} label
 * @param {any[]} points
 * @param {number} cell
 */
function curve(label, points, cell) {
  const low = Math.min(0, ...points.map((point) => point.low[cell]));
  const high = Math.max(...points.map((point) => point.high[cell]));
  const x = (/** @type {number} */ at) => 4 + 392 * at / (points.length - 1);
  const y = (/** @type {number} */ value) => 96 - 92 * (value - low) / (high - low || 1);
  const band = [
    ...points.map((point, at) => `${x(at)},${y(point.high[cell])}`),
    ...points.map((point, at) => `${x(at)},${y(point.low[cell])}`).reverse(),
  ].join(" ");
  const line = points.map((point, at) => `${x(at)},${y(point.estimate[cell])}`).join(" ");
  const last = points[points.length - 1];
  const first = points[0];
  const told = `${label}: ${share(first.low[cell])} to ${share(first.high[cell])} after the first block, ${share(last.low[cell])} to ${share(last.high[cell])} now`;
  return element("figure.curve", {},
    element("figcaption.small", {}, told),
    drawn("svg", { class: "convergence", viewBox: "0 0 400 100", preserveAspectRatio: "none", "aria-hidden": "true" },
      drawn("line", { class: "axis", x1: 4, x2: 396, y1: y(0), y2: y(0) }),
      drawn("polygon", { class: "band", points: band }), drawn("polyline", { class: "line", points: line })),
    scale(share(high), share(low)));
}

/**
 * @param {string} caption
 * @param {string[]} headings
 * @param {any[][]} rows
 */
function table(caption, headings, rows) {
  return element("section.card", {}, element("table", {}, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...headings.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, String(cell))))))));
}

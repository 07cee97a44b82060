/**
 * A trial for the sceptic: the device's own coins, tossed many times for a pretended answer.
 * What the respondent really answered is not known here.
 */

import { SystemCoin } from "./client/index.js";
import { randomize } from "./client/randomize.js";
import { element } from "./element.js";
import { words } from "./words.js";

const TOSSES = 1000;
const MOST_ROWS = 8;
/** The kinds whose reports name cells. */
const KINDS = new Set(["two-coin", "k-ary", "subset"]);

/**
 * @param {any} channel
 * @param {any} group
 * @param {(cell: number) => string} nameOf
 * @returns {HTMLElement | null} Nothing where reports name no cells that could be counted.
 */
export function tryOut(channel, group, nameOf) {
  if (!KINDS.has(channel.kind)) return null;
  const w = words();
  const select = /** @type {HTMLSelectElement} */ (element("select", { "aria-label": w.pretend },
    ...Array.from({ length: channel.size }, (_, cell) => element("option", { value: cell }, nameOf(cell)))));
  const found = element("div", { role: "status" });
  const toss = () => found.replaceChildren(counted(channel, Number(select.value), nameOf));
  return element("section.trial", { "aria-label": w.trial },
    element("h3", {}, w.trial),
    element("p", {}, w.trialMore),
    element("p", {}, element("label", {}, w.pretend, select)),
    element("p", {}, element("button", { type: "button", click: toss }, w.tossOften(TOSSES))),
    found);
}

/**
 * @param {any} channel
 * @param {number} pretended
 * @param {(cell: number) => string} nameOf
 */
function counted(channel, pretended, nameOf) {
  const w = words();
  const coin = new SystemCoin();
  const counts = new Array(channel.size).fill(0);
  for (let toss = 0; toss < TOSSES; toss += 1) {
    for (const cell of randomize(channel, pretended, coin)) counts[cell] += 1;
  }
  const others = counts.map((_, cell) => cell).filter((cell) => cell !== pretended);
  const shown = [pretended, ...others.slice(0, MOST_ROWS - 1)];
  return element("table.counts", {},
    element("caption", {}, w.trialResult(counts[pretended], TOSSES)),
    element("tbody", {}, ...shown.map((cell) => element("tr", {},
      element("th", { scope: "row" }, cell === pretended ? element("strong", {}, nameOf(cell)) : nameOf(cell)),
      element("td.number", {}, String(counts[cell])),
      element("td", { "aria-hidden": "true" }, element("meter", { min: 0, max: TOSSES, value: counts[cell] })))),
    others.length >= MOST_ROWS ? element("tr", {}, element("td", { colspan: 3 }, "…")) : null));
}

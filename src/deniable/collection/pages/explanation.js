/**
 * "Show me how": what the device does, in words and numbers that a sceptic can check.
 */

import { formatEpsilon } from "./client/index.js";
import { element } from "./element.js";
import { tryOut } from "./trial.js";
import { words } from "./words.js";

const WORD = 2 ** 32;
const MOST_CELLS = 12;

/**
 * @param {any} design
 * @param {any} block
 * @param {any} certificate
 * @param {{view: number, group: number, drawn?: boolean}} at The group whose coins can be tried,
 *   and whether its view is the one that was drawn.
 * @param {(at: number, cell: number) => string} label
 */
export function explain(design, block, certificate, at, label) {
  const w = words();
  const drawn = at.drawn ? [block.channels[at.view]] : block.channels;
  const kinds = new Set(drawn.flat().map((/** @type {any} */ channel) => channel.kind));
  const views = design.views.length;
  return element("details.how", {},
    element("summary", {}, w.how),
    views > 1 ? element("p", {}, w.howViews(views)) : null,
    ...[...kinds].map((kind) => element("p", {},
      kinds.size > 1 ? element("strong", {}, w.howSome(count(drawn, kind), drawn.length)) : null,
      w.howChannel[/** @type {string} */ (kind)] ?? w.howOther)),
    tryOut(block.channels[at.view][at.group], design.views[at.view].groups[at.group],
      (cell) => nameOf(cell, design.views[at.view].groups[at.group], label)),
    element("p", {}, w.howEpsilon(formatEpsilon(certificate.epsilon, 3), formatEpsilon(Math.max(...certificate.attributes), 3))),
    element("ul", {}, ...w.howCheck.map((text) => element("li", {}, text))),
    element("dl", {},
      element("dt", {}, w.receiptDesign), element("dd", {}, element("a", { href: `/v1/designs/${design.digest}` }, design.digest)),
      element("dt", {}, w.blockDigest), element("dd", {}, element("a", { href: `/v1/blocks/${block.digest}` }, block.digest))));
}

/**
 * @param {any[][]} views
 * @param {string} kind
 * @returns {number} How many of the views have a channel of a kind.
 */
function count(views, kind) {
  return views.filter((view) => view.some((channel) => channel.kind === kind)).length;
}

/**
 * What a report of one group names, and how likely that was if it is true and if not.
 * @param {any} channel
 * @param {any} group
 * @param {readonly number[]} value
 * @param {(at: number, cell: number) => string} label
 * @returns {{cells: string[] | null, ifTrue: string, ifNot: string}}
 */
export function explainChannel(channel, group, value, label) {
  const [ifTrue, ifNot] = chances(channel, value);
  const named = channel.kind === "local-hash" || channel.kind === "unary" || channel.kind === "matrix" ? null : value;
  const cells = named === null ? null : named.slice(0, MOST_CELLS).map((cell) => nameOf(cell, group, label));
  if (cells && named && named.length > MOST_CELLS) cells.push("…");
  return { cells, ifTrue: percent(ifTrue), ifNot: percent(ifNot) };
}

/**
 * P(the report names the true answer) and P(it names another one).
 * @param {any} channel
 * @param {readonly number[]} value
 * @returns {[number, number]}
 */
function chances(channel, value) {
  switch (channel.kind) {
    case "two-coin": {
      const lie = (1 - channel.head / WORD) * channel.fake[value[0]] / WORD;
      return [channel.head / WORD + lie, lie];
    }
    case "k-ary": {
      const lie = (1 - channel.head / WORD) / channel.size;
      return [channel.head / WORD + lie, lie];
    }
    case "subset": {
      const inside = channel.head / WORD;
      return [inside, (channel.chosen - inside) / (channel.size - 1)];
    }
    case "unary":
      return [channel.keep / WORD, channel.flip / WORD];
    default:
      return [Number.NaN, Number.NaN];
  }
}

/**
 * @param {number} cell
 * @param {any} group
 * @param {(at: number, cell: number) => string} label
 */
export function nameOf(cell, group, label) {
  let rest = cell;
  const parts = [];
  for (let place = group.sizes.length - 1; place >= 0; place -= 1) {
    parts.unshift(label(group.attributes[place], rest % group.sizes[place]));
    rest = Math.floor(rest / group.sizes[place]);
  }
  return parts.join(" · ");
}

/** @param {number} share */
function percent(share) {
  return Number.isNaN(share) ? "?" : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/**
 * A design and its blocks, as they were published.
 *
 * Promises: what can be read here is a design in canonical form, whose groups are disjoint
 * within a view, whose channels fit their groups and cost no more than the design promises;
 * a block names the design it belongs to. Both are frozen and carry their digest. No answer
 * comes here.
 */

import { canonical, digest, readCanonical } from "./canonical.js";
import { readChannel, sizeOf } from "./channels.js";
import { DesignError, DigestError } from "./errors.js";
import { count, decimal, deepFreeze, fields, list, text } from "./plain.js";
import { epsilonOf, formatEpsilon } from "./privacy.js";

/**
 * @typedef {import("./channels.js").Channel} Channel
 * @typedef {import("./coin.js").WordCoin} Coin
 * @typedef {readonly (readonly Channel[])[]} Channels One for each group of each view.
 * @typedef {{attributes: readonly number[], sizes: readonly number[], size: number}} Group
 *   Attributes, by position, answered together; the last runs fastest.
 * @typedef {{weight: number, groups: readonly Group[]}} View Drawn with odds `weight`.
 * @typedef {{name: string, block_size: number, floor: string}} Rule
 * @typedef {object} Design Everything a device must know before it agrees to answer.
 * @property {string} digest
 * @property {string} survey The survey's name; a device remembers its reports under it.
 * @property {string} schema The digest of the schema, so that cells keep their meaning.
 * @property {string} protocol The design's name, for people.
 * @property {readonly {name: string, size: number}[]} attributes
 * @property {readonly View[]} views
 * @property {Channels} channels The channels of the first block.
 * @property {Rule} rule How channels change between blocks.
 * @property {string} epsilon The most one answered view may cost, in any block (a decimal).
 * @property {number} repeats How many fresh answers one respondent may give.
 * @typedef {{digest: string, design: string, number: number, channels: Channels}} Block
 *   Respondents who share the same channels.
 */

const LARGEST_GROUP = 2 ** 31;
const RULES = ["fixed", "classic-blocks", "classic-clients", "two-stage"];
const DESIGN = "deniable survey schema protocol attributes views channels rule epsilon repeats";
const BLOCK = "deniable design block channels";

/**
 * @param {Uint8Array | ArrayBuffer | string} data The published bytes.
 * @param {string} [expected] The digest they must have.
 * @returns {Promise<Design>}
 */
export async function readDesign(data, expected) {
  const plain = readCanonical(data, "a design");
  const found = fields(plain, "a design", DESIGN.split(" "));
  const attributes = list(found.attributes, "attributes").map(readAttribute);
  const views = list(found.views, "views").map((view) => readView(view, attributes));
  const channels = readChannels(found.channels);
  for (const key of ["survey", "schema", "protocol"]) text(found[key], key);
  const { survey, schema, protocol } = found;
  const repeats = count(found.repeats, "repeats", 1);
  const design = deepFreeze({
    digest: await digest(canonical(plain)),
    ...{ survey, schema, protocol, attributes, views, channels },
    ...{ rule: readRule(found.rule), epsilon: found.epsilon, repeats },
  });
  checkDesign(design);
  if (expected !== undefined && design.digest !== expected) {
    throw new DigestError("the design is not the one that was published", {
      given: design.digest,
      expected,
    });
  }
  return design;
}

/**
 * @param {Uint8Array | ArrayBuffer | string} data The published bytes.
 * @param {Design} design
 * @param {string} [expected] The digest they must have.
 * @returns {Promise<Block>} A block of this design.
 */
export async function readBlock(data, design, expected) {
  const plain = readCanonical(data, "a block");
  const found = fields(plain, "a block", BLOCK.split(" "));
  if (found.design !== design.digest) {
    const more = { given: found.design, expected: design.digest };
    throw new DigestError("the block belongs to another design", more);
  }
  const block = deepFreeze({
    digest: await digest(canonical(plain)),
    design: design.digest,
    number: count(found.block, "a block's number", 0),
    channels: readChannels(found.channels),
  });
  checkChannels(block.channels, design);
  if (design.rule.name === "fixed" && !sameChannels(block.channels, design.channels)) {
    throw new DesignError("the channels of a fixed design never change");
  }
  if (expected !== undefined && block.digest !== expected) {
    throw new DigestError("the block is not the one that was published", {
      given: block.digest,
      expected,
    });
  }
  return block;
}

/**
 * Draw a view without looking at any answer.
 * @param {Design} design
 * @param {Coin} coin
 * @returns {number}
 */
export function drawView(design, coin) {
  if (design.views.length === 1) return 0;
  let ticket = coin.below(totalWeight(design.views));
  return design.views.findIndex((view) => (ticket -= view.weight) < 0);
}

/**
 * @param {Channels} one
 * @param {Channels} two
 */
function sameChannels(one, two) {
  // Key order is canonical in both, so equal text is equal data.
  return JSON.stringify(one) === JSON.stringify(two);
}

/** @param {readonly View[]} views */
function totalWeight(views) {
  return views.reduce((total, view) => total + view.weight, 0);
}

/** @param {Design} design */
function checkDesign(design) {
  const names = design.attributes.map(({ name }) => name);
  if (names.length === 0 || new Set(names).size !== names.length) {
    throw new DesignError("a design needs attributes with different names", { given: names });
  }
  if (design.views.length === 0) throw new DesignError("a design needs at least one view");
  if (!Number.isSafeInteger(totalWeight(design.views))) {
    throw new DesignError("the weights of the views are too large", { expected: "below 2^53" });
  }
  checkChannels(design.channels, design);
  const promised = decimal(design.epsilon, "a design's epsilon");
  if (promised <= 0) throw new DesignError("a design's epsilon must be positive");
  const spent = design.channels.reduce((most, view) => Math.max(most, epsilonOf(view)), 0);
  if (spent > promised) {
    const problem = "the channels of a design cost more than it promises";
    const given = `epsilon ${formatEpsilon(spent, 6)}`;
    throw new DesignError(problem, { given, expected: `at most ${design.epsilon}` });
  }
}

/**
 * @param {Channels} channels
 * @param {Design} design
 */
function checkChannels(channels, design) {
  const fits = channels.length === design.views.length
    && design.views.every(({ groups }, view) => groups.length === channels[view].length
      && groups.every((group, place) => group.size === sizeOf(channels[view][place])));
  if (!fits) {
    const expected = "for each group of each view one channel over its cells";
    throw new DesignError("the channels do not fit the groups", { expected });
  }
}

/**
 * @param {unknown} pair
 * @returns {{name: string, size: number}}
 */
function readAttribute(pair) {
  const [name, size, ...more] = list(pair, "an attribute");
  if (more.length) throw new DesignError("an attribute must be a name and a number of cells");
  return { name: text(name, "an attribute's name"), size: count(size, "an attribute's size", 2) };
}

/**
 * @param {unknown} data
 * @param {readonly {size: number}[]} attributes
 * @returns {View}
 */
function readView(data, attributes) {
  const found = fields(data, "a view", ["weight", "groups"]);
  const groups = list(found.groups, "groups").map((positions) => readGroup(positions, attributes));
  const asked = groups.flatMap((group) => group.attributes);
  if (groups.length === 0) throw new DesignError("a view asks nothing");
  if (new Set(asked).size !== asked.length) {
    const expected = "every attribute at most once a view";
    throw new DesignError("the groups of a view overlap", { expected });
  }
  return { weight: count(found.weight, "a view's weight", 1), groups };
}

/**
 * @param {unknown} data
 * @param {readonly {size: number}[]} all
 * @returns {Group}
 */
function readGroup(data, all) {
  const attributes = list(data, "a group").map((at) => count(at, "a group's attribute", 0));
  if (attributes.length === 0 || attributes.some((attribute) => attribute >= all.length)) {
    const more = { given: attributes, expected: `attributes from 0 to ${all.length - 1}` };
    throw new DesignError("a group is empty or names no attribute", more);
  }
  const sizes = attributes.map((attribute) => all[attribute].size);
  const size = sizes.reduce((product, factor) => product * factor, 1);
  if (size > LARGEST_GROUP) {
    throw new DesignError("a group has too many cells", { given: size, expected: "at most 2^31" });
  }
  return { attributes, sizes, size };
}

/**
 * @param {unknown} data
 * @returns {Rule}
 */
function readRule(data) {
  const { name, block_size, floor } = fields(data, "a rule", ["name", "block_size", "floor"]);
  if (!RULES.includes(name)) {
    const expected = RULES.join(" or ");
    throw new DesignError("unknown rule between blocks", { given: name, expected });
  }
  if (decimal(floor, "a rule's floor") > 1) {
    throw new DesignError("a rule's floor must be a decimal from 0 to 1", { given: floor });
  }
  return { name, block_size: count(block_size, "a rule's block_size", 0), floor };
}

/**
 * @param {unknown} data
 * @returns {Channels}
 */
function readChannels(data) {
  return list(data, "channels").map((row) => list(row, "channels").map(readChannel));
}

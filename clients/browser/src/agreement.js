/**
 * What the respondent agreed to, and the check that is the guarantee.
 *
 * Promises: ε is computed here, from the channels that were sent, for every view that might
 * be drawn, before any coin is tossed; the server's word is not asked. No answer comes here.
 */

import { DigestError, EpsilonError, PrivacyRefusedError } from "./errors.js";
import { epsilonOf, formatEpsilon, keepsFloor } from "./privacy.js";

/**
 * @typedef {import("./design.js").Design} Design
 * @typedef {import("./design.js").Block} Block
 */

/** The most that one answer may cost, and the least that a fake distribution must keep. */
export class Agreement {
  /**
   * @param {object} terms
   * @param {number} terms.epsilon The largest ε of one answered view (its groups together).
   * @param {number} [terms.floor] The share g of the even distribution in any fake
   *   distribution: min T ≥ g/m.
   * @param {string | null} [terms.design] The digest of the one design agreed to; `null`
   *   accepts any that fits.
   */
  constructor({ epsilon, floor = 0, design = null }) {
    if (typeof epsilon !== "number" || !(epsilon > 0 && epsilon < Infinity)) {
      const problem = "an agreed epsilon must be positive and finite";
      throw new EpsilonError(problem, { given: epsilon, expected: "a number such as 1.0" });
    }
    if (typeof floor !== "number" || !(floor >= 0 && floor <= 1)) {
      const problem = "an agreed floor must lie between 0 and 1";
      throw new EpsilonError(problem, { given: floor, expected: "a share such as 0.1" });
    }
    this.epsilon = epsilon;
    this.floor = floor;
    this.design = design;
    Object.freeze(this);
  }
}

/** What the device computed for itself about a design and a block, rounded up. */
export class Certificate {
  /**
   * @param {object} found
   * @param {string} found.design The digest of the design.
   * @param {string} found.block The digest of the block.
   * @param {readonly number[]} found.views The ε of each view: what answering it costs
   *   (record-level).
   * @param {readonly number[]} found.attributes The ε of each attribute: what a change in one
   *   answer alone could show (attribute-level).
   * @param {number} found.repeats How many fresh answers the design allows.
   */
  constructor({ design, block, views, attributes, repeats }) {
    this.design = design;
    this.block = block;
    this.views = Object.freeze(views);
    this.attributes = Object.freeze(attributes);
    this.repeats = repeats;
    Object.freeze(this);
  }

  /** @returns {number} The cost of one answer: the costliest view that may be drawn. */
  get epsilon() {
    return largest(this.views);
  }

  /** @returns {number} The cost of every answer that the design allows one respondent. */
  get wholeSurvey() {
    return this.epsilon * this.repeats * (1 + Number.EPSILON);
  }

  /** @returns {string} What an answer costs, rounded up. */
  toString() {
    return (
      `ε ≤ ${formatEpsilon(this.epsilon)} per answer, `
      + `≤ ${formatEpsilon(largest(this.attributes))} for any one attribute, `
      + `≤ ${formatEpsilon(this.wholeSurvey)} for the whole survey`
    );
  }
}

/**
 * Every view is examined, not only the one that will be drawn, so that a refusal tells the
 * server nothing about the draw.
 * @param {Design} design
 * @param {Block} block
 * @param {Agreement} agreement
 * @returns {Certificate} The certificate of a design and block, unless they are refused.
 */
export function examine(design, block, agreement) {
  if (agreement.design !== null && agreement.design !== design.digest) {
    const more = { given: design.digest, expected: agreement.design };
    throw new DigestError("this is not the design that was agreed to", more);
  }
  if (block.design !== design.digest) {
    const more = { given: block.design, expected: design.digest };
    throw new DigestError("the block belongs to another design", more);
  }
  const views = block.channels.map(epsilonOf);
  const allowed = Math.min(agreement.epsilon, Number(design.epsilon));
  const spent = largest(views);
  if (!(spent <= allowed)) {
    const more = { given: `epsilon ${formatEpsilon(spent, 6)}`, expected: `at most ${allowed}` };
    throw new PrivacyRefusedError("the channels cost more privacy than was agreed", more);
  }
  const floor = Math.max(agreement.floor, Number(design.rule.floor));
  if (floor > 0 && !block.channels.flat().every((channel) => keepsFloor(channel, floor))) {
    const problem = "a fake distribution falls below the floor that was agreed";
    throw new PrivacyRefusedError(problem, { expected: `every fake cell at least ${floor}/m` });
  }
  const attributes = attributeEpsilons(design, block);
  const { digest, repeats } = design;
  return new Certificate({ design: digest, block: block.digest, views, attributes, repeats });
}

/**
 * @param {Design} design
 * @param {Block} block
 * @returns {number[]} For each attribute the ε of the costliest group that holds it.
 */
function attributeEpsilons(design, block) {
  const worst = design.attributes.map(() => 0);
  design.views.forEach(({ groups }, view) => groups.forEach((group, place) => {
    const spent = epsilonOf([block.channels[view][place]]);
    for (const at of group.attributes) worst[at] = Math.max(worst[at], spent);
  }));
  return worst;
}

/** @param {readonly number[]} values */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

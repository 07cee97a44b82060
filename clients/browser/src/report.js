/**
 * What leaves the device.
 *
 * Promises: a report is the digests of its design and block, a random id, the view's number
 * and the randomized values, in canonical bytes: nothing else, and nothing of the truth
 * beyond what the channels let through.
 */

import { canonical, readCanonical } from "./canonical.js";
import { checkValue } from "./channels.js";
import { DigestError, ReportError } from "./errors.js";
import { VERSION } from "./plain.js";

/**
 * @typedef {import("./design.js").Design} Design
 * @typedef {import("./design.js").Block} Block
 */

const KEYS = ["block", "deniable", "design", "id", "values", "view"];
const DIGEST = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const ID = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/** One respondent's randomized answers to one view. */
export class Report {
  /**
   * @param {object} said
   * @param {string} said.design The digest of the design.
   * @param {string} said.block The digest of the block.
   * @param {string} said.id 16 random bytes as base64url.
   * @param {number} said.view The number of the view that was drawn.
   * @param {readonly (readonly number[])[]} said.values One list of integers for each group.
   */
  constructor({ design, block, id, view, values }) {
    this.design = design;
    this.block = block;
    this.id = id;
    this.view = view;
    this.values = Object.freeze(values.map((value) => Object.freeze([...value])));
    Object.freeze(this);
  }

  /** @returns {Uint8Array} The bytes that are sent, kept and sent again. */
  toBytes() {
    const { design, block, id, view, values } = this;
    return canonical({ deniable: VERSION, design, block, id, view, values });
  }

  /** @returns {string} The same as text. */
  toString() {
    return new TextDecoder().decode(this.toBytes());
  }
}

/**
 * @param {Uint8Array | string} data
 * @returns {Report}
 */
export function readReport(data) {
  const found = /** @type {any} */ (readCanonical(data, "a report", ReportError));
  const keys = Object.keys(Object(found));
  if (keys.length !== KEYS.length || !KEYS.every((key) => keys.includes(key))) {
    throw new ReportError("a report does not have the keys of one", { expected: KEYS.join(", ") });
  }
  const whole = found.deniable === VERSION
    && [found.design, found.block].every((text) => typeof text === "string" && DIGEST.test(text))
    && typeof found.id === "string" && ID.test(found.id)
    && isCount(found.view)
    && Array.isArray(found.values)
    && found.values.every(isValue);
  if (!whole) {
    const expected = "two digests, an id, a view and its values";
    throw new ReportError("a report holds something else than it should", { expected });
  }
  return new Report(found);
}

/**
 * Refuse a report that cannot have been made under this design and block.
 * @param {Report} report
 * @param {Design} design
 * @param {Block} block
 */
export function checkReport(report, design, block) {
  if (report.design !== design.digest) throw new DigestError("the report is of another design");
  if (report.block !== block.digest) throw new DigestError("the report is of another block");
  const channels = block.channels[report.view];
  if (channels === undefined || channels.length !== report.values.length) {
    throw new ReportError("the report does not answer every group of a view that was offered");
  }
  channels.forEach((channel, place) => checkValue(channel, report.values[place]));
}

/** @param {unknown} value */
function isValue(value) {
  return Array.isArray(value) && value.every(isCount);
}

/** @param {unknown} value */
function isCount(value) {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

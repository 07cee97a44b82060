/**
 * What one device has said and spent: reports by survey, ε by survey and attribute.
 *
 * Promises: sums are rounded up; what was sent stays and what it cost is never less; the
 * stored document (the same as the Python client's) holds reports, never answers; a damaged
 * document is an error, for to forget it would be to spend ε twice.
 */

import { LedgerError, StorageError } from "./errors.js";
import { formatEpsilon } from "./privacy.js";
import { readReport } from "./report.js";

/**
 * @typedef {import("./agreement.js").Certificate} Certificate
 * @typedef {import("./design.js").Design} Design
 * @typedef {import("./report.js").Report} Report
 * @typedef {object} Entry One report that was made: what it says and cost, whether it arrived.
 * @property {string} survey
 * @property {number} wave
 * @property {Report} report
 * @property {number} epsilon
 * @property {Readonly<Record<string, number>>} attributes
 * @property {boolean} sent
 */

const VERSION = 1;

/** Every report this device ever made. */
export class Ledger {
  /** @type {Map<string, Entry>} */
  #entries;

  /**
   * @param {Iterable<Entry>} [entries]
   * @param {number} [cap] The most ε that the respondent allows in total.
   */
  constructor(entries = [], cap = Infinity) {
    this.#entries = new Map(Array.from(entries, (one) => [place(one.survey, one.wave), one]));
    this.cap = cap;
  }

  /** @returns {Entry[]} In the order in which they were made. */
  get entries() {
    return [...this.#entries.values()];
  }

  /** @returns {number} The ε spent on everything, rounded up. */
  get total() {
    return sumUp(this.entries.map(({ epsilon }) => epsilon));
  }

  /**
   * @param {string} survey
   * @param {number} wave
   * @returns {Entry | undefined}
   */
  find(survey, wave) {
    return this.#entries.get(place(survey, wave));
  }

  /**
   * @param {string} survey
   * @returns {number} The ε spent on it, rounded up.
   */
  spentOn(survey) {
    return sumUp(this.entries.filter((one) => one.survey === survey).map(({ epsilon }) => epsilon));
  }

  /**
   * @param {string} survey
   * @returns {Record<string, number>} The ε spent on each attribute (attribute-level), rounded up.
   */
  spentByAttribute(survey) {
    /** @type {Map<string, number[]>} */
    const spent = new Map();
    for (const { attributes } of this.entries.filter((entry) => entry.survey === survey)) {
      for (const [name, epsilon] of Object.entries(attributes)) {
        spent.set(name, [...(spent.get(name) ?? []), epsilon]);
      }
    }
    return Object.fromEntries(Array.from(spent, ([name, values]) => [name, sumUp(values)]));
  }

  /**
   * Refuse one more answer that would exceed the respondent's cap.
   * @param {Certificate} certificate
   */
  allow(certificate) {
    const after = sumUp([this.total, certificate.epsilon]);
    if (after > this.cap) {
      const given = `${formatEpsilon(after, 6)} after this answer`;
      const more = { given, expected: `at most ${this.cap}` };
      throw new LedgerError("one more answer would exceed your cap on spent privacy", more);
    }
  }

  /**
   * Write down a report that was just made. The cost is that of the costliest view: a bound
   * that does not depend on the draw is the one that was agreed to.
   * @param {Design} design
   * @param {Certificate} certificate
   * @param {Report} report
   * @param {number} wave
   */
  add(design, certificate, report, wave) {
    const asked = design.views[report.view].groups.flatMap((group) => group.attributes);
    const attributes = Object.fromEntries(
      asked.map((at) => [design.attributes[at].name, certificate.attributes[at]]),
    );
    const { survey } = design;
    const entry = { survey, wave, report, epsilon: certificate.epsilon, attributes, sent: false };
    this.#entries.set(place(survey, wave), entry);
  }

  /**
   * Take over what another copy of this ledger knows.
   * @param {Iterable<Entry>} others
   */
  learn(others) {
    for (const entry of others) {
      const key = place(entry.survey, entry.wave);
      this.#entries.set(key, settle(this.#entries.get(key) ?? entry, entry));
    }
  }

  /** @returns {string} The document that is stored. */
  toText() {
    const entries = this.entries.map((entry) => ({ ...entry, report: entry.report.toString() }));
    const cap = this.cap === Infinity ? null : this.cap;
    return JSON.stringify({ deniable: VERSION, cap, entries });
  }
}

/**
 * What holds where two entries answer the same survey: the report that arrived, and the other
 * one is never sent. If none arrived, mine holds; if both did, mine does, at the cost of both.
 * @param {Entry} mine
 * @param {Entry} other
 * @returns {Entry}
 */
function settle(mine, other) {
  const same = mine.report.id === other.report.id;
  const sent = mine.sent || other.sent;
  if (!same && !(mine.sent && other.sent)) return other.sent ? other : mine;
  const add = (/** @type {number[]} */ costs) => (same ? Math.max(...costs) : sumUp(costs));
  const names = Object.keys({ ...mine.attributes, ...other.attributes });
  const costs = names.map((name) => (
    [name, add([mine.attributes[name] ?? 0, other.attributes[name] ?? 0])]
  ));
  const epsilon = add([mine.epsilon, other.epsilon]);
  return { ...mine, sent, epsilon, attributes: Object.fromEntries(costs) };
}

/**
 * @param {string} document
 * @returns {Ledger}
 */
export function readLedger(document) {
  try {
    const found = JSON.parse(document);
    const entries = found.entries.map((/** @type {any} */ one) => readEntry(one));
    if (found.deniable !== VERSION) throw new TypeError("another version");
    return new Ledger(entries, found.cap === null ? Infinity : number(found.cap));
  } catch (cause) {
    const expected = "the document that a device wrote";
    throw new StorageError("the device's memory is damaged", { expected, cause });
  }
}

/**
 * @param {any} one
 * @returns {Entry}
 */
function readEntry({ survey, wave, report, epsilon, attributes, sent }) {
  if (typeof survey !== "string" || typeof sent !== "boolean") throw new TypeError("no entry");
  Object.values(attributes).forEach(number);
  return {
    ...{ survey, wave: number(wave), report: readReport(report) },
    ...{ epsilon: number(epsilon), attributes: { ...attributes }, sent },
  };
}

/** @param {unknown} value What no device wrote is refused: less than 0 would give ε back. */
function number(value) {
  if (typeof value !== "number" || !(value >= 0 && value < Infinity)) {
    throw new TypeError("no number");
  }
  return value;
}

/**
 * @param {string} survey
 * @param {number} wave
 */
function place(survey, wave) {
  return JSON.stringify([survey, wave]);
}

/**
 * @param {number[]} values
 * @returns {number} Their sum, and a little more than its rounding can be wrong by.
 */
function sumUp(values) {
  const sum = values.reduce((total, value) => total + value, 0);
  return sum * (1 + values.length * Number.EPSILON);
}

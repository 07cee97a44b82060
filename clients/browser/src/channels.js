/**
 * A channel, P(report | answer), as a record of integers.
 *
 * Promises: what is not exactly one of the six kinds is refused; a channel that passed has
 * the stated number of cells (`sizeOf`) and reports `widthOf` integers. No answer comes here.
 */

import { WORD } from "./coin.js";
import { ChannelError, ReportError } from "./errors.js";

/**
 * @typedef {{kind: "two-coin", head: number, fake: readonly number[]}} TwoCoin
 *   P(y|x) = p·[y = x] + (1 − p)·T[y], with p = head / 2³² and T = fake / 2³².
 * @typedef {{kind: "k-ary", head: number, size: number}} KAry
 *   Two coins whose fake distribution is as even as 2³² allows.
 * @typedef {{kind: "subset", head: number, size: number, chosen: number}} Subset
 *   A set of `chosen` cells that holds the truth with probability head / 2³².
 * @typedef {{kind: "matrix", rows: readonly (readonly number[])[]}} Matrix
 *   P(y|x) = rows[x][y] / 2³².
 * @typedef {{kind: "unary", keep: number, flip: number, size: number}} Unary
 *   One coin for each cell; a report is the bits in words of 32, the first cell lowest.
 * @typedef {{kind: "local-hash", head: number, buckets: number, size: number,
 *   prime: number}} LocalHash
 *   k-ary over the bucket ((a·x + b) mod prime) mod buckets, with a and b drawn first.
 * @typedef {TwoCoin | KAry | Subset | Matrix | Unary | LocalHash} Channel
 */

/** The largest field of a hash; a·x + b stays far below 2⁵³. */
const FIELD = 65_537;

/** The fields of every kind that may cross the wire. @type {Record<string, string[]>} */
const FIELDS = {
  "two-coin": ["head", "fake"],
  "k-ary": ["head", "size"],
  subset: ["head", "size", "chosen"],
  matrix: ["rows"],
  unary: ["keep", "flip", "size"],
  "local-hash": ["head", "buckets", "size", "prime"],
};

/**
 * @param {unknown} data The wire form of a channel.
 * @returns {Channel} The same, checked.
 */
export function readChannel(data) {
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new ChannelError("a channel must be an object", { expected: "kind and fields" });
  }
  const found = /** @type {Record<string, any>} */ (data);
  if (typeof found.kind !== "string" || !Object.hasOwn(FIELDS, found.kind)) {
    const expected = Object.keys(FIELDS).join(" or ");
    throw new ChannelError("unknown kind of channel", { given: found.kind, expected });
  }
  const fields = FIELDS[found.kind];
  const keys = Object.keys(found).filter((key) => key !== "kind");
  if (keys.length !== fields.length || !fields.every((field) => keys.includes(field))) {
    const expected = fields.join(", ");
    throw new ChannelError(`not the fields of a ${found.kind} channel`, { given: keys, expected });
  }
  const channel = /** @type {Channel} */ (found);
  check(channel);
  return channel;
}

/** @param {Channel} channel */
function check(channel) {
  switch (channel.kind) {
    case "two-coin":
      checkHead(channel.head, "head");
      checkWeights(channel.fake, 1, "the fake weights");
      checkSize(channel.fake.length, "a channel");
      return;
    case "k-ary":
      checkHead(channel.head, "head");
      checkSize(channel.size, "a channel");
      return;
    case "subset":
      checkHead(channel.head, "head");
      checkSize(channel.size, "a channel");
      if (!isBetween(channel.chosen, 1, channel.size - 1)) {
        const problem = "a subset must leave at least one cell out and hold at least one";
        throw new ChannelError(problem, { given: channel.chosen });
      }
      if (inside(channel) <= outside(channel)) {
        throw new ChannelError("a subset must hold the truth with higher odds than another cell");
      }
      return;
    case "matrix":
      checkRows(channel.rows);
      return;
    case "unary":
      checkHead(channel.keep, "keep");
      checkHead(channel.flip, "flip");
      checkSize(channel.size, "a channel");
      if (channel.keep <= channel.flip) {
        throw new ChannelError("a true bit must be kept more often than another is flipped");
      }
      return;
    case "local-hash":
      checkHead(channel.head, "head");
      checkSize(channel.size, "a channel");
      checkSize(channel.buckets, "a hash");
      checkField(channel);
  }
}

/**
 * @param {Channel} channel
 * @returns {number} The number of cells an answer may take.
 */
export function sizeOf(channel) {
  if (channel.kind === "two-coin") return channel.fake.length;
  if (channel.kind === "matrix") return channel.rows.length;
  return channel.size;
}

/**
 * @param {Channel} channel
 * @returns {number} The number of integers in a report.
 */
export function widthOf(channel) {
  if (channel.kind === "subset") return channel.chosen;
  if (channel.kind === "unary") return Math.ceil(channel.size / 32);
  return channel.kind === "local-hash" ? 3 : 1;
}

/**
 * p·(m − s), which stands to `outside` as P(y|x) does to P(y|x′) where only x is in y.
 * @param {Subset} channel
 */
export function inside({ head, size, chosen }) {
  return BigInt(head) * BigInt(size - chosen);
}

/**
 * (1 − p)·s.
 * @param {Subset} channel
 */
export function outside({ head, chosen }) {
  return BigInt(WORD - head) * BigInt(chosen);
}

/**
 * Refuse a report that this channel cannot make.
 * @param {Channel} channel
 * @param {readonly number[]} value
 */
export function checkValue(channel, value) {
  const ranges = rangesOf(channel);
  const whole = value.length === ranges.length;
  if (!whole || !value.every((number, place) => isBetween(number, 0, ranges[place] - 1))) {
    const expected = `${ranges.length} numbers in range`;
    throw new ReportError(`no report of a ${channel.kind} channel`, { expected });
  }
  if (channel.kind === "subset" && !value.every((cell, k) => k === 0 || value[k - 1] < cell)) {
    throw new ReportError("the cells of a reported set must ascend");
  }
}

/**
 * @param {Channel} channel
 * @returns {number[]} For each integer of a report, how many values it may take.
 */
function rangesOf(channel) {
  switch (channel.kind) {
    case "matrix":
      return [channel.rows[0].length];
    case "unary":
      return Array.from({ length: widthOf(channel) }, (_, word) =>
        2 ** Math.min(32, channel.size - 32 * word));
    case "local-hash":
      return [channel.prime, channel.prime, channel.buckets];
    default:
      return Array(widthOf(channel)).fill(sizeOf(channel));
  }
}

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
function isBetween(value, least, most) {
  return Number.isInteger(value) && least <= value && value <= most;
}

/**
 * @param {number} head
 * @param {string} what
 */
function checkHead(head, what) {
  if (!isBetween(head, 1, WORD - 1)) {
    const more = { given: head, expected: "a probability of neither 0 nor 1" };
    throw new ChannelError(`${what} must lie strictly between 0 and 2^32`, more);
  }
}

/**
 * @param {number} size
 * @param {string} what
 */
function checkSize(size, what) {
  if (!isBetween(size, 2, WORD - 1)) {
    throw new ChannelError(`${what} needs at least two cells`, { given: size });
  }
}

/**
 * @param {readonly number[]} weights
 * @param {number} least
 * @param {string} what
 */
function checkWeights(weights, least, what) {
  if (!Array.isArray(weights) || !weights.every((weight) => isBetween(weight, least, WORD))) {
    throw new ChannelError(`${what} must be integers of at least ${least}`);
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum !== WORD) {
    throw new ChannelError(`${what} must sum to 2^32`, { given: sum, expected: String(WORD) });
  }
}

/** @param {readonly (readonly number[])[]} rows */
function checkRows(rows) {
  if (!Array.isArray(rows)) throw new ChannelError("a channel matrix must be a list of rows");
  checkSize(rows.length, "a channel");
  for (const row of rows) checkWeights(row, 0, "each row of a channel matrix");
  if (rows.some((row) => row.length !== rows[0].length)) {
    throw new ChannelError("the rows of a channel matrix differ in length");
  }
}

/** @param {LocalHash} channel */
function checkField({ prime, size, buckets }) {
  if (!isBetween(prime, 2, FIELD) || !isPrime(prime) || size > prime || buckets > prime) {
    const problem = "a hash needs a prime field as large as the cells and the buckets";
    throw new ChannelError(problem, { given: prime, expected: `a prime up to ${FIELD}` });
  }
}

/** @param {number} number */
function isPrime(number) {
  for (let factor = 2; factor * factor <= number; factor += 1) {
    if (number % factor === 0) return false;
  }
  return number > 1;
}

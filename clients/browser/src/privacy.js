/**
 * The true worst-case ε of a channel: the number that is checked before any coin is tossed.
 *
 * Promises: the ratio is exact (integers of any length); its logarithm is rounded up, by
 * less than 2⁻⁴⁷ of itself, so a certified ε is never below the true one. No answer comes here.
 */

import { inside, outside, sizeOf } from "./channels.js";
import { WORD } from "./coin.js";

/** @typedef {import("./channels.js").Channel} Channel */

const WHOLE = BigInt(WORD);
const LN2 = Math.LN2;

/** More than `Math.log` and the few operations around it can be wrong by. */
const UPWARD = 1 + 2 ** -48;

/**
 * @param {readonly Channel[]} channels The channels answered together.
 * @returns {number} Their ε: the sum, rounded up once; infinite if unbounded.
 */
export function epsilonOf(channels) {
  let [high, low] = [1n, 1n];
  for (const channel of channels) {
    const [numerator, denominator] = worstRatio(channel);
    high *= numerator;
    low *= denominator;
  }
  return logRatio(high, low);
}

/**
 * @param {Channel} channel
 * @returns {[bigint, bigint]} The largest P(y|x) / P(y|x′), exactly; over 0 if unbounded.
 */
export function worstRatio(channel) {
  switch (channel.kind) {
    case "two-coin":
      return truthOrLie(channel.head, channel.fake.reduce((a, b) => Math.min(a, b)));
    case "k-ary":
      return truthOrLie(channel.head, Math.floor(WORD / channel.size));
    case "local-hash":
      // The hash is drawn without the answer, so it reveals nothing by itself.
      return truthOrLie(channel.head, Math.floor(WORD / channel.buckets));
    case "subset":
      return [inside(channel), outside(channel)];
    case "unary":
      // Two bits differ between two answers.
      return [
        BigInt(channel.keep) * BigInt(WORD - channel.flip),
        BigInt(WORD - channel.keep) * BigInt(channel.flip),
      ];
    case "matrix":
      return worstColumn(channel.rows);
  }
}

/**
 * 1 + p / ((1 − p)·min T), as a ratio of integers.
 * @param {number} head
 * @param {number} least The smallest fake weight.
 * @returns {[bigint, bigint]}
 */
function truthOrLie(head, least) {
  const lie = (WHOLE - BigInt(head)) * BigInt(least);
  return [WHOLE * BigInt(head) + lie, lie];
}

/**
 * The largest over the columns of largest / smallest entry (Domingo eq. 4, Wang Result 3).
 * @param {readonly (readonly number[])[]} rows
 * @returns {[bigint, bigint]}
 */
function worstColumn(rows) {
  /** @type {[bigint, bigint]} */
  let worst = [1n, 1n];
  for (let column = 0; column < rows[0].length; column += 1) {
    let [high, low] = [0, WORD];
    for (const row of rows) {
      high = Math.max(high, row[column]);
      low = Math.min(low, row[column]);
    }
    if (BigInt(high) * worst[1] > worst[0] * BigInt(low)) worst = [BigInt(high), BigInt(low)];
  }
  return worst;
}

/**
 * @param {bigint} high
 * @param {bigint} low
 * @returns {number} ln(high / low), rounded up.
 */
export function logRatio(high, low) {
  if (low === 0n) return Infinity;
  if (high === low) return 0;
  const places = BigInt(bitLength(high) - bitLength(low));
  if (places < 2n) {
    // Near 1 the logarithm is small: only the exact difference keeps it right.
    return Math.log1p(divide(high - low, low)) * UPWARD;
  }
  return (Math.log(divide(high, low << places)) + Number(places) * LN2) * UPWARD;
}

/**
 * @param {bigint} high
 * @param {bigint} low At least 1.
 * @returns {number} high / low to within 2⁻⁵² of itself.
 */
function divide(high, low) {
  const shift = BigInt(Math.max(0, 64 + bitLength(low) - bitLength(high)));
  return Number((high << shift) / low) * 2 ** -Number(shift);
}

/** @param {bigint} number */
function bitLength(number) {
  return number.toString(2).length;
}

/**
 * Tell whether the fake distribution keeps min T ≥ floor / m. Only two-coin channels have
 * one that somebody may choose; other channels are judged by their ε alone.
 * @param {Channel} channel
 * @param {number} floor
 */
export function keepsFloor(channel, floor) {
  if (channel.kind !== "two-coin") return true;
  return channel.fake.every((weight) => weight >= leastWeight(floor, sizeOf(channel)));
}

/**
 * @param {number} floor
 * @param {number} size
 * @returns {number} The smallest fake weight that a floor of g over m cells allows.
 */
function leastWeight(floor, size) {
  // ⌊floor · 2³² / m⌋, exactly: a double times 2¹¹⁶ is a whole number, or far too small.
  const share = BigInt(Math.floor(floor * 2 ** 116)) / (BigInt(size) << 84n);
  return Math.max(1, Number(share));
}

/**
 * @param {number} epsilon
 * @param {number} [digits]
 * @returns {string} ε for a person, rounded up: a printed ε is never below the true one.
 */
export function formatEpsilon(epsilon, digits = 3) {
  if (epsilon === Infinity) return "∞";
  const [whole, rest] = epsilon.toFixed(100).split(".");
  const more = /[1-9]/.test(rest.slice(digits)) ? 1n : 0n;
  const text = String(BigInt(whole + rest.slice(0, digits)) + more).padStart(digits + 1, "0");
  return digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
}

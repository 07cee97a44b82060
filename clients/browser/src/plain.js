/**
 * The parts of what was received, each of which is what it should be or an error.
 *
 * Promises: nothing is converted or filled in; an object has exactly the keys asked for, and
 * numbers are exact. No answer comes here.
 */

import { DesignError } from "./errors.js";

/** The version of the wire form. */
export const VERSION = 1;

const DECIMAL = /^[0-9]+(\.[0-9]+)?$/;

/**
 * @param {unknown} data
 * @param {string} what
 * @param {string[]} keys
 * @returns {Record<string, any>}
 */
export function fields(data, what, keys) {
  const expected = keys.join(", ");
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new DesignError(`${what} must be an object`, { expected });
  }
  const given = Object.keys(data);
  if (given.length !== keys.length || !keys.every((key) => given.includes(key))) {
    throw new DesignError(`${what} has unknown or missing keys`, { given, expected });
  }
  const found = /** @type {Record<string, any>} */ (data);
  if (keys.includes("deniable") && found.deniable !== VERSION) {
    throw new DesignError(`${what} of another version`, { given: found.deniable, expected: "1" });
  }
  return found;
}

/**
 * @param {unknown} data
 * @param {string} what
 * @returns {unknown[]}
 */
export function list(data, what) {
  if (!Array.isArray(data)) throw new DesignError(`${what} must be a list`);
  return data;
}

/**
 * @param {unknown} data
 * @param {string} what
 * @returns {string}
 */
export function text(data, what) {
  if (typeof data === "string" && data !== "") return data;
  throw new DesignError(`${what} must be text`);
}

/**
 * @param {unknown} data
 * @param {string} what
 * @param {number} least
 * @returns {number}
 */
export function count(data, what, least) {
  if (Number.isSafeInteger(data) && Number(data) >= least) return Number(data);
  throw new DesignError(`${what} must be an integer of at least ${least}`, { given: data });
}

/**
 * @param {unknown} data
 * @param {string} what
 * @returns {number}
 */
export function decimal(data, what) {
  const number = typeof data === "string" && DECIMAL.test(data) ? Number(data) : Infinity;
  if (number < Infinity) return number;
  throw new DesignError(`${what} must be a decimal as text`, { given: data, expected: 'as "1.5"' });
}

/**
 * @template {object} T
 * @param {T} data
 * @returns {T}
 */
export function deepFreeze(data) {
  for (const value of Object.values(data)) {
    if (typeof value === "object" && value !== null) deepFreeze(value);
  }
  return Object.freeze(data);
}

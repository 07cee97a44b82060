/**
 * One form of JSON, the same bytes in every language, and its digest.
 *
 * Promises: keys ascend, no white space, UTF-8, numbers are integers below 2⁵³ (a subset of
 * RFC 8785); `readCanonical` accepts exactly the bytes that `canonical` writes, so neither a
 * key given twice nor a number that JavaScript would round can pass. A digest is SHA-256 in
 * base64url without padding, 43 characters.
 */

import { DesignError } from "./errors.js";

/** @typedef {typeof import("./errors.js").DeniableError} ErrorClass */

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * @param {unknown} data Objects, arrays, strings, integers, booleans, null.
 * @returns {Uint8Array} Its canonical bytes.
 */
export function canonical(data) {
  return new TextEncoder().encode(write(data));
}

/**
 * @param {unknown} data
 * @returns {string}
 */
function write(data) {
  if (data === null || typeof data === "boolean") return String(data);
  if (typeof data === "number" && Number.isSafeInteger(data)) return String(data);
  if (typeof data === "string" && !LONE_SURROGATE.test(data)) return JSON.stringify(data);
  if (Array.isArray(data)) return `[${data.map(write).join(",")}]`;
  if (typeof data === "object") {
    const found = /** @type {Record<string, unknown>} */ (data);
    const pairs = Object.keys(found).sort().map((key) => `${write(key)}:${write(found[key])}`);
    return `{${pairs.join(",")}}`;
  }
  const expected = "integers below 2^53 and well-formed text";
  throw new DesignError("this has no canonical form", { given: data, expected });
}

/**
 * @param {Uint8Array | ArrayBuffer | string} data What was received.
 * @param {string} what Its name in an error.
 * @param {ErrorClass} [kind] The class of the error.
 * @returns {unknown} The plain data, if these are its canonical bytes.
 */
export function readCanonical(data, what, kind = DesignError) {
  let found;
  let same;
  try {
    const text = typeof data === "string" ? data : decode(data);
    found = JSON.parse(text);
    same = write(found) === text;
  } catch (cause) {
    const expected = "one complete JSON document in UTF-8";
    throw new kind(`${what} is not JSON that can be read`, { expected, cause });
  }
  if (!same) {
    const expected = "keys in order and once, no white space, integers below 2^53";
    throw new kind(`${what} is not in canonical form`, { expected });
  }
  return found;
}

/** @param {Uint8Array | ArrayBuffer} bytes */
function decode(bytes) {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<string>} Their SHA-256 as 43 characters of base64url.
 */
export async function digest(bytes) {
  const hash = await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes));
  return encodeBytes(new Uint8Array(hash));
}

/**
 * @param {Uint8Array} bytes
 * @returns {string} The bytes as base64url without padding.
 */
export function encodeBytes(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What the tests share: the vectors, and coins that give known words. */

import { readFileSync } from "node:fs";

import { WordCoin } from "../src/index.js";

/**
 * @param {string} name A file of spec/vectors/, without its ending.
 * @returns {any[]} Its cases.
 */
export function vectors(name) {
  const path = new URL(`../../../spec/vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")).cases;
}

/** Tosses the words it was given, then fails. */
export class ScriptedCoin extends WordCoin {
  spent = 0;

  /** @param {readonly number[]} words */
  constructor(words) {
    super();
    this.words = words;
  }

  word() {
    if (this.spent === this.words.length) throw new Error("the script has no more words");
    this.spent += 1;
    return this.words[this.spent - 1];
  }
}

/**
 * @param {() => unknown} task
 * @returns {Promise<unknown>} What it threw.
 */
export async function refusal(task) {
  try {
    await task();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was refused");
}

/**
 * @param {() => unknown} task
 * @returns {Promise<string | null>} The code of the error it threw, or null.
 */
export async function codeOf(task) {
  try {
    await task();
    return null;
  } catch (error) {
    return /** @type {any} */ (error).code ?? String(error);
  }
}

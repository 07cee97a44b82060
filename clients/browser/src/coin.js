/**
 * The one door to randomness.
 *
 * Promises: every coin that decides what leaves this device is tossed here, from
 * `crypto.getRandomValues` and nothing else; a coin sees no answer. The four tosses spend
 * the same 32-bit words as the Python client, so the same words give the same report:
 *
 *   heads(head)     1 word    true with probability head / 2³²
 *   pick(weights)   1 word    cell v with probability weights[v] / 2³²
 *   even(size)      1 word    a cell, as even as 2³² allows
 *   below(bound)    2 words   exactly uniform below `bound`
 */

/** A word is an integer below this. */
export const WORD = 2 ** 32;

const ID_BYTES = 16;
const NUMBERS = 2n ** 64n;

/** The four tosses, made of 32-bit words that a subclass supplies. */
export class WordCoin {
  /** @returns {number} The next word: an integer from 0 to 2³² − 1. */
  word() {
    throw new TypeError("a coin must supply words");
  }

  /**
   * @param {number} head An integer out of 2³².
   * @returns {boolean} True with probability head / 2³².
   */
  heads(head) {
    return this.word() < head;
  }

  /**
   * @param {readonly number[]} weights Integers that sum to 2³².
   * @returns {number} The cell whose interval of cumulative weights contains the word.
   */
  pick(weights) {
    const word = this.word();
    let end = 0;
    return weights.findIndex((weight) => word < (end += weight));
  }

  /**
   * The first `2³² mod size` cells weigh one more than the others.
   * @param {number} size
   * @returns {number} A cell, as evenly as one word allows.
   */
  even(size) {
    const word = this.word();
    const longer = WORD % size;
    const weight = (WORD - longer) / size;
    const turn = longer * (weight + 1);
    if (word < turn) return Math.floor(word / (weight + 1));
    return longer + Math.floor((word - turn) / weight);
  }

  /**
   * Two words make a 64-bit number; the incomplete last stretch is thrown again (with
   * probability below bound / 2⁶⁴: in practice, never).
   * @param {number} bound
   * @returns {number} An exactly uniform integer from 0 to bound − 1.
   */
  below(bound) {
    const whole = BigInt(bound);
    const limit = NUMBERS - (NUMBERS % whole);
    for (;;) {
      const number = BigInt(this.word()) * BigInt(WORD) + BigInt(this.word());
      if (number < limit) return Number(number % whole);
    }
  }
}

/** The coin of the operating system, by way of the browser. */
export class SystemCoin extends WordCoin {
  #words = new Uint32Array(1);

  word() {
    return crypto.getRandomValues(this.#words)[0];
  }
}

/** @returns {Uint8Array} A new report id, independent of everything else. */
export function freshId() {
  return crypto.getRandomValues(new Uint8Array(ID_BYTES));
}

/**
 * The answer meets the coins: one of the three files that touch an answer.
 *
 * Promises: the cell decides nothing but the report; it is compared, never kept, and every
 * path tosses the same kinds of coins in the same order as the Python client.
 */

/**
 * @typedef {import("./channels.js").Channel} Channel
 * @typedef {import("./coin.js").WordCoin} Coin
 */

/**
 * @param {Channel} channel
 * @param {number} cell The true cell.
 * @param {Coin} coin
 * @returns {number[]} A report of it.
 */
export function randomize(channel, cell, coin) {
  switch (channel.kind) {
    case "two-coin": {
      const truth = coin.heads(channel.head);
      const fake = coin.pick(channel.fake);
      return [truth ? cell : fake];
    }
    case "k-ary":
      return [truthOrAny(channel.head, channel.size, cell, coin)];
    case "subset":
      return subset(channel, cell, coin);
    case "matrix":
      return [coin.pick(channel.rows[cell])];
    case "unary":
      return unary(channel, cell, coin);
    case "local-hash": {
      const factor = coin.below(channel.prime);
      const shift = coin.below(channel.prime);
      const bucket = ((factor * cell + shift) % channel.prime) % channel.buckets;
      return [factor, shift, truthOrAny(channel.head, channel.buckets, bucket, coin)];
    }
  }
}

/**
 * Toss both coins, always.
 * @param {number} head
 * @param {number} size
 * @param {number} cell
 * @param {Coin} coin
 */
function truthOrAny(head, size, cell, coin) {
  const truth = coin.heads(head);
  const fake = coin.even(size);
  return truth ? cell : fake;
}

/**
 * Decide whether the truth is in, then fill up from the other cells (Floyd's sample).
 * @param {import("./channels.js").Subset} channel
 * @param {number} cell
 * @param {Coin} coin
 */
function subset({ head, size, chosen }, cell, coin) {
  const inside = coin.heads(head);
  const others = size - 1;
  /** @type {Set<number>} */
  const sample = new Set();
  for (let last = others - (chosen - Number(inside)); last < others; last += 1) {
    const other = coin.below(last + 1);
    sample.add(sample.has(other) ? last : other);
  }
  // The other cells are numbered without the true one: those from it on move up by one.
  const report = [...sample].map((other) => other + Number(other >= cell));
  if (inside) report.push(cell);
  return report.sort((a, b) => a - b);
}

/**
 * Toss one coin for each cell.
 * @param {import("./channels.js").Unary} channel
 * @param {number} cell
 * @param {Coin} coin
 */
function unary({ keep, flip, size }, cell, coin) {
  const words = Array(Math.ceil(size / 32)).fill(0);
  for (let place = 0; place < size; place += 1) {
    const bit = coin.heads(place === cell ? keep : flip);
    words[Math.floor(place / 32)] += Number(bit) * 2 ** (place % 32);
  }
  return words;
}

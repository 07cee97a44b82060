/**
 * What the browser's own coins report follows the channel. A right channel is blamed, and the
 * wrong one beside it missed, with probability 1e-9 at most.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { SystemCoin, WORD } from "../src/coin.js";
import { randomize } from "../src/randomize.js";

const PEOPLE = 20_000;
const HALF = WORD / 2;

/** @typedef {import("../src/channels.js").Channel} Channel */

/**
 * Every channel here with P(outcome | answer 1), where an outcome is a report as text or,
 * where there are too many reports, what was made of it.
 * @type {[string, Channel, Channel, (value: number[]) => string, Record<string, number>][]}
 */
const CASES = [
  [
    "two coins",
    { kind: "two-coin", head: HALF, fake: [HALF, HALF / 2, HALF / 2] },
    { kind: "two-coin", head: HALF * 1.2, fake: [HALF, HALF / 2, HALF / 2] },
    String,
    { 0: 0.25, 1: 0.625, 2: 0.125 },
  ],
  [
    "k-ary",
    { kind: "k-ary", head: HALF, size: 5 },
    { kind: "k-ary", head: HALF * 0.8, size: 5 },
    String,
    { 0: 0.1, 1: 0.6, 2: 0.1, 3: 0.1, 4: 0.1 },
  ],
  [
    "subset",
    { kind: "subset", head: HALF * 1.5, size: 4, chosen: 2 },
    { kind: "subset", head: HALF * 1.3, size: 4, chosen: 2 },
    String,
    { "0,1": 1 / 4, "1,2": 1 / 4, "1,3": 1 / 4, "0,2": 1 / 12, "0,3": 1 / 12, "2,3": 1 / 12 },
  ],
  [
    "matrix",
    { kind: "matrix", rows: [[WORD, 0], [HALF / 2, HALF * 1.5]] },
    { kind: "matrix", rows: [[WORD, 0], [HALF / 2 - 2 ** 28, HALF * 1.5 + 2 ** 28]] },
    String,
    { 0: 0.25, 1: 0.75 },
  ],
  [
    "unary",
    { kind: "unary", keep: HALF * 1.5, flip: HALF / 2, size: 3 },
    { kind: "unary", keep: HALF * 1.5, flip: HALF / 3, size: 3 },
    String,
    // The bits of cells 0, 1 and 2 count 1, 2 and 4.
    Object.fromEntries([...Array(8).keys()].map((bits) => [bits, [0, 1, 2].reduce((product, cell) =>
      product * ((bits >> cell) % 2 === Number(cell === 1) ? 0.75 : 0.25), 1)])),
  ],
  [
    "local hashing",
    { kind: "local-hash", head: HALF, buckets: 2, size: 5, prime: 7 },
    { kind: "local-hash", head: HALF * 0.7, buckets: 2, size: 5, prime: 7 },
    // Whether the report is the answer's bucket: the truth, or half of the lies.
    ([a, b, y]) => String(((a + b) % 7) % 2 === y),
    { true: 0.75, false: 0.25 },
  ],
];

/**
 * Pearson's statistic is below this but for one in 1e9, by the Laurent–Massart bound
 * d + 2√(d·x) + 2x with x = ln 1e9, and a fifth for the finite sample.
 * @param {number} degrees
 */
const limit = (degrees) => {
  const x = Math.log(1e9);
  return 1.2 * (degrees + 2 * Math.sqrt(degrees * x) + 2 * x);
};

/**
 * @param {Channel} channel
 * @param {(value: number[]) => string} outcome
 * @param {Record<string, number>} expected
 * @param {number} people
 */
function distance(channel, outcome, expected, people) {
  const coin = new SystemCoin();
  /** @type {Record<string, number>} */
  const seen = {};
  for (let person = 0; person < people; person += 1) {
    const report = outcome(randomize(channel, 1, coin));
    seen[report] = (seen[report] ?? 0) + 1;
  }
  assert.deepEqual(Object.keys(seen).filter((report) => !(report in expected)), []);
  return Object.entries(expected).reduce((sum, [report, share]) =>
    sum + ((seen[report] ?? 0) - people * share) ** 2 / (people * share), 0);
}

for (const [name, channel, wrong, outcome, expected] of CASES) {
  const degrees = Object.keys(expected).length - 1;
  test(`${name} follows its probabilities (false alarm below 1e-9)`, () => {
    assert.ok(distance(channel, outcome, expected, PEOPLE) < limit(degrees));
  });
  test(`${name} that is a little off is caught`, () => {
    assert.ok(distance(wrong, outcome, expected, PEOPLE) > limit(degrees));
  });
}

test("fake cells are as even as the words (false alarm below 1e-9)", () => {
  const coin = new SystemCoin();
  const counts = Array(16).fill(0);
  for (let toss = 0; toss < 2 * PEOPLE; toss += 1) counts[coin.below(16)] += 1;
  const even = (2 * PEOPLE) / 16;
  const sum = () => counts.reduce((total, count) => total + (count - even) ** 2 / even, 0);
  assert.ok(sum() < limit(15));
  counts[3] += 0.4 * even;
  assert.ok(sum() > limit(15));
});

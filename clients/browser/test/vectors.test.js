/** Every vector of spec/vectors/ holds here as it does in the Python package. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { canonical, readCanonical } from "../src/canonical.js";
import { readChannel } from "../src/channels.js";
import {
  Agreement, Answer, checkReport, Device, digest, epsilonOf, MemoryStorage, readBlock, readDesign,
  readReport,
} from "../src/index.js";
import { worstRatio } from "../src/privacy.js";
import { codeOf, ScriptedCoin, vectors } from "./support.js";

const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);
const identity = (/** @type {string} */ id) => () => new Uint8Array(Buffer.from(id, "base64url"));

/**
 * A certified ε is never below the true one, and at most 2^-44 of itself above it.
 * @param {number} certified
 * @param {string | null} least
 */
function certifies(certified, least) {
  if (least === null) return assert.equal(certified, Infinity);
  assert.ok(certified >= Number(least), `${certified} is below ${least}`);
  assert.ok(certified <= Number(least) * (1 + 2 ** -44), `${certified} is far above ${least}`);
}

for (const { comment, toss, argument, words, outcome } of vectors("coins")) {
  test(`coins: ${toss}: ${comment}`, () => {
    const coin = new ScriptedCoin(words);
    const result = /** @type {any} */ (coin)[toss](argument);
    assert.equal(result, outcome);
    assert.equal(coin.spent, words.length);
  });
}

for (const { comment, data, canonical: text, digest: expected } of vectors("canonical")) {
  test(`canonical: ${comment}`, async () => {
    assert.deepEqual(canonical(data), bytes(text));
    assert.equal(await digest(canonical(data)), expected);
    assert.deepEqual(readCanonical(bytes(text), "it"), data);
  });
}

for (const { comment, channel, error } of vectors("channels")) {
  test(`channels: ${comment}`, async () => {
    assert.equal(await codeOf(() => readChannel(channel)), error);
  });
}

for (const { comment, channels, ratio, epsilon } of vectors("epsilon")) {
  test(`epsilon: ${comment}`, () => {
    const read = channels.map(readChannel);
    let [high, low] = [1n, 1n];
    for (const [numerator, denominator] of read.map(worstRatio)) {
      high *= numerator;
      low *= denominator;
    }
    assert.equal(high * BigInt(ratio[1]), BigInt(ratio[0]) * low);
    assert.equal(low === 0n, epsilon === null);
    certifies(epsilonOf(read), epsilon);
  });
}

for (const { comment, design, published, digest: expected, error } of vectors("designs")) {
  test(`designs: ${comment}`, async () => {
    const task = () => readDesign(bytes(design), published ?? undefined);
    assert.equal(await codeOf(task), error);
    if (error === null) assert.equal((await task()).digest, expected);
  });
}

for (const { comment, design, block, published, digest: expected, error } of vectors("blocks")) {
  test(`blocks: ${comment}`, async () => {
    const read = await readDesign(bytes(design));
    const task = () => readBlock(bytes(block), read, published ?? undefined);
    assert.equal(await codeOf(task), error);
    if (error === null) assert.equal((await task()).digest, expected);
  });
}

for (const { comment, design, block, answer, words, id, report } of vectors("reports")) {
  test(`reports: ${comment}`, async () => {
    const read = await readDesign(bytes(design));
    const coin = new ScriptedCoin(words);
    const agreement = new Agreement({ epsilon: Number(read.epsilon) });
    const device = new Device({
      storage: new MemoryStorage(), agreement, coin, nameReport: identity(id),
    });
    const truth = new Answer(answer, read.attributes.map(({ size }) => size));
    const made = await device.respond(read, await readBlock(bytes(block), read), truth);
    assert.deepEqual(made.toBytes(), bytes(report));
    assert.equal(coin.spent, words.length);
  });
}

for (const { comment, design, block, report, error } of vectors("received")) {
  test(`received: ${comment}`, async () => {
    const read = await readDesign(bytes(design));
    const current = await readBlock(bytes(block), read);
    assert.equal(await codeOf(() => checkReport(readReport(report), read, current)), error);
  });
}

for (const { comment, design, block, agreed, certificate, error } of vectors("agreements")) {
  test(`agreements: ${comment}`, async () => {
    const read = await readDesign(bytes(design));
    const owner = JSON.parse(block).design === read.digest;
    // A block of another design is refused when it is read, before there is anything to examine.
    const current = owner ? await readBlock(bytes(block), read) : JSON.parse(block);
    const coin = new ScriptedCoin([]);
    const storage = new MemoryStorage();
    const task = () =>
      new Device({ storage, agreement: new Agreement(agreed), coin }).examine(read, current);
    assert.equal(await codeOf(task), error);
    if (error !== null) return;
    const found = task();
    found.views.forEach((spent, view) => certifies(spent, certificate.views[view]));
    found.attributes.forEach((spent, at) => certifies(spent, certificate.attributes[at]));
    assert.equal(found.repeats, certificate.repeats);
  });
}

for (const one of vectors("memories")) {
  test(`memories: ${one.comment}`, async () => {
    const design = await readDesign(bytes(one.design));
    const block = await readBlock(bytes(one.block), design);
    const storage = new MemoryStorage();
    if (one.memory !== null) await storage.write(one.memory);
    const coin = new ScriptedCoin(one.words);
    const agreement = new Agreement({ epsilon: Number(design.epsilon) });
    const nameReport = () => Uint8Array.from({ length: 16 }, (_, place) => 100 + place);
    const device = new Device({ storage, agreement, coin, nameReport });
    const answer = new Answer(one.answer, design.attributes.map(({ size }) => size));
    const task = () => device.respond(design, block, answer, { wave: one.wave });
    assert.equal(await codeOf(task), one.error);
    assert.equal(coin.spent, one.words.length);
    if (one.error !== null) return;
    assert.equal(String(await task()), one.report);
    certifies((await device.ledger()).total, one.spent);
  });
}

/** An answer cannot be read again: not by JSON, copy, key, text or error. */

import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";

import { Answer } from "../src/index.js";
import { readDesign } from "../src/design.js";
import { codeOf, refusal, vectors } from "./support.js";

const SECRET = 7654321;
const SIZES = [10_000_000, 10_000_000];
const answer = new Answer([SECRET, SECRET], SIZES);

test("no way of writing an answer shows it", async () => {
  assert.equal(await codeOf(() => JSON.stringify(answer)), "answer-outside-domain");
  assert.equal(await codeOf(() => JSON.stringify({ deep: [answer] })), "answer-outside-domain");
  const inspected = inspect(answer, { depth: 9, showHidden: true });
  for (const shown of [`${answer}`, answer.toString(), inspected]) {
    assert.doesNotMatch(shown, /7654321/);
  }
});

test("no key and no copy of an answer holds it", () => {
  const keys = [];
  for (const key in answer) keys.push(key);
  assert.deepEqual(keys, []);
  assert.deepEqual(Reflect.ownKeys(answer), []);
  assert.deepEqual({ ...answer }, {});
  assert.deepEqual(Reflect.ownKeys(structuredClone(answer)), []);
  assert.deepEqual(Object.entries(Object.assign({}, answer)), []);
});

test("what the page does to its own list later changes no answer", () => {
  const cells = [1, 1];
  const held = new Answer(cells, [2, 2]);
  cells[0] = 5;
  held.checkFits(/** @type {any} */ ({ attributes: [{ size: 2 }, { size: 2 }] }));
});

test("an answer outside its domain is refused without naming it", async () => {
  /** @type {any[]} */
  const bad = [SECRET, -SECRET, SECRET + 0.5, NaN, `${SECRET}`, null, undefined, [SECRET]];
  for (const cell of bad) {
    const error = /** @type {any} */ (await refusal(() => new Answer([0, cell], [2, 2])));
    assert.equal(error.code, "answer-outside-domain");
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /7654321/);
    assert.match(error.message, /attribute 1/);
  }
});

test("answers are given by name, all of them and no other", async () => {
  const design = await readDesign(vectors("designs")[0].design);
  Answer.of(design, { a0: 1, a1: 2, a2: 3 }).checkFits(design);
  const two = { a0: 1, a1: 2 };
  for (const given of [two, { ...two, a2: 3, a3: 0 }, { ...two, A2: 3 }, {}]) {
    const task = () => Answer.of(design, /** @type {any} */ (given));
    assert.equal(await codeOf(task), "answer-outside-domain");
  }
});

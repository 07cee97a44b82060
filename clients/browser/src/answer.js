/**
 * The truth: one of the three files that touch an answer.
 *
 * Promises: the cells live in a private field, which no property, copy, JSON or error shows;
 * the only thing that can be had of them is a randomized report.
 */

import { AnswerError } from "./errors.js";
import { randomize } from "./randomize.js";

/**
 * @typedef {import("./channels.js").Channel} Channel
 * @typedef {import("./coin.js").WordCoin} Coin
 * @typedef {import("./design.js").Design} Design
 * @typedef {import("./design.js").View} View
 */

/** One respondent's true answers. It has no serialization and no readable form. */
export class Answer {
  /** @type {readonly number[]} */
  #cells;

  /**
   * @param {readonly number[]} cells One category for each attribute, counted from 0.
   * @param {readonly number[]} sizes The attributes' numbers of categories.
   */
  constructor(cells, sizes) {
    this.#cells = Array.from(cells);
    this.#check(sizes);
  }

  /**
   * @param {Design} design
   * @param {Readonly<Record<string, number>>} given A category, counted from 0, for each of
   *   the design's attributes: `{sex: 1, smokes: 0}`.
   * @returns {Answer}
   */
  static of(design, given) {
    const names = design.attributes.map(({ name }) => name);
    const known = Object.keys(given).filter((name) => names.includes(name));
    if (known.length !== names.length || Object.keys(given).length !== names.length) {
      const problem = "an answer must hold one category for each attribute";
      throw new AnswerError(problem, { expected: names.join(", ") });
    }
    return new Answer(names.map((name) => given[name]), sizesOf(design));
  }

  /**
   * Refuse a design that asks something else.
   * @param {Design} design
   */
  checkFits(design) {
    this.#check(sizesOf(design));
  }

  /**
   * @param {View} view The groups to be answered.
   * @param {readonly Channel[]} channels One for each group.
   * @param {Coin} coin
   * @returns {number[][]} One randomized value for each group.
   */
  randomize(view, channels, coin) {
    return view.groups.map(({ attributes, sizes }, place) => {
      // The group's cell: a number whose digits are the answers, the last running fastest.
      const cell = attributes.reduce((sum, at, k) => sum * sizes[k] + this.#cells[at], 0);
      return randomize(channels[place], cell, coin);
    });
  }

  toJSON() {
    throw new AnswerError("an answer never leaves the device", { expected: "a randomized report" });
  }

  toString() {
    return "Answer(…)";
  }

  /** @param {readonly number[]} sizes */
  #check(sizes) {
    if (this.#cells.length !== sizes.length) {
      const expected = `${sizes.length} answers`;
      throw new AnswerError("an answer must hold one category for each attribute", { expected });
    }
    this.#cells.forEach((cell, at) => {
      if (!Number.isInteger(cell) || cell < 0 || cell >= sizes[at]) {
        const expected = `a category from 0 to ${sizes[at] - 1}`;
        const problem = `the answer to attribute ${at} lies outside its domain`;
        throw new AnswerError(problem, { expected });
      }
    });
  }
}

/** @param {Design} design */
function sizesOf(design) {
  return design.attributes.map(({ size }) => size);
}

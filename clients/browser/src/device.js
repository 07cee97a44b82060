/**
 * The respondent's side: one of the three files that touch an answer.
 *
 * Promises, in this order: every channel is examined before any coin is tossed; the report
 * is remembered before anybody sees it; the same bytes are handed out for ever after,
 * whatever the answer then and whatever block is open. A storage that throws does not stop
 * an answer; `lasting` then says that closing the page would forget it was given.
 */

import { Agreement, examine } from "./agreement.js";
import { Answer } from "./answer.js";
import { encodeBytes } from "./canonical.js";
import { freshId, SystemCoin } from "./coin.js";
import { drawView } from "./design.js";
import { AnswerError, EpsilonError, PrivacyRefusedError } from "./errors.js";
import { Ledger, readLedger } from "./ledger.js";
import { checkReport, Report } from "./report.js";
import { deliver } from "./submit.js";

/**
 * @typedef {import("./agreement.js").Certificate} Certificate
 * @typedef {import("./coin.js").WordCoin} Coin
 * @typedef {import("./design.js").Block} Block
 * @typedef {import("./design.js").Design} Design
 * @typedef {import("./ledger.js").Entry} Entry
 * @typedef {import("./storage.js").Storage} Storage
 * @typedef {import("./submit.js").Sending} Sending
 */

/** One respondent's device. */
export class Device {
  #storage;
  #agreement;
  #coin;
  #nameReport;
  #ledger = new Ledger();
  /** @type {number | null} A cap that was set but not yet stored. */
  #newCap = null;
  #readable = true;
  #lasting = true;
  #turn = Promise.resolve();

  /**
   * @param {object} made
   * @param {Storage} made.storage Where reports and spent ε are remembered.
   * @param {Agreement} made.agreement What the respondent agreed to.
   * @param {Coin} [made.coin] Tosses every coin; the browser's unless a test scripts it.
   * @param {() => Uint8Array} [made.nameReport] Draws report ids.
   */
  constructor({ storage, agreement, coin = new SystemCoin(), nameReport = freshId }) {
    if (!(agreement instanceof Agreement)) {
      const expected = "new Agreement({epsilon: 1})";
      throw new EpsilonError("a device needs an agreement", { expected });
    }
    this.#storage = storage;
    this.#agreement = agreement;
    this.#coin = coin;
    this.#nameReport = nameReport;
  }

  /** @returns {boolean} Whether all that was said will still be known on the next visit. */
  get lasting() {
    return this.#lasting;
  }

  /** @returns {Promise<Ledger>} What was spent and said so far: a copy. */
  ledger() {
    return this.#alone(async () => new Ledger(this.#ledger.entries, this.#ledger.cap));
  }

  /**
   * @param {Design} design
   * @param {Block} block
   * @returns {Certificate} What this device computed about a block, unless it refuses it.
   */
  examine(design, block) {
    return examine(design, block, this.#agreement);
  }

  /**
   * Answer: randomized once, the same report ever after. A survey that was answered before
   * gives the report made then.
   * @param {Design} design
   * @param {Block} block
   * @param {Answer} answer
   * @param {object} [which]
   * @param {number} [which.wave] The number of the fresh answer, where a design with repeats
   *   allows several; each costs ε again.
   * @returns {Promise<Report>}
   */
  respond(design, block, answer, { wave = 0 } = {}) {
    return this.#alone(async () => {
      const before = this.#ledger.find(design.survey, wave);
      if (before !== undefined) return sameDesign(before.report, design);
      if (!Number.isInteger(wave) || wave < 0 || wave >= design.repeats) {
        const problem = "the design does not allow that many fresh answers";
        throw new PrivacyRefusedError(problem, { expected: `at most ${design.repeats}` });
      }
      const certificate = this.examine(design, block);
      this.#ledger.allow(certificate);
      const report = this.#randomize(design, block, answer);
      this.#ledger.add(design, certificate, report, wave);
      await this.#remember();
      return report;
    });
  }

  /**
   * @param {Design} design
   * @param {Block} block
   * @param {Answer} answer
   * @returns {Report}
   */
  #randomize(design, block, answer) {
    if (!(answer instanceof Answer)) {
      throw new AnswerError("this is no answer", { expected: "Answer.of(design, {…})" });
    }
    answer.checkFits(design);
    const view = drawView(design, this.#coin);
    const values = answer.randomize(design.views[view], block.channels[view], this.#coin);
    const id = encodeBytes(this.#nameReport());
    const report = new Report({ design: design.digest, block: block.digest, id, view, values });
    checkReport(report, design, block);
    return report;
  }

  /**
   * @param {string} [survey] Only this survey's.
   * @returns {Promise<Report[]>} The reports that have not arrived yet.
   */
  async unsent(survey) {
    return (await this.#waiting(survey)).map(({ report }) => report);
  }

  /**
   * @param {string} [survey]
   * @returns {Promise<Entry[]>}
   */
  #waiting(survey) {
    return this.#alone(async () => this.#ledger.entries
      .filter((entry) => !entry.sent && (survey === undefined || entry.survey === survey)));
  }

  /**
   * Send every report that has not arrived yet; what was refused or timed out is sent again
   * unchanged, now and at the next call.
   * @param {string} url
   * @param {Sending & {survey?: string}} [sending] With `survey`, only that survey's reports.
   * @returns {Promise<number>} How many arrived.
   */
  async submit(url, { survey, ...sending } = {}) {
    const waiting = await this.#waiting(survey);
    const tries = [];
    for (const entry of waiting) tries.push(await this.#deliver(url, entry, sending));
    const failed = tries.find((error) => error !== null);
    if (failed) throw failed;
    return waiting.length;
  }

  /**
   * @param {string} url
   * @param {Entry} entry
   * @param {Sending} sending
   * @returns {Promise<unknown>} Why it did not arrive; null if it did.
   */
  async #deliver(url, entry, sending) {
    try {
      await deliver(url, entry.report, sending);
    } catch (error) {
      return error;
    }
    // Booked before the memory is asked: it may know of another report for this survey,
    // and the one that arrived holds.
    this.#ledger.learn([{ ...entry, sent: true }]);
    await this.#alone(() => this.#remember());
    return null;
  }

  /**
   * Let the respondent limit the ε spent on all surveys together.
   * @param {number} cap At least 0; `Infinity` for no limit.
   */
  setCap(cap) {
    if (typeof cap !== "number" || !(cap >= 0)) {
      const problem = "a cap on spent privacy must be a number of at least 0";
      throw new EpsilonError(problem, { given: cap, expected: "such as 5.0" });
    }
    return this.#alone(async () => {
      this.#newCap = cap;
      this.#ledger.cap = cap;
      await this.#remember();
    });
  }

  /**
   * Run a task when no other runs, here or in another tab, with the memory just recalled.
   * @template T
   * @param {() => Promise<T>} task
   * @returns {Promise<T>}
   */
  #alone(task) {
    let began = false;
    const once = async () => {
      began = true;
      await this.#recall();
      return task();
    };
    const turn = this.#turn.then(() => this.#storage.alone(once)).catch((error) => {
      // Without locks (an old browser, a sandboxed frame) the task runs all the same, once.
      if (began) throw error;
      return once();
    });
    this.#turn = turn.then(() => {}, () => {});
    return turn;
  }

  async #recall() {
    let document;
    try {
      document = await this.#storage.read();
    } catch {
      // What cannot be read must not be written over: it may hold reports of earlier visits.
      this.#readable = false;
      this.#lasting = false;
      return;
    }
    const stored = document === null ? new Ledger() : readLedger(document);
    stored.learn(this.#ledger.entries);
    stored.cap = this.#newCap ?? stored.cap;
    this.#ledger = stored;
    this.#readable = true;
  }

  async #remember() {
    this.#lasting = false;
    if (!this.#readable) return;
    try {
      await this.#storage.write(this.#ledger.toText());
      this.#lasting = true;
      this.#newCap = null;
    } catch {
      // The report stays in this page's memory; `lasting` tells the respondent.
    }
  }
}

/**
 * @param {Report} report
 * @param {Design} design
 */
function sameDesign(report, design) {
  if (report.design === design.digest) return report;
  const expected = "the design that was answered, or a survey of another name";
  throw new PrivacyRefusedError("this survey was answered under another design", { expected });
}

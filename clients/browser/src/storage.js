/**
 * Where a device remembers: one document of what was already randomized.
 *
 * Promises: any of these may throw, and the device survives it; `alone` lets one page at a
 * time decide, so that two tabs cannot answer the same survey twice.
 */

/**
 * @typedef {object} Storage
 * @property {() => Promise<string | null>} read The document, or `null` if there is none yet.
 * @property {(document: string) => Promise<void>} write Replace the document, all of it or nothing.
 * @property {<T>(task: () => Promise<T>) => Promise<T>} alone Run a task while nobody else does.
 */

/** Remembers as long as the page is open. @implements {Storage} */
export class MemoryStorage {
  /** @type {string | null} */
  #document = null;
  #turn = Promise.resolve();

  async read() {
    return this.#document;
  }

  /** @param {string} document */
  async write(document) {
    this.#document = document;
  }

  /**
   * @template T
   * @param {() => Promise<T>} task
   */
  async alone(task) {
    const turn = this.#turn.then(task);
    this.#turn = turn.then(() => {}, () => {});
    return turn;
  }
}

/**
 * Remembers in the browser's `localStorage`, which a private window may refuse.
 * @implements {Storage}
 */
export class BrowserStorage {
  #key;

  /** @param {string} [key] The name of the document, and of the lock. */
  constructor(key = "deniable") {
    this.#key = key;
  }

  async read() {
    return localStorage.getItem(this.#key);
  }

  /** @param {string} document */
  async write(document) {
    localStorage.setItem(this.#key, document);
  }

  /**
   * @template T
   * @param {() => Promise<T>} task
   * @returns {Promise<T>}
   */
  async alone(task) {
    return navigator.locks.request(this.#key, task);
  }
}

/**
 * What this client refuses to do.
 *
 * Promises: an error is a sentence to a person (what is wrong, what was given, what would
 * be right); it never contains an answer. Each class carries the `code` that it has in
 * every language (`spec/errors.json`).
 */

/** Anything this client refuses to do. */
export class DeniableError extends Error {
  static code = "error";

  /**
   * @param {string} problem What is wrong, without a full stop.
   * @param {{given?: unknown, expected?: string, cause?: unknown}} [more] What was given, if
   *   saying it reveals no answer, and what would have been right.
   */
  constructor(problem, { given, expected, cause } = {}) {
    const shown = given === undefined ? "" : ` (given: ${show(given)})`;
    const right = expected === undefined ? "" : `; expected ${expected}`;
    super(`${problem}${shown}${right}.`, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
  }

  /** @returns {string} The same word in every language. */
  get code() {
    return /** @type {typeof DeniableError} */ (this.constructor).code;
  }
}

/** An answer lies outside its attribute's domain. The answer is not named. */
export class AnswerError extends DeniableError {
  static code = "answer-outside-domain";
}

/** A channel is malformed. */
export class ChannelError extends DeniableError {
  static code = "invalid-channel";
}

/** A privacy level is not a positive finite number. */
export class EpsilonError extends ChannelError {
  static code = "invalid-epsilon";
}

/** A design, view or block is malformed. */
export class DesignError extends DeniableError {
  static code = "invalid-design";
}

/** Something was made for another design or block than the one at hand. */
export class DigestError extends DeniableError {
  static code = "wrong-digest";
}

/** A report is not one that the design allows. */
export class ReportError extends DeniableError {
  static code = "invalid-report";
}

/** The device was asked for more than the respondent agreed to. No coin was tossed. */
export class PrivacyRefusedError extends DeniableError {
  static code = "privacy-refused";
}

/** The respondent's own cap on spent privacy would be exceeded. */
export class LedgerError extends PrivacyRefusedError {
  static code = "privacy-cap-reached";
}

/** Something could not be kept, or not be read back. */
export class StorageError extends DeniableError {
  static code = "storage-failed";
}

/** A report did not reach the server; it may be sent again unchanged. */
export class SubmissionError extends DeniableError {
  static code = "submission-failed";

  /**
   * The code of the problem that the server named when it refused the report, perhaps "";
   * null if it could not be reached.
   * @type {string | null}
   */
  refusal = null;
}

/**
 * @param {unknown} given
 * @returns {string} At most a line of it.
 */
function show(given) {
  const text = typeof given === "string" ? JSON.stringify(given) : String(given);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

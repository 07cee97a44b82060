/**
 * Send a report, and send the same bytes again until somebody has kept them.
 *
 * Promises: what is posted is the report's own bytes, without cookies or referrer; a report
 * counts as arrived only if the server names it as kept. No answer comes here.
 */

import { SubmissionError } from "./errors.js";

/**
 * @typedef {import("./report.js").Report} Report
 * @typedef {{status: number, body: string, retryAfter: number | null}} Reply
 * @typedef {object} Sending How a submission is carried out.
 * @property {string} [invitation] The code that a survey by invitation asks for.
 * @property {number} [attempts]
 * @property {(url: string, body: string) => Promise<Reply>} [send]
 * @property {(seconds: number) => Promise<void>} [wait]
 */

const TRY_AGAIN = new Set([408, 425, 429, 500, 502, 503, 504]);
const LONGEST_WAIT = 60;
const TIMEOUT = 30_000;

/**
 * Deliver one report, or say why not.
 * @param {string} url
 * @param {Report} report
 * @param {Sending} [sending]
 */
export async function deliver(url, report, sending = {}) {
  const { invitation, attempts = 6, send = post, wait = sleep } = sending;
  const code = invitation === undefined ? "" : `,"invitation":${JSON.stringify(invitation)}`;
  const body = `{"reports":[${report}]${code}}`;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const reply = await send(url, body);
    if (reply.status >= 200 && reply.status < 300) return checkKept(reply, report);
    if (!TRY_AGAIN.has(reply.status)) {
      throw refusal(parse(reply.body), `status ${reply.status}`);
    }
    if (attempt + 1 < attempts) {
      await wait(Math.min(reply.retryAfter || 0.5 * 2 ** attempt, LONGEST_WAIT));
    }
  }
  const problem = `the server could not be reached in ${attempts} attempts`;
  const expected = "a later call, which sends the same bytes again";
  throw new SubmissionError(problem, { expected });
}

/**
 * @param {string} url
 * @param {string} body
 * @returns {Promise<Reply>} What a server said; unreachable is status 503.
 */
async function post(url, body) {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const retryAfter = seconds(response.headers.get("Retry-After"));
    return { status: response.status, body: await response.text(), retryAfter };
  } catch {
    return { status: 503, body: "", retryAfter: null };
  }
}

/**
 * Believe the server only if it names this very report as kept.
 * @param {Reply} reply
 * @param {Report} report
 */
function checkKept(reply, report) {
  const results = Object(parse(reply.body)).results;
  const [result, ...more] = Array.isArray(results)
    ? results.filter((one) => Object(one).id === report.id)
    : [];
  if (result === undefined || more.length) {
    const expected = "a result for each report";
    throw new SubmissionError("the server did not say that it kept the report", { expected });
  }
  if (Object.hasOwn(result, "problem")) throw refusal(result.problem, String(result.problem));
}

/**
 * @param {unknown} problem What the server said (RFC 9457), if it did.
 * @param {string} otherwise
 */
function refusal(problem, otherwise) {
  const { detail, title, type } = Object(problem);
  const more = { given: String(detail || title || otherwise), expected: "a report it accepts" };
  const error = new SubmissionError("the server refused a report", more);
  error.refusal = String(type ?? "").split("/").pop() ?? "";
  return error;
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {string | null} text */
function seconds(text) {
  return text !== null && Number(text) >= 0 ? Number(text) : null;
}

/** @param {number} time */
function sleep(time) {
  return new Promise((resolve) => void setTimeout(resolve, time * 1000));
}

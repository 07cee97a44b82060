/**
 * The respondent's page: ask, toss, show, send.
 *
 * Promises: the answers chosen here go into one `Answer` and nowhere else; what is shown
 * under "exactly this leaves" is the report itself; nothing is sent before the respondent
 * has seen it and said so; the same bytes are sent again until the server has kept them.
 */

import { Agreement, Answer, BrowserStorage, Device, formatEpsilon, readBlock, readDesign, SubmissionError } from "./client/index.js";
import { explain, explainChannel } from "./explanation.js";
import { element, show, tell } from "./element.js";
import { choose, textIn, words } from "./words.js";

const name = decodeURIComponent(location.pathname.split("/").pop() ?? "");
const api = `/v1/surveys/${encodeURIComponent(name)}`;
const invitation = decodeURIComponent(location.hash.slice(1));
const BETWEEN_BLOCKS = 3000;
const CONSENT = `deniable may send ${name}`;

/** @type {any} */
let survey;
/** @type {any} */
let design;
/** @type {any} */
let block;
/** @type {Device} */
let device;
/** @type {import("./client/agreement.js").Certificate} */
let certificate;
/** What was chosen so far, by attribute: forgotten as soon as the coins have fallen. @type {Map<string, number>} */
const chosen = new Map();
let view = intro;

start().catch(fail);

async function start() {
  survey = await load(`${api}/page`, "json");
  choose(survey.locales, () => { dress(); view(); });
  dress();
  design = await readDesign(await load(`/v1/designs/${survey.design}`, "bytes"), survey.design);
  const agreement = new Agreement({ epsilon: Number(design.epsilon), design: survey.design });
  device = new Device({ storage: new BrowserStorage(`deniable ${name}`), agreement });
  const entry = await answered();
  const wanted = entry ? entry.report.block : survey.block;
  if (wanted === null && survey.state === "published") {
    go(() => message(words().between, words().betweenMore));
    setTimeout(() => location.reload(), BETWEEN_BLOCKS);
    return;
  }
  if (wanted === null) {
    go(() => message(words().closed, words().closedMore));
    return;
  }
  block = await readBlock(await load(`/v1/blocks/${wanted}`, "bytes"), design, wanted);
  certificate = device.examine(design, block);
  if (!entry) go(survey.invited && !invitation ? () => message(words().invited, words().invitedMore) : intro);
  else if (!entry.sent && consent() === null) go(() => before(entry.report));
  else {
    go(() => receipt(entry));
    await send();
  }
  addEventListener("online", () => { if (consent() !== null) void send(); });
  navigator.serviceWorker?.register("/sw.js").catch(() => {});
}

/**
 * @param {string} address
 * @param {"json" | "bytes"} kind
 */
async function load(address, kind) {
  const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" });
  if (!response.ok) throw new Error(words().missing);
  return kind === "json" ? response.json() : new Uint8Array(await response.arrayBuffer());
}

/** @returns {Promise<any>} What this device said before, if it did. */
async function answered() {
  return (await device.ledger()).find(survey.name, 0);
}

/** @param {() => void} next */
function go(next) {
  view = next;
  view();
}

function dress() {
  const title = textIn(survey.title) || survey.name;
  document.title = title;
  /** @type {HTMLElement} */ (document.getElementById("survey-title")).textContent = title;
}

function intro() {
  const w = words();
  const epsilon = formatEpsilon(certificate.epsilon, 2);
  show(
    element("h1", {}, textIn(survey.title) || survey.name),
    textIn(survey.description) ? element("p.lead", {}, textIn(survey.description)) : null,
    element("section.card", { "aria-labelledby": "promise" },
      element("h2", { id: "promise" }, w.promise),
      element("ol.steps", {}, ...w.steps.map((step) => element("li", {}, step))),
      meter(certificate.epsilon),
      element("p", {}, w.epsilonMeans(epsilon, certificate.epsilon)),
      explain(design, block, certificate, { view: 0, group: 0 }, labelOf)),
    element("p", {}, element("button.primary", { click: () => go(() => ask(0)) }, w.begin(epsilon))),
    element("p.small", {}, w.noTrace),
  );
}

/**
 * How sure somebody who saw the report could at most become, from one half.
 * @param {number} epsilon
 */
function meter(epsilon) {
  const w = words();
  const sure = Math.exp(epsilon) / (1 + Math.exp(epsilon));
  const label = w.meter(Math.ceil(sure * 100));
  return element("figure.meter", {},
    element("figcaption", {}, label),
    element("meter", { min: 0.5, max: 1, value: sure, "aria-label": label }),
    element("div.scale.small", { "aria-hidden": "true" }, ...w.meterEnds.map((end) => element("span", {}, end))));
}

/** @param {number} number */
function ask(number) {
  const w = words();
  const page = survey.pages[number];
  const isLast = number === survey.pages.length - 1;
  const form = element("form", { novalidate: true, submit: (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isComplete(page)) go(isLast ? ready : () => ask(number + 1));
  } },
    element("p.small", {}, w.pageOf(number + 1, survey.pages.length)),
    element("h1", {}, textIn(page.title) || w.pageOf(number + 1, survey.pages.length)),
    textIn(page.description) ? element("p", {}, textIn(page.description)) : null,
    ...page.questions.map(question),
    element("p.row", {},
      element("button", { type: "button", click: () => go(number ? () => ask(number - 1) : intro) }, w.back),
      element("button.primary", { type: "submit" }, w.next)));
  show(form);
}

/** @param {any} asked */
function question(asked) {
  const hint = textIn(asked.description);
  const described = `${asked.name}-error${hint ? ` ${asked.name}-hint` : ""}`;
  return element("fieldset", { id: asked.name, "aria-describedby": described },
    element("legend", {}, textIn(asked.title) || asked.name),
    hint ? element("p.small", { id: `${asked.name}-hint` }, hint) : null,
    element("p.error", { id: `${asked.name}-error` }),
    ...(asked.cells.length > 12 ? [list(asked)] : radios(asked)));
}

/** @param {any} asked */
function radios(asked) {
  return asked.cells.map((/** @type {any} */ texts, /** @type {number} */ cell) =>
    element("label.choice", {},
      element("input", {
        type: "radio", name: asked.name, value: cell, checked: chosen.get(asked.name) === cell,
        change: () => choice(asked.name, cell),
      }),
      element("span", {}, textIn(texts))));
}

/** @param {any} asked */
function list(asked) {
  const select = element("select", {
    "aria-label": textIn(asked.title) || asked.name,
    change: (/** @type {any} */ event) => choice(asked.name, Number(event.target.value)),
  }, element("option", { value: "", disabled: true, selected: !chosen.has(asked.name) }, words().choose),
    ...asked.cells.map((/** @type {any} */ texts, /** @type {number} */ cell) =>
      element("option", { value: cell, selected: chosen.get(asked.name) === cell }, textIn(texts))));
  return select;
}

/**
 * @param {string} attribute
 * @param {number} cell
 */
function choice(attribute, cell) {
  chosen.set(attribute, cell);
  complain(attribute, "");
}

/**
 * @param {string} attribute
 * @param {string} text
 */
function complain(attribute, text) {
  const place = document.getElementById(`${attribute}-error`);
  if (place) place.textContent = text;
}

/** @param {any} page */
function isComplete(page) {
  const open = page.questions.filter((/** @type {any} */ asked) => !chosen.has(asked.name));
  for (const asked of open) complain(asked.name, words().answerThis);
  if (open.length) {
    tell(words().answersMissing(open.length));
    /** @type {HTMLElement | null} */ (document.querySelector(`#${CSS.escape(open[0].name)} :is(input, select)`))?.focus();
  } else tell("");
  return open.length === 0;
}

function ready() {
  const w = words();
  show(
    element("h1", {}, w.ready),
    element("p.lead", {}, w.readyMore),
    element("p.row", {},
      element("button", { click: () => go(() => ask(survey.pages.length - 1)) }, w.back),
      element("button.primary", { click: () => void toss().catch(fail) }, w.toss)));
}

/** Let the coins fall. The answers are forgotten here, whatever is done next. */
async function toss() {
  const answer = Answer.of(design, Object.fromEntries(chosen));
  const report = await device.respond(design, block, answer);
  chosen.clear();
  const w = words();
  show(
    element("h1", {}, w.tossing),
    element("div.coins", { "aria-hidden": "true" },
      element("div.coin", {}, element("span", {}, "?")), element("div.coin.second", {}, element("span", {}, "?"))),
    element("p", {}, w.tossingMore));
  await new Promise((done) => { setTimeout(done, matchMedia("(prefers-reduced-motion: reduce)").matches ? 300 : 1900); });
  go(() => before(report));
}

/** @param {any} report */
function before(report) {
  const w = words();
  show(
    element("h1", {}, w.before),
    element("p.lead", {}, w.beforeMore),
    element("section.card", { "aria-labelledby": "leaves" },
      element("h2", { id: "leaves" }, w.leaves),
      inWords(report),
      element("pre", { tabindex: 0, "aria-label": w.leaves }, String(report)),
      element("dl.parts", {}, ...Object.entries(w.parts).flatMap(([part, meaning]) => [
        element("dt", {}, element("code", {}, part)), element("dd", {}, meaning)])),
      element("p.small", {}, w.leavesMore),
      explain(design, block, certificate, { view: report.view, group: 0, drawn: true }, labelOf)),
    element("p", {}, element("button.primary", { click: () => void finish().catch(fail) }, w.send)));
}

/**
 * What the report says, in words: for each group the answers that it names.
 * @param {any} report
 */
function inWords(report) {
  const w = words();
  const groups = design.views[report.view].groups;
  return element("div", {}, ...groups.map((/** @type {any} */ group, /** @type {number} */ place) => {
    const channel = block.channels[report.view][place];
    const said = explainChannel(channel, group, report.values[place], labelOf);
    return element("div.said", {},
      element("p", {}, element("strong", {}, group.attributes.map((/** @type {number} */ at) => titleOf(at)).join(" + "))),
      said.cells ? element("ul", {}, ...said.cells.map((text) => element("li", {}, text))) : null,
      element("p", {}, w.wouldBe(said.ifTrue, said.ifNot)));
  }));
}

/** @returns {any[]} Every question, in the order of the attributes. */
function questions() {
  return survey.pages.flatMap((/** @type {any} */ page) => page.questions);
}

/** @param {number} at */
function titleOf(at) {
  return textIn(questions()[at].title) || questions()[at].name;
}

/**
 * @param {number} at
 * @param {number} cell
 */
function labelOf(at, cell) {
  return textIn(questions()[at].cells[cell]);
}

/** Said here too, for browsers that let the page remember nothing. @type {string | null} */
let agreedNow = null;

/**
 * @returns {string | null} With which invitation (or "" without) the respondent said "Send", now
 *   or on an earlier visit; null if that was not said.
 */
function consent() {
  try {
    return agreedNow ?? localStorage.getItem(CONSENT);
  } catch {
    return agreedNow;
  }
}

async function finish() {
  agreedNow = invitation;
  try {
    localStorage.setItem(CONSENT, invitation);
  } catch {
    // It will be asked again on the next visit.
  }
  go(() => message(words().sending, ""));
  await send();
}

/** Send what has not arrived; without a connection it waits here and is sent later. */
async function send() {
  const entry = await answered();
  if (!entry || entry.sent) return;
  /** @type {SubmissionError | null} */
  let refusal = null;
  try {
    const code = invitation || consent();
    await device.submit(`${api}/reports`, { attempts: 2, ...(code ? { invitation: code } : {}) });
  } catch (error) {
    if (error instanceof SubmissionError && error.refusal !== null) refusal = error;
  }
  const after = await answered();
  go(() => receipt(after, refusal));
}

/**
 * @param {any} entry
 * @param {SubmissionError | null} [refusal] Why the server did not take it.
 */
function receipt(entry, refusal = null) {
  const w = words();
  const [title, more] = entry.sent ? [w.thanks, w.thanksMore]
    : refusal ? [w.refused, w.refusedWhy[refusal.refusal ?? ""] ?? w.refusedMore] : [w.waiting, w.waitingMore];
  const facts = [
    [w.receiptId, entry.report.id],
    [w.receiptDesign, entry.report.design],
    [w.receiptEpsilon, formatEpsilon(entry.epsilon, 3)],
  ];
  show(
    element("h1", {}, title),
    element("p.lead", {}, more),
    refusal ? element("p.small", { lang: "en" }, refusal.message) : null,
    device.lasting ? null : element("p.warning", {}, w.notLasting),
    element("section.card", { "aria-labelledby": "receipt" },
      element("h2", { id: "receipt" }, w.receipt),
      element("dl", {}, ...facts.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)])),
      element("details", {}, element("summary", {}, w.leaves),
        element("pre", { tabindex: 0, "aria-label": w.leaves }, String(entry.report)))),
    entry.sent ? null : element("p", {}, element("button.primary", { click: () => void send() }, w.sendNow)));
}

/**
 * @param {string} title
 * @param {string} more
 */
function message(title, more) {
  show(element("h1", {}, title), element("p.lead", {}, more));
}

/** @param {unknown} error */
function fail(error) {
  message(words().stopped, error instanceof Error ? error.message : String(error));
}

/**
 * The page's own words. A survey's words come from its file; both follow the language chosen.
 */

import { element } from "./element.js";
import { de } from "./words-de.js";
import { en } from "./words-en.js";
import { it } from "./words-it.js";

/** @type {Record<string, typeof en>} */
const LANGUAGES = { en, de, it };
const NAMES = new Intl.DisplayNames(["en"], { type: "language" });

let locale = "en";

/** @returns {typeof en} The page's words in the language chosen, or in English. */
export function words() {
  return LANGUAGES[locale.split("-")[0]] ?? en;
}

/**
 * @param {Record<string, string> | undefined} texts Locale to text; "default" is in the survey's own language.
 * @returns {string} The text in the language chosen.
 */
export function textIn(texts) {
  return texts?.[locale] ?? texts?.[locale.split("-")[0]] ?? texts?.default ?? "";
}

/**
 * Start in the reader's language, if the survey offers it, and offer the others.
 * @param {string[]} offered The survey's languages, its own first.
 * @param {() => void} changed
 */
export function choose(offered, changed) {
  const wanted = navigator.languages.flatMap((tag) => [tag, tag.split("-")[0]]);
  use(wanted.find((tag) => offered.includes(tag)) ?? offered[0] ?? "en");
  if (offered.length < 2) return;
  const select = element("select", {
    "aria-label": "Language",
    change: (/** @type {any} */ event) => { use(event.target.value); changed(); },
  }, ...offered.map((tag) => element("option", { value: tag, lang: tag, selected: tag === locale }, ownName(tag))));
  document.getElementById("language")?.replaceChildren(select);
}

/** @param {string} tag */
function use(tag) {
  locale = tag;
  document.documentElement.lang = tag;
}

/** @param {string} tag */
function ownName(tag) {
  try {
    return new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
  } catch {
    return NAMES.of(tag) ?? tag;
  }
}

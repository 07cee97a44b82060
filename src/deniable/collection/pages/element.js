/**
 * Elements made from data. Text is always set as text, never read as markup.
 */

/**
 * @param {string} name The tag, with classes after dots: "p.note".
 * @param {Record<string, unknown>} [properties] Attributes; functions become listeners.
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElement}
 */
export function element(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  made.classList.add(...classes);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(key, /** @type {EventListener} */ (value));
    else if (typeof value === "boolean") made.toggleAttribute(key, value);
    else if (value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/**
 * Show a new view and move the keyboard's and the screen reader's place to its heading.
 * @param {...(Node | null)} content
 */
export function show(...content) {
  const view = /** @type {HTMLElement} */ (document.getElementById("view"));
  view.replaceChildren(...content.filter((one) => one !== null));
  const heading = view.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** @param {string} text What a screen reader says and the foot of the page shows. */
export function tell(text) {
  const status = /** @type {HTMLElement} */ (document.getElementById("status"));
  status.textContent = text;
}

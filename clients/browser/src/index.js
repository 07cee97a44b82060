/**
 * The respondent's device, in the browser. See README.md for the order of reading.
 */

export { Agreement, Certificate, examine } from "./agreement.js";
export { Answer } from "./answer.js";
export { canonical, digest } from "./canonical.js";
export { SystemCoin, WordCoin } from "./coin.js";
export { readBlock, readDesign } from "./design.js";
export { Device } from "./device.js";
export * from "./errors.js";
export { Ledger } from "./ledger.js";
export { epsilonOf, formatEpsilon } from "./privacy.js";
export { checkReport, readReport, Report } from "./report.js";
export { BrowserStorage, MemoryStorage } from "./storage.js";

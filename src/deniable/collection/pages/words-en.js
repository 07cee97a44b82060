/** The page's words in English. */
export const en = {
  promise: "What is protected",
  steps: [
    "You answer on this device. Your answers stay here.",
    "Your device tosses coins. They decide whether chance replaces what it would say.",
    "You see exactly what would be sent, and then you send it, or not.",
  ],
  /** @param {string} text @param {number} epsilon */
  epsilonMeans: (text, epsilon) =>
    `The privacy level is ε = ${text}. It means: whatever is sent, it makes no answer of yours more than ${Math.exp(epsilon).toFixed(1)} times as likely, compared with any other answer, as it was before. Nobody can ever be certain, and what you did say can always be denied.`,
  /** @param {number} percent */
  meter: (percent) => `Somebody who guesses between two answers, 50 : 50, could be at most ${percent} % sure after seeing your report.`,
  meterEnds: ["50 %: a mere guess", "100 %: certain"],
  how: "Show me how",
  /** @param {number} views */
  howViews: (views) => `Of ${views} possible sets of questions your device draws one, without looking at your answers. Only that one is randomized and sent; the rest of your answers are not used at all.`,
  howChannel: {
    "two-coin": "Two coins fall. If the first shows heads, your true answer is reported. If it shows tails, the second coin draws an answer from a published list, whatever the truth.",
    "k-ary": "Two coins fall. If the first shows heads, your true answer is reported. If it shows tails, the second coin draws any of the possible answers, each as likely as the others.",
    subset: "Your device reports a handful of possible answers instead of one. A first coin decides whether the true one is among them; others are drawn at random to fill the handful.",
  },
  /** @param {number} some @param {number} of */
  howSome: (some, of) => `For ${some} of the ${of} sets: `,
  howOther: "Your device replaces your answer by chance, with the published probabilities.",
  trial: "Try the coins",
  trialMore: "Pretend that one of these were the truth, and let this page toss the very coins that it would toss for you. Nothing of this is sent or kept.",
  pretend: "Pretend that the truth is ",
  /** @param {number} times */
  tossOften: (times) => `Toss ${times.toLocaleString("en")} times`,
  /** @param {number} named @param {number} times */
  trialResult: (named, times) => `The pretended truth was named in ${named} of ${times} reports, and other answers in the rest, or besides:`,
  /** @param {string} whole @param {string} one */
  howEpsilon: (whole, one) => `Your device computed ε itself, from the published numbers, before tossing any coin: at most ${whole} for everything you send, at most ${one} for any single answer. Had it been more than promised, it would have refused.`,
  howCheck: [
    "The program is what your browser shows under “view source”: plain files, nothing translated, nothing from third parties.",
    "Switch your connection off, answer, and look at what would be sent; nothing has left until you press “Send”.",
    "The published numbers below are named by their SHA-256 digest: nobody can give you others than everybody else.",
  ],
  blockDigest: "Coins (digest)",
  /** @param {string} text */
  begin: (text) => `I agree to ε ≤ ${text} – begin`,
  noTrace: "No cookies, no name, no time and no internet address are kept.",
  /** @param {number} number @param {number} of */
  pageOf: (number, of) => `Page ${number} of ${of}`,
  back: "Back",
  next: "Next",
  choose: "Choose …",
  answerThis: "Please choose an answer.",
  /** @param {number} count */
  answersMissing: (count) => (count === 1 ? "One question is not answered yet." : `${count} questions are not answered yet.`),
  ready: "Ready to toss the coins",
  readyMore: "Once the coins have fallen, this page forgets your answers. You can still change them now; afterwards the coins are never tossed again for this survey, because a second toss would say more about you.",
  toss: "Toss the coins",
  tossing: "Two coins are falling",
  tossingMore: "Nobody sees how they fall, and nobody writes it down.",
  before: "This is what would be sent",
  beforeMore: "Nothing has left your device yet.",
  leaves: "Exactly this leaves",
  leavesMore: "Nothing else is sent: no name, no time, no address, no answer.",
  /** @type {Record<string, string>} */
  parts: {
    values: "what the coins made of it",
    view: "which questions were drawn",
    id: "a random number, so that the report counts once",
    design: "which published survey",
    block: "which published coins: the same for everybody",
    deniable: "the version of this format",
  },
  /** @param {string} ifTrue @param {string} ifNot */
  wouldBe: (ifTrue, ifNot) => `A combination of answers is named with probability ${ifTrue} if it is true, and with probability ${ifNot} if it is not. So being named proves nothing.`,
  send: "Send",
  sending: "Sending …",
  sendNow: "Try to send now",
  thanks: "Thank you. Your report has arrived.",
  thanksMore: "The server has kept it. This device remembers that you took part and will never toss the coins for this survey again.",
  waiting: "Kept on this device, to be sent later",
  waitingMore: "There is no connection to the server at the moment. The report is sent, unchanged, as soon as there is one and this page is open.",
  refused: "The server did not take your report",
  refusedMore: "It is kept on this device and counts nowhere. Whoever asked you to take part can help.",
  /** By the code of the problem. @type {Record<string, string>} */
  refusedWhy: {
    "wrong-state": "The survey has been closed. Your report is kept on this device only and counts nowhere.",
    "invitation-refused": "Your invitation is not good, or it has been used. Your report is kept on this device only; open the page with the address that you were given.",
  },
  notLasting: "This browser does not let the page remember anything. If you close the page now, it will not know that you took part.",
  receipt: "Your receipt",
  receiptId: "Report",
  receiptDesign: "Survey design (digest)",
  receiptEpsilon: "Privacy spent (ε)",
  between: "One moment, please",
  betweenMore: "The next part of the survey is being prepared. This page asks again by itself; nothing was sent.",
  closed: "This survey is closed",
  closedMore: "It accepts no more reports. Nothing was sent.",
  invited: "This survey is by invitation",
  invitedMore: "Please open it with the whole address that you were given: the code after # is your invitation.",
  missing: "This survey does not exist, or there is no connection to it.",
  stopped: "Nothing was sent",
};

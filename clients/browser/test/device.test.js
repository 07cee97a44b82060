/** The device: refuses before any coin, remembers before it speaks, repeats itself for ever. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Agreement, Answer, BrowserStorage, Device, MemoryStorage, readBlock, readDesign, readReport,
} from "../src/index.js";
import { WordCoin } from "../src/coin.js";
import { codeOf, ScriptedCoin, vectors } from "./support.js";

const [good] = vectors("reports").filter(({ comment }) => comment === "any pair of three");
const design = await readDesign(good.design);
const block = await readBlock(good.block, design);
const agreement = new Agreement({ epsilon: Number(design.epsilon) });
const sizes = design.attributes.map(({ size }) => size);
const answer = new Answer([1, 2, 3], sizes);
const other = new Answer([0, 0, 0], sizes);

/** A storage that writes down what is done to it, and fails where it is told to. */
class Watched extends MemoryStorage {
  /** @type {string[]} */
  log = [];
  failing = "";

  async read() {
    this.log.push("read");
    if (this.failing.includes("read")) throw new DOMException("denied", "SecurityError");
    return super.read();
  }

  /** @param {string} document */
  async write(document) {
    this.log.push("write");
    if (this.failing.includes("write")) throw new DOMException("full", "QuotaExceededError");
    await super.write(document);
  }
}

/** Coins that write down that they were tossed. */
class WatchedCoin extends WordCoin {
  /** @param {string[]} log */
  constructor(log) {
    super();
    this.log = log;
  }

  word() {
    if (this.log.at(-1) !== "toss") this.log.push("toss");
    return 12345;
  }
}

test("the order is recall, toss, remember", async () => {
  const storage = new Watched();
  const device = new Device({ storage, agreement, coin: new WatchedCoin(storage.log) });
  await device.respond(design, block, answer);
  assert.deepEqual(storage.log, ["read", "toss", "write"]);
});

test("a refusal tosses no coin and writes nothing", async () => {
  const outside = "answer-outside-domain";
  /** @type {[any, string, {wave?: number, epsilon?: number}][]} */
  const asked = [
    [answer, "privacy-refused", { wave: 1 }],
    [answer, "privacy-refused", { wave: 0.5 }],
    [answer, "privacy-refused", { epsilon: 0.5 }],
    [new Answer([1], [2]), outside, {}],
    [new Answer([1, 5, 3], [9, 9, 9]), outside, {}],
    [[1, 2, 3], outside, {}],
  ];
  for (const [truth, code, { wave = 0, epsilon = agreement.epsilon }] of asked) {
    const storage = new Watched();
    const coin = new ScriptedCoin([]);
    const device = new Device({ storage, agreement: new Agreement({ epsilon }), coin });
    assert.equal(await codeOf(() => device.respond(design, block, truth, { wave })), code);
    assert.deepEqual(storage.log, ["read"]);
  }
});

test("the same report is handed out for ever, to every device on the same storage", async () => {
  const storage = new MemoryStorage();
  const first = await new Device({ storage, agreement }).respond(design, block, answer);
  for (const again of [answer, other]) {
    const device = new Device({ storage, agreement, coin: new ScriptedCoin([]) });
    assert.deepEqual(await device.respond(design, block, again), first);
  }
});

test("two clicks at once are one answer", async () => {
  const device = new Device({ storage: new MemoryStorage(), agreement });
  const both = await Promise.all([1, 2].map(() => device.respond(design, block, answer)));
  assert.deepEqual(both[0].toBytes(), both[1].toBytes());
  assert.equal((await device.ledger()).entries.length, 1);
});

test("writes reach a slow storage in the order in which they were made", async () => {
  const storage = new MemoryStorage();
  const write = storage.write.bind(storage);
  let delay = 50;
  storage.write = async (document) => {
    await new Promise((resolve) => void setTimeout(resolve, delay -= 20));
    await write(document);
  };
  const device = new Device({ storage, agreement });
  await Promise.all([device.setCap(7), device.respond(design, block, answer)]);
  const found = JSON.parse(/** @type {string} */ (await storage.read()));
  assert.deepEqual([found.cap, found.entries.length], [7, 1]);
});

for (const failing of ["read", "write", "read write"]) {
  test(`a storage that fails at ${failing} is survived, and said`, async () => {
    const storage = new Watched();
    const earlier = '{"deniable":1,"cap":null,"entries":[]}';
    await storage.write(earlier);
    storage.failing = failing;
    const device = new Device({ storage, agreement });
    const report = await device.respond(design, block, answer);
    assert.deepEqual(await device.respond(design, block, other), report);
    assert.equal(device.lasting, false);
    assert.equal((await device.ledger()).entries.length, 1);
    storage.failing = "";
    assert.equal(await storage.read(), earlier, "what could not be read was written over");
  });
}

test("a storage that cannot be locked is survived, and a task begun is not begun again", async () => {
  const storage = new MemoryStorage();
  storage.alone = () => { throw new DOMException("no locks here", "SecurityError"); };
  const device = new Device({ storage, agreement });
  const report = await device.respond(design, block, answer);
  assert.deepEqual(await device.respond(design, block, other), report);
  assert.equal(device.lasting, true);
  storage.alone = async (task) => {
    await task();
    throw new DOMException("stolen", "AbortError");
  };
  const second = new Device({ storage, agreement, coin: new ScriptedCoin([]) });
  await assert.rejects(second.respond(design, block, other), { name: "AbortError" });
});

test("devices that share a memory at the same moment give one report", async () => {
  const storage = new MemoryStorage();
  const devices = Array.from({ length: 8 }, () => new Device({ storage, agreement }));
  const reports = await Promise.all(devices.map((one) => one.respond(design, block, answer)));
  assert.equal(new Set(reports.map(String)).size, 1);
});

test("what could not be written is written when the storage recovers", async () => {
  const storage = new Watched();
  const device = new Device({ storage, agreement });
  storage.failing = "write";
  const report = await device.respond(design, block, answer);
  await device.setCap(7);
  storage.failing = "";
  await device.submit("https://example", { send: keeps });
  assert.equal(device.lasting, true);
  const later = new Device({ storage, agreement, coin: new ScriptedCoin([]) });
  assert.deepEqual(await later.respond(design, block, other), report);
  assert.equal((await later.ledger()).cap, 7);
});

for (const [storedIsSent, newIsSent] of [[false, false], [false, true], [true, false], [true, true]]) {
  test(`the report that arrived holds when the memory recovers: ${storedIsSent}, ${newIsSent}`, async () => {
    const storage = new Watched();
    const earlier = new Device({ storage, agreement });
    const stored = await earlier.respond(design, block, answer);
    if (storedIsSent) await earlier.submit("https://example", { send: keeps });
    storage.failing = "read write";
    const device = new Device({ storage, agreement });
    const made = await device.respond(design, block, answer);
    assert.notEqual(made.id, stored.id);
    if (newIsSent) await device.submit("https://example", { send: keeps });
    storage.failing = "";
    const holds = newIsSent && !storedIsSent ? made : stored;
    for (let look = 0; look < 3; look += 1) {
      const waiting = storedIsSent || newIsSent ? [] : [stored.id];
      assert.deepEqual((await device.unsent()).map(({ id }) => id), waiting);
      assert.equal((await device.respond(design, block, other)).id, holds.id);
    }
    await device.setCap(9);
    const { epsilon } = device.examine(design, block);
    for (const one of [device, new Device({ storage, agreement })]) {
      const ledger = await one.ledger();
      const [{ report, sent }, ...more] = ledger.entries;
      assert.deepEqual([report.id, sent, more], [holds.id, storedIsSent || newIsSent, []]);
      const times = storedIsSent && newIsSent ? 2 : 1;
      assert.ok(ledger.total >= times * epsilon && ledger.total < times * epsilon + 1e-9);
    }
  });
}

test("a report on its way while the memory recovers is booked", async () => {
  const storage = new Watched();
  const earlier = new Device({ storage, agreement });
  await earlier.respond(design, block, answer);
  storage.failing = "read write";
  const device = new Device({ storage, agreement });
  await device.respond(design, block, answer);
  await device.submit("https://example", {
    send: async (url, body) => {
      storage.failing = "";
      await earlier.submit("https://example", { send: keeps });
      assert.deepEqual(await device.unsent(), []);
      return keeps(url, body);
    },
  });
  const { total } = await new Device({ storage, agreement }).ledger();
  assert.ok(total >= 2 * device.examine(design, block).epsilon);
});

test("two devices on one storage learn from each other", async () => {
  const storage = new MemoryStorage();
  const one = new Device({ storage, agreement });
  const two = new Device({ storage, agreement, coin: new ScriptedCoin([]) });
  await one.setCap(9);
  const report = await one.respond(design, block, answer);
  assert.deepEqual(await two.respond(design, block, other), report);
  assert.equal((await two.ledger()).cap, 9);
  await two.submit("https://example", { send: keeps });
  assert.deepEqual(await one.unsent(), []);
});

test("the ledger adds up by survey, attribute and in all, and obeys the cap", async () => {
  const device = new Device({ storage: new MemoryStorage(), agreement });
  const { epsilon, attributes } = device.examine(design, block);
  const report = await device.respond(design, block, answer);
  const ledger = await device.ledger();
  assert.ok(ledger.total >= epsilon && ledger.total < epsilon + 1e-12);
  assert.equal(ledger.total, ledger.spentOn(design.survey));
  assert.equal(ledger.spentOn("another"), 0);
  const asked = design.views[report.view].groups.flatMap((group) => group.attributes);
  const spent = ledger.spentByAttribute(design.survey);
  assert.deepEqual(Object.keys(spent), asked.map((at) => design.attributes[at].name));
  assert.ok(Object.values(spent)[0] >= attributes[asked[0]]);
  for (const cap of [-1, NaN, /** @type {any} */ ("1")]) {
    assert.equal(await codeOf(() => device.setCap(cap)), "invalid-epsilon");
  }
});

test("only the report's values depend on the answer", async () => {
  const words = [0, 0, 2 ** 31, 5, 2 ** 30, 9, 77, 77];
  const [one, two] = await Promise.all([answer, other].map(async (truth) => {
    const storage = new MemoryStorage();
    const coin = new ScriptedCoin(words);
    const device = new Device({ storage, agreement, coin, nameReport: () => new Uint8Array(16) });
    const report = await device.respond(design, block, truth);
    const blank = (/** @type {string} */ text) => text.replace(JSON.stringify(report.values), "[]");
    const stored = JSON.parse(/** @type {string} */ (await storage.read()));
    stored.entries[0].report = blank(stored.entries[0].report);
    return { stored, sent: blank(report.toString()), spent: coin.spent };
  }));
  assert.deepEqual(one, two);
});

/**
 * @param {string} url
 * @param {string} body
 */
async function keeps(url, body) {
  assert.ok(url.startsWith("https://"));
  const results = JSON.parse(body).reports.map((/** @type {any} */ { id }) => ({ id }));
  return { status: 200, body: JSON.stringify({ results }), retryAfter: null };
}

test("a submission repeats the same bytes until the server says it kept them", async () => {
  const device = new Device({ storage: new MemoryStorage(), agreement });
  const report = await device.respond(design, block, answer);
  /** @type {string[]} */
  const sent = [];
  /** @type {number[]} */
  const waits = [];
  const replies = [503, 429, 408, 200];
  const arrived = await device.submit("https://example", {
    send: async (url, body) => {
      sent.push(body);
      const status = replies[sent.length - 1];
      const retryAfter = status === 429 ? 7 : null;
      return status === 200 ? keeps(url, body) : { status, body: "", retryAfter };
    },
    wait: async (seconds) => void waits.push(seconds),
  });
  assert.equal(arrived, 1);
  assert.deepEqual(new Set(sent), new Set([`{"reports":[${report}]}`]));
  assert.deepEqual(waits, [0.5, 7, 2]);
  assert.equal(await device.submit("https://example", { send: keeps }), 0);
});

test("a submission may be of one survey, and carries the invitation", async () => {
  const storage = new MemoryStorage();
  const known = vectors("memories").find(({ comment }) => comment === "another survey");
  await storage.write(known.memory);
  const [second] = vectors("designs").filter(({ comment }) => comment === "good: k-ary");
  const device = new Device({ storage, agreement: new Agreement({ epsilon: 9 }) });
  const plain = await readDesign(second.design);
  const start = JSON.stringify({
    block: 0, channels: JSON.parse(second.design).channels, deniable: 1, design: plain.digest,
  });
  await device.respond(plain, await readBlock(start, plain), new Answer([1], [3]));
  /** @type {any[]} */
  const bodies = [];
  const send = async (/** @type {string} */ url, /** @type {string} */ body) => {
    bodies.push(JSON.parse(body));
    return keeps(url, body);
  };
  const sending = { survey: "k-ary", invitation: 'a "code"', send };
  assert.equal((await device.unsent()).length, 2);
  assert.equal(await device.submit("https://example", sending), 1);
  assert.deepEqual(bodies.map(({ invitation }) => invitation), ['a "code"']);
  assert.equal(bodies[0].reports[0].design, plain.digest);
  assert.equal((await device.unsent()).length, 1);
});

test("a report that is refused does not hold up the others", async () => {
  const storage = new MemoryStorage();
  const twice = vectors("memories").find(({ comment }) => comment.startsWith("the first of two"));
  await storage.write(twice.memory);
  const device = new Device({ storage, agreement });
  const [first] = await device.unsent();
  const send = async (/** @type {string} */ url, /** @type {string} */ body) =>
    body.includes(first.id) ? { status: 422, body: "", retryAfter: null } : keeps(url, body);
  assert.equal(await codeOf(() => device.submit("https://example", { send })), "submission-failed");
  assert.deepEqual((await device.unsent()).map(({ id }) => id), [first.id]);
});

test("a report counts as arrived only if the server names it as kept", async () => {
  const device = new Device({ storage: new MemoryStorage(), agreement });
  const { id } = await device.respond(design, block, answer);
  const bad = [
    { status: 400, body: '{"title":"Invalid report"}' },
    { status: 409, body: '{"detail":"other bytes"}' },
    { status: 200, body: "" },
    { status: 200, body: '{"results":[]}' },
    { status: 200, body: '{"results":[{"id":"another"}]}' },
    { status: 200, body: JSON.stringify({ results: [{ id, problem: { detail: "closed" } }] }) },
    { status: 200, body: JSON.stringify({ results: [{ id }, { id }] }) },
    { status: 503, body: "" },
  ];
  for (const reply of bad) {
    const send = async () => ({ ...reply, retryAfter: null });
    const sending = { send, wait: async () => {}, attempts: 2 };
    const task = () => device.submit("https://example", sending);
    assert.equal(await codeOf(task), "submission-failed");
    assert.equal((await device.unsent()).length, 1);
  }
});

test("the browser's storage is used when it works, and refused access is survived", async () => {
  /** @type {Map<string, string>} */
  const kept = new Map();
  const working = {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ text) => void kept.set(key, text),
  };
  const denied = { get: () => { throw new DOMException("denied", "SecurityError"); } };
  try {
    Object.defineProperty(globalThis, "localStorage", { value: working, configurable: true });
    const device = new Device({ storage: new BrowserStorage("survey"), agreement });
    const report = await device.respond(design, block, answer);
    assert.equal(device.lasting, true);
    assert.deepEqual([...kept.keys()], ["survey"]);
    const entry = JSON.parse(/** @type {string} */ (kept.get("survey"))).entries[0];
    assert.deepEqual(readReport(entry.report), report);
    Object.defineProperty(globalThis, "localStorage", { ...denied, configurable: true });
    const second = new Device({ storage: new BrowserStorage("survey"), agreement });
    await second.respond(design, block, answer);
    assert.equal(second.lasting, false);
  } finally {
    Reflect.deleteProperty(globalThis, "localStorage");
  }
});

test("a device without an agreement is none", async () => {
  const storage = new MemoryStorage();
  const task = () => new Device({ storage, agreement: /** @type {any} */ ({ epsilon: 1 }) });
  assert.equal(await codeOf(task), "invalid-epsilon");
});

test("bytes that are not text are no design", async () => {
  const bad = [Uint8Array.of(0xff, 0xfe), Uint8Array.of(0x22, 0xc3, 0x22), new ArrayBuffer(0)];
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  for (const data of [...bad, deep]) {
    assert.equal(await codeOf(() => readDesign(data)), "invalid-design");
  }
});

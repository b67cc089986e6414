import { describe, expect, test } from "bun:test";
import type { Cancel } from "../../base/clock.ts";
import { silentLogger, type Logger } from "../../base/log.ts";
import { KubeError, type KubeErrorFacts } from "../client/api.ts";
import { ManualClock, settleIo } from "../manual-clock.fixture.ts";
import { Outbox, type OutboxOptions } from "./outbox.ts";
import { judgeStatus } from "./delivery-verdict.ts";
import { TokenBucket } from "./token-bucket.ts";

/** An outbox whose letters the test answers, in the order in which they are sent. */
class Post {
  readonly clock = new ManualClock();
  readonly sent: string[] = [];
  readonly logged: string[] = [];
  readonly fates: string[] = [];
  readonly outbox: Outbox;
  readonly #answers: (() => Promise<void>)[] = [];
  #underWay = 0;
  mostAtOnce = 0;

  constructor(options: Partial<OutboxOptions> = {}) {
    const note = (message: string): unknown => this.logged.push(message);
    const logger: Logger = { ...silentLogger, warn: note, error: note, info: note };
    this.clock.chance = 1;
    this.outbox = new Outbox({
      what: "letter",
      clock: this.clock,
      logger,
      judge: judgeStatus,
      lettersMax: 10,
      atOnceMax: 2,
      onFate: (fate) => this.fates.push(fate),
      ...options,
    });
  }

  put(key: string, text = key): Promise<string> {
    return this.outbox.put({ key, send: () => this.#send(text) });
  }

  /** The fate of the next letters: taken, refused with an error, or unanswered until the promise settles. */
  answer(...answers: (Error | Promise<void>)[]): void {
    for (const one of answers) this.#answers.push(() => (one instanceof Error ? Promise.reject(one) : one));
  }

  async #send(text: string): Promise<void> {
    this.sent.push(text);
    this.#underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay);
    try {
      await (this.#answers.shift() ?? (() => Promise.resolve()))();
    } finally {
      this.#underWay -= 1;
    }
  }
}

function refusal(status: number, facts: KubeErrorFacts & { message?: string } = {}): KubeError {
  return new KubeError("api-refused", facts.message ?? `the API server answered ${status}`, { status, ...facts });
}

const away = new KubeError("api-unreachable", "connection refused");

class CountingClock extends ManualClock {
  started = 0;

  override after(...args: Parameters<ManualClock["after"]>): Cancel {
    this.started += 1;
    return super.after(...args);
  }
}

test("Outbox looks through letters that linger once, and not for each new one", async () => {
  const clock = new CountingClock();
  const post = new Post({ clock, lettersMax: 1_000, lingerMs: 250 });
  const fates = Array.from({ length: 1_000 }, (_, at) => post.put(`${at}`));
  expect([clock.started, post.sent.length]).toEqual([1, 0]);
  await clock.advance(250);
  expect(await Promise.all(fates)).toEqual(fates.map(() => "delivered"));
  expect(post.sent).toHaveLength(1_000);
});

describe("Outbox", () => {
  test("delivers the oldest first, and no more at once than it may", async () => {
    const post = new Post();
    const fates = ["a", "b", "c", "d"].map((key) => post.put(key));
    expect(await Promise.all(fates)).toEqual(["delivered", "delivered", "delivered", "delivered"]);
    expect(post.sent).toEqual(["a", "b", "c", "d"]);
    expect(post.mostAtOnce).toBe(2);
  });

  test("keeps everything while the server is away, asks with one letter at a time, and delivers all in order", async () => {
    const post = new Post({ atOnceMax: 1 });
    post.answer(away, away, away);
    const fates = ["a", "b", "c"].map((key) => post.put(key));
    await settleIo();
    expect(post.outbox.health()).toMatchObject({ waiting: 3, awaySinceMs: post.clock.wallMs() });
    await post.clock.advance(500);
    await post.clock.advance(1_000);
    expect(post.sent).toEqual(["a", "a", "a"]);
    await post.clock.advance(2_000);
    expect(await Promise.all(fates)).toEqual(["delivered", "delivered", "delivered"]);
    expect(post.sent).toEqual(["a", "a", "a", "a", "b", "c"]);
    expect(post.outbox.health()).toMatchObject({ waiting: 0, awaySinceMs: undefined });
    expect(post.logged).toEqual([
      "Nothing can be delivered to the API server; deliveries are kept and tried again",
      "The API server takes deliveries again",
    ]);
  });

  test("stays away as long as the server asks", async () => {
    const post = new Post();
    post.answer(refusal(429, { retryAfterMs: 30_000 }));
    const fate = post.put("a");
    await post.clock.advance(30_000);
    expect(post.sent).toEqual(["a"]);
    await post.clock.advance(500);
    expect(await fate).toBe("delivered");
  });

  test("sends only the newest of a key, in the place of the first", async () => {
    const post = new Post({ atOnceMax: 1 });
    post.answer(away);
    const old = post.put("a", "a1");
    const other = post.put("b");
    await settleIo();
    const newer = post.put("a", "a2");
    expect(await old).toBe("replaced");
    await post.clock.advance(500);
    expect(await Promise.all([newer, other])).toEqual(["delivered", "delivered"]);
    expect(post.sent).toEqual(["a1", "a2", "b"]);
  });

  test("never has two of a key on the way", async () => {
    const post = new Post();
    const { promise, resolve } = Promise.withResolvers<void>();
    post.answer(promise);
    void post.put("a", "a1");
    const newer = post.put("a", "a2");
    await settleIo();
    expect(post.sent).toEqual(["a1"]);
    resolve();
    expect(await newer).toBe("delivered");
    expect(post.sent).toEqual(["a1", "a2"]);
  });

  test("postpones a letter that is refused for its own reason, and sends the others", async () => {
    const post = new Post({ atOnceMax: 1 });
    post.answer(refusal(500));
    const stuck = post.put("a");
    expect(await post.put("b")).toBe("delivered");
    await post.clock.advance(2_000);
    expect(await stuck).toBe("delivered");
    expect(post.sent).toEqual(["a", "b", "a"]);
  });
});

describe("Outbox with letters that are not delivered at once", () => {
  test("drops the oldest when it is full, and counts it", async () => {
    const post = new Post({ lettersMax: 2, atOnceMax: 1 });
    post.answer(away);
    const fates = ["a", "b", "c"].map((key) => post.put(key));
    // The first is being sent, so the next oldest is dropped.
    expect(await fates[1]).toBe("dropped");
    expect(post.outbox.health()).toMatchObject({ waiting: 2, dropped: 1 });
  });

  test.each([
    ["a pod that is gone", refusal(404), "ended"],
    [
      "another pod of the name, by precondition",
      refusal(409, { message: "Precondition failed: UID in precondition: x" }),
      "ended",
    ],
    [
      "another pod of the name, by an immutable field",
      refusal(422, { message: "metadata.uid: Invalid value: field is immutable" }),
      "ended",
    ],
    ["a body it cannot use", refusal(422), "refused"],
    ["a defect of ours", new TypeError("x is undefined"), "refused"],
  ])("ends with %s", async (_what, error, fate) => {
    const post = new Post();
    post.answer(error);
    expect(await post.put("a")).toBe(fate as "ended");
    expect(post.fates).toEqual([fate]);
  });

  test("logs a missing permission once, and keeps trying", async () => {
    const post = new Post({ atOnceMax: 1 });
    post.answer(refusal(403), refusal(403), refusal(403));
    const fates = [post.put("a"), post.put("b")];
    await post.clock.advance(3_000);
    expect(post.outbox.health().refusal).toBe("the API server answered 403");
    expect(post.logged).toEqual(["The API server refuses a delivery"]);
    await post.clock.advance(5_000);
    expect(await Promise.all(fates)).toEqual(["delivered", "delivered"]);
    expect(post.outbox.health().refusal).toBeUndefined();
  });

  test("retries a conflict with another writer", async () => {
    const post = new Post();
    post.answer(refusal(409, { message: "please apply your changes to the latest version" }));
    const fate = post.put("uid-server");
    await post.clock.advance(2_000);
    expect(await fate).toBe("delivered");
  });

  test("forgets a letter that is no longer wanted, and all letters when it is closed", async () => {
    const post = new Post({ atOnceMax: 1 });
    post.answer(away);
    const fates = ["a", "b", "c"].map((key) => post.put(key));
    post.outbox.drop("b");
    expect(await fates[1]).toBe("ended");
    post.outbox.close();
    expect(await Promise.all([fates[2], post.put("d")])).toEqual(["dropped", "dropped"]);
    await post.clock.advance(60_000);
    expect(post.sent).toEqual(["a"]);
  });

  test("does not let the others wait for one that never gets an answer", async () => {
    const post = new Post({ atOnceMax: 1 });
    const never = Array.from({ length: 10 }, () => "a");
    post.answer(...never.map(() => away));
    const [, b, c] = ["a", "b", "c"].map((key) => post.put(key));
    await post.clock.advance(120_000);
    expect(await Promise.all([b, c])).toEqual(["delivered", "delivered"]);
    expect(post.sent).toEqual([...never, "b", "c", "a"]);
  });

  test("lets a new letter linger, and one that replaces it linger no longer", async () => {
    const post = new Post({ lingerMs: 250 });
    void post.put("a", "first");
    await post.clock.advance(249);
    void post.put("a", "second");
    expect(post.sent).toEqual([]);
    await post.clock.advance(1);
    expect(post.sent).toEqual(["second"]);
  });

  test("keeps to the pace of its bucket", async () => {
    const clock = new ManualClock();
    const post = new Post({ clock, pace: new TokenBucket(clock, { burst: 1, refillMs: 100 }) });
    const fates = ["a", "b", "c"].map((key) => post.put(key));
    await clock.advance(99);
    expect(post.sent).toEqual(["a"]);
    await clock.advance(101);
    await Promise.all(fates);
    expect(post.sent).toEqual(["a", "b", "c"]);
  });
});

import { expect, test } from "bun:test";
import { settle, VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { PlugQueue } from "./plug-queue.ts";

/** Looks at pods named `NAMESPACE/NAME` that end when the test says so. */
class Looks {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, (pauseMs: number | undefined) => void>();
  readonly clock = new VirtualClock();
  readonly queue = new PlugQueue({
    clock: this.clock,
    namespaceOf: (token) => token.split("/")[0] ?? "",
    serve: (token) => {
      this.begun.push(token);
      return new Promise((resolve) => this.#ends.set(token, resolve));
    },
  });

  put(...tokens: readonly string[]): void {
    for (const token of tokens) this.queue.put(token);
  }

  async end(token: string, pauseMs?: number): Promise<void> {
    this.#ends.get(token)?.(pauseMs);
    await settle();
  }
}

test("PlugQueue leaves a place to other namespaces while one has all its looks hanging", async () => {
  const looks = new Looks();
  looks.put("bad/1", "bad/2", "bad/3", "bad/4", "bad/5");
  expect(looks.begun).toEqual(["bad/1", "bad/2", "bad/3"]);
  looks.put("good/1");
  expect(looks.begun).toEqual(["bad/1", "bad/2", "bad/3", "good/1"]);
  await looks.end("good/1");
  looks.put("good/2");
  expect(looks.begun.at(-1)).toBe("good/2");
});

test("PlugQueue gives a free place to the namespace that has the fewest, before those that asked earlier", async () => {
  const looks = new Looks();
  looks.put("a/1", "a/2", "a/3", "b/1", "a/4", "b/2", "c/1");
  expect(looks.begun).toEqual(["a/1", "a/2", "a/3", "b/1"]);
  await looks.end("a/1");
  expect(looks.begun.at(-1)).toBe("c/1");
  await looks.end("c/1");
  expect(looks.begun.at(-1)).toBe("b/2");
});

test("PlugQueue looks again at a token that was put meanwhile, and after the pause that a look asked for", async () => {
  const looks = new Looks();
  looks.put("a/1", "a/1");
  expect(looks.begun).toEqual(["a/1"]);
  looks.put("a/1");
  await looks.end("a/1", 5_000);
  expect(looks.begun).toEqual(["a/1", "a/1"]);
  await looks.end("a/1", 5_000);
  await looks.clock.advance(4_999);
  expect(looks.begun).toHaveLength(2);
  await looks.clock.advance(1);
  expect(looks.begun).toHaveLength(3);
});

test("PlugQueue waits at its end for the looks under way, and begins none", async () => {
  const looks = new Looks();
  looks.put("a/1", "a/2", "a/3", "a/4");
  let hasStopped = false;
  const stopped = looks.queue.stop().then(() => (hasStopped = true));
  await looks.end("a/1", 10);
  expect(hasStopped).toBe(false);
  for (const token of ["a/2", "a/3"]) await looks.end(token);
  await stopped;
  looks.put("b/1");
  await looks.clock.advance(60_000);
  expect(looks.begun).toHaveLength(3);
});

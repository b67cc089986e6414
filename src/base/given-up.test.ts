import { expect, test } from "bun:test";
import { GivenUp } from "./given-up.ts";

const reason = new Error("gone");

function listener(): { count: number; handleEvent(): void } {
  return {
    count: 0,
    handleEvent() {
      this.count += 1;
    },
  };
}

test("GivenUp tells every listener once, and the signal, with the first reason", () => {
  const givenUp = new GivenUp();
  const [first, second, removed] = [listener(), listener(), listener()];
  for (const each of [first, second, removed]) givenUp.addEventListener("abort", each, { once: true });
  givenUp.removeEventListener("abort", removed);
  const { signal } = givenUp;
  givenUp.giveUp(reason);
  givenUp.giveUp(new Error("again"));
  expect([first.count, second.count, removed.count]).toEqual([1, 1, 0]);
  expect(givenUp.reason).toBe(reason);
  expect(signal.reason).toBe(reason);
  expect(() => givenUp.throwIfAborted()).toThrow(reason);
});

test("GivenUp has an aborted signal when it is asked for one too late", () => {
  const givenUp = new GivenUp();
  givenUp.throwIfAborted();
  givenUp.giveUp(reason);
  expect(givenUp.signal.aborted).toBe(true);
  expect(givenUp.signal.reason).toBe(reason);
});

test("GivenUp forgets the first listener when it is removed", () => {
  const givenUp = new GivenUp();
  const first = listener();
  givenUp.addEventListener("abort", first, { once: true });
  givenUp.removeEventListener("abort", first);
  givenUp.giveUp(reason);
  expect(first.count).toBe(0);
});

import { expect, test } from "bun:test";
import { attachRequest, never } from "../admission.fixture.ts";
import { NamespaceQueue } from "./namespace-queue.ts";
import { Lane } from "./lane.ts";
import { Waiting } from "./waiting.ts";

const anyLane = new Lane("", []);
const owner = { abandoned: (): void => undefined };

function queue(): NamespaceQueue {
  return new NamespaceQueue(1);
}

function waiting(pod: string, facts: { readonly sinceMs?: number; readonly lane?: Lane } = {}): Waiting {
  const { sinceMs = 0, lane = anyLane } = facts;
  const request = attachRequest({ pod, namespace: pod.split("/")[0] ?? "" });
  return new Waiting(owner, { request, lane, sinceMs, untilMs: sinceMs + 15_000, admissionClass: "ordinary" }, never);
}

function takeAll(lines: NamespaceQueue): readonly string[] {
  const taken: string[] = [];
  for (let next = lines.take(() => true); next !== undefined; next = lines.take(() => true)) {
    taken.push(next.request.pod);
  }
  return taken;
}

test("take serves lines in turn, each in the order of arrival", () => {
  const lines = queue();
  for (const pod of ["a/1", "a/2", "a/3", "b/1", "c/1", "c/2"]) lines.push(waiting(pod));
  expect(takeAll(lines)).toEqual(["a/1", "b/1", "c/1", "a/2", "c/2", "a/3"]);
  expect([lines.size, lines.flowCount]).toEqual([0, 0]);
});

test("take serves the oldest of a line first, however long it has waited", () => {
  const lines = queue();
  for (const pod of ["a/1", "a/2"]) lines.push(waiting(pod));
  for (const pod of ["a/3", "b/1"]) lines.push(waiting(pod, { sinceMs: 59_000 }));
  expect(takeAll(lines)).toEqual(["a/1", "b/1", "a/2", "a/3"]);
});

test("take passes over a lane that may not go, and serves its line first once it may", () => {
  const lines = queue();
  const slow = new Lane("slow", []);
  lines.push(waiting("a/1", { lane: slow }));
  lines.push(waiting("b/1"));
  lines.push(waiting("a/2"));
  lines.push(waiting("b/2"));
  expect(lines.take((lane) => lane !== slow)?.request.pod).toBe("a/2");
  expect(lines.take((lane) => lane !== slow)?.request.pod).toBe("b/1");
  expect(lines.take(() => false)).toBeUndefined();
  expect(takeAll(lines)).toEqual(["a/1", "b/2"]);
});

test("remove takes out of the middle and ends, and twice does no harm", () => {
  const lines = queue();
  const [first, second, third] = [waiting("a/1"), waiting("a/2"), waiting("a/3")];
  for (const each of [first, second, third]) lines.push(each);
  lines.remove(second);
  expect(takeAll(lines)).toEqual(["a/1", "a/3"]);
  lines.remove(third);
  expect(lines.size).toBe(0);
});

test("ahead counts the turns of the others too", () => {
  const lines = queue();
  const all = ["a/1", "a/2", "a/3", "b/1", "b/2", "c/1"].map((pod) => waiting(pod));
  for (const each of all) lines.push(each);
  expect(all.map((each) => lines.ahead(each))).toEqual([2, 4, 5, 2, 4, 2]);
});

test("push gives 64 namespaces lines of their own and lets others share, in the same way for the same salt", () => {
  const order = (salt: number): readonly string[] => {
    const lines = new NamespaceQueue(salt);
    for (let pod = 0; pod < 300; pod += 1) lines.push(waiting(`n${pod % 100}/${pod}`));
    return takeAll(lines);
  };
  const first = order(1);
  expect(new Set(first.slice(0, 64).map((pod) => pod.split("/")[0])).size).toBe(64);
  expect(order(1)).toEqual(first);
  expect(order(2)).not.toEqual(first);
});

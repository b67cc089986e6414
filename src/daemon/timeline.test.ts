import { expect, test } from "bun:test";
import { systemClock } from "../base/clock.ts";
import { Timeline } from "./timeline.ts";

const subject = { namespace: "default", name: "web", containerId: "c1", verb: "ADD" };

test("of tells one pod's story, oldest first", () => {
  const timeline = new Timeline(systemClock);
  timeline.note(subject, "asked");
  timeline.note({ ...subject, name: "other" }, "asked");
  timeline.note(subject, "failed", { detail: "because" });
  expect(timeline.of("default", "web").map((entry) => entry.what)).toEqual(["asked", "failed"]);
  expect(timeline.of("kube-system", "web")).toEqual([]);
});

test("of finds a pod by its container ID too", () => {
  const timeline = new Timeline(systemClock);
  timeline.note(subject, "asked");
  expect(timeline.of("default", "c1")).toHaveLength(1);
});

test("note keeps a bounded number of entries and the end of long texts", () => {
  const timeline = new Timeline(systemClock);
  for (let count = 0; count < 5_000; count += 1)
    timeline.note(subject, `step ${count}`, { stderr: `${"x".repeat(5_000)}end` });
  const entries = timeline.of("default", "web");
  expect(entries).toHaveLength(4_096);
  expect(entries.at(-1)?.what).toBe("step 4999");
  expect(entries.at(0)?.what).toBe("step 904");
  expect(entries.at(-1)?.stderr).toHaveLength(1_024);
  expect(entries.at(-1)?.stderr).toEndWith("end");
});

test("Timeline keeps the end of a long text, and nothing else of it", () => {
  const timeline = new Timeline(systemClock);
  for (let index = 0; index < 600; index += 1) {
    const detail = `${Buffer.alloc(250_000, 97 + (index % 26)).toString("latin1")}${index}`;
    timeline.note({ namespace: "ns", name: `p${index}`, containerId: "c", verb: "ADD" }, "failed", { detail });
  }
  Bun.gc(true);
  expect(timeline.of("ns", "p7")[0]?.detail).toEndWith("7");
  // 150 MB if it held on to the whole texts.
  expect(process.memoryUsage().heapUsed).toBeLessThan(100 * 1_048_576);
});

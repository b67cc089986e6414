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

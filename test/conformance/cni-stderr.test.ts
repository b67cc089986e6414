// CNI 1.1, section 4: what a delegate writes to stderr is not lost, and never mixes with the answer on stdout.
import { expect, test } from "bun:test";
import type { TimelineAnswer } from "../../src/wire/node-view.ts";
import type { Lab } from "../lab/lab.ts";
import { containerId, errorOf, resultOf, startNode } from "./node.ts";

async function stderrOf(lab: Lab, name: string): Promise<readonly string[]> {
  const { entries } = await lab.ask<TimelineAnswer>({ ask: "timeline", namespace: "default", name });
  return entries.flatMap((entry) => (entry.what === "ran" && entry.stderr !== undefined ? [entry.stderr] : []));
}

test("stderr of a plugin that succeeds is in the pod's timeline, and stdout is the result alone", async () => {
  await using lab = await startNode();
  await lab.pod("web", {});
  await lab.script("first.ADD", "echo something odd >&2");
  const outcome = await lab.cni("ADD", {
    containerId: containerId("err"),
    netns: lab.netns("a"),
    args: lab.podArgs("web"),
  });
  expect(resultOf(outcome).cniVersion).toBe("1.1.0");
  expect((await stderrOf(lab, "web")).join("")).toContain("something odd");
});

test("stderr of a plugin that fails without a CNI error is in the error's details", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", "echo the switch is on fire >&2; exit 1");
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("err"), netns: lab.netns("a") }));
  expect(error.details).toBe("the switch is on fire");
});

test("of a flood the end is kept, and the answer comes all the same", async () => {
  await using lab = await startNode();
  await lab.pod("web", {});
  await lab.script("first.ADD", "head -c 3000000 /dev/zero | tr '\\\\0' x >&2; echo the end >&2");
  resultOf(
    await lab.cni("ADD", { containerId: containerId("flood"), netns: lab.netns("a"), args: lab.podArgs("web") }),
  );
  const [kept = ""] = await stderrOf(lab, "web");
  expect(kept.length).toBeLessThanOrEqual(8 * 1024);
  expect(kept.trimEnd()).toEndWith("the end");
});

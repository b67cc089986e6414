// Multus' annotations (2.1, 2.2, 2.6): text in; calls of plugins, or words of refusal, out. The table is compat-8-cases.ts.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import type { CniCall, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { networksOfTable, refusedByBoth, servedByBoth, type Accepted } from "./compat-8-cases.ts";
import { errorOf, expectSilence, resultOf, startNode, stdinOf, story } from "./node.ts";

/** One node serves all cases: each has a pod, a container and a network namespace of its own. */
let lab: Lab;
let count = 0;
const confDirPlace = "{confDir}";

beforeAll(async () => {
  lab = await startNode();
  for (const { name, namespace, config } of networksOfTable((type, more) => lab.conf(type, more)))
    await lab.network(name, config, namespace);
});

afterAll(async () => {
  const left = await leftovers(lab);
  await lab.remove();
  expect(left).toEqual([]);
});

async function callFor(annotations: Readonly<Record<string, string>>): Promise<CniCall> {
  count += 1;
  await lab.forgetCalls();
  await lab.pod(`pod-${count}`, annotations);
  return {
    containerId: `c${count}`,
    netns: lab.netns(String(count)),
    args: `${lab.podArgs(`pod-${count}`)};K8S_POD_INFRA_CONTAINER_ID=i${count};K8S_POD_UID=u${count}`,
  };
}

async function answering({ answers = {} }: Accepted, work: () => Promise<unknown>): Promise<void> {
  for (const [plugin, answer] of Object.entries(answers)) await lab.answer(`${plugin}.ADD`, JSON.stringify(answer));
  await work();
  for (const plugin of Object.keys(answers)) await rm(lab.path("control/answers", `${plugin}.ADD`));
}

for (const refused of refusedByBoth(confDirPlace)) {
  test(`${refused.what} is refused in Multus' words, and nothing runs`, async () => {
    const outcome = await lab.cni("ADD", await callFor(refused.annotations));
    const words = `${refused.before ?? ""}${refused.words}${refused.after ?? ""}`
      .replaceAll("{namespace}", "default")
      .replaceAll(confDirPlace, lab.path("confdir"));
    const { code, msg } = errorOf(outcome);
    expect({ code, msg }).toEqual({ code: refused.code, msg: words });
    expect(await lab.calls()).toEqual([]);
  });
}

for (const served of servedByBoth) {
  test(`${served.what} runs ${served.runs.join(", ")}`, async () => {
    const call = await callFor(served.annotations);
    await answering(served, async () => resultOf(await lab.cni("ADD", call)));
    const calls = await lab.calls();
    expect(calls.map(({ plugin, ifname }) => `${plugin} ${ifname}`)).toEqual([...served.runs]);
    const pod = `IgnoreUnknown=true;K8S_POD_NAMESPACE=default;K8S_POD_NAME=pod-${count};K8S_POD_INFRA_CONTAINER_ID=i${count};K8S_POD_UID=u${count}`;
    const last = calls.at(-1);
    expect(calls[0]?.env["CNI_ARGS"]).toBe(calls.length === 1 ? `${pod}${served.args ?? ""}` : pod);
    expect(last?.env["CNI_ARGS"]).toBe(`${pod}${served.args ?? ""}`);
    const { CNIDeviceInfoFile: _file, ...given } = (
      last === undefined ? {} : (stdinOf(last)["runtimeConfig"] ?? {})
    ) as Record<string, unknown>;
    expect(given).toEqual({ ...served.runtimeConfig });
    await lab.forgetCalls();
    expectSilence(await lab.cni("DEL", call));
    expect(await story(lab)).toEqual(served.runs.map((run) => `DEL ${run}`).toReversed());
  });
}

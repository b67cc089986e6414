// Multus' confs (1.1, 4.2): which networks every pod has, by which key; isolation; the auxiliary chain. The table is compat-8-conf-cases.ts.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { networksOfTable } from "./compat-8-cases.ts";
import { confCases, writeConfs } from "./compat-8-conf-cases.ts";
import { errorOf, expectSilence, resultOf, startNode, story } from "./node.ts";

let lab: Lab;
let count = 0;

beforeAll(async () => {
  // Nothing but folders in daemon-config.json: what is there would win over the runtime's conf.
  lab = await startNode({ prepare: (made) => made.configure({}) });
  await writeConfs(lab);
  for (const { name, namespace, config } of networksOfTable((type, more) => lab.conf(type, more)))
    await lab.network(name, config, namespace);
});

afterAll(async () => {
  const left = await leftovers(lab);
  await lab.remove();
  expect(left).toEqual([]);
});

for (const { what, conf, annotations = {}, runs, words, before = "", after = "" } of confCases) {
  test(what, async () => {
    count += 1;
    await lab.forgetCalls();
    await lab.pod(`pod-${count}`, annotations);
    const call = {
      containerId: `c${count}`,
      netns: lab.netns(String(count)),
      args: lab.podArgs(`pod-${count}`),
      conf: lab.shimConf(conf(lab)),
    };
    const outcome = await lab.cni("ADD", call);
    if (runs === undefined) {
      expect(errorOf(outcome).msg).toBe(`${before}${words?.replaceAll("{namespace}", "default") ?? ""}${after}`);
      expect(await story(lab)).toEqual([]);
      return;
    }
    resultOf(outcome);
    expect(await story(lab)).toEqual(runs.map((run) => `ADD ${run}`));
    await lab.forgetCalls();
    expectSilence(await lab.cni("DEL", call));
    expect(await story(lab)).toEqual(runs.map((run) => `DEL ${run}`).toReversed());
  });
}

/**
 * Sandboxes that containerd cannot remove, because the plugin's DEL fails or its ADD hangs. There is no Levee on the node:
 * its DEL would succeed, and note a leak. The guard names the pods, the node, the sandboxes and the lines.
 */
import { afterAll, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "../api.ts";
import { nodeName } from "../machine.ts";
import { applyAll, manifest } from "../manifests.ts";
import { confFolder, hostLocal } from "../networks.ts";
import { leveeProgram } from "../node/levee-node.ts";
import { sandboxes } from "../node/containerd.ts";
import { Program } from "../program.ts";
import { say } from "../say.ts";
import { theCluster } from "../the-cluster.ts";
import { names } from "../the-levee.ts";
import { pause, until } from "../until.ts";

const plugin = "/opt/cni/bin/sick";
const conf = join(confFolder, "00-sick.conf");
const home = "reserved";
const [ending, starting, hanging] = ["ending", "starting", "hanging"].map((prefix) => names(prefix, 3)) as [
  readonly string[],
  readonly string[],
  readonly string[],
];
const decisionPath = `/apis/levee.dev/v1alpha1/namespaces/${home}/decisions/sandboxes-1`;

interface Item {
  readonly object: string;
  readonly node: string;
  readonly uid: string;
  readonly what: string;
  readonly line: string;
}

interface SandboxDecision extends KubeObject {
  readonly spec: {
    readonly purpose: string;
    readonly summary: string;
    readonly steps: readonly [{ readonly askPerson: { readonly items: readonly Item[] } }];
  };
  readonly status?: { readonly phase: string };
}

let guard: Program | undefined;

/** `add` and `del` are lines of shell; a pod's name is in CNI_ARGS. A child of the shell outlives it and keeps its output open. */
function writePlugin(add: string, del: string): void {
  writeFileSync(
    plugin,
    `#!/bin/sh\ncase $CNI_COMMAND in\nADD) ${add} ;;\nDEL) ${del} ;;\nesac\nexec /opt/cni/bin/bridge\n`,
    {
      mode: 0o755,
    },
  );
}

const fails = `echo '{"cniVersion":"1.0.0","code":11,"msg":"sick"}'; exit 1`;

/** A kubelet that gives up on a call after 20 s instead of four minutes; undefined for the usual time. */
async function setCallTime(runtimeRequestTimeout: string | undefined): Promise<void> {
  const cluster = await theCluster();
  const file = cluster.machine.path("kubelet", "config.yaml");
  const settings = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>; // written by `makeKubelet`
  writeFileSync(file, JSON.stringify({ ...settings, runtimeRequestTimeout }));
  await cluster.restartKubelet();
}

test("the guard names pods that cannot end or start, with the node, the sandboxes and crictl lines", async () => {
  const ids = await makeThemStay();
  expectNamed(await untilProposed(), ids);
  await expectFreed();
}, 420_000);

/** Three pods that cannot end, three that cannot start, and three whose ADD hangs; the sandboxes of the first. */
async function makeThemStay(): Promise<ReadonlyMap<string, string>> {
  const cluster = await theCluster();
  await cluster.untilNodeReady();
  await setCallTime("10s");
  writePlugin(":", ":");
  const ipam = hostLocal("10.77.0.0/24");
  writeFileSync(conf, JSON.stringify({ cniVersion: "1.0.0", name: "sick", type: "sick", bridge: "sick0", ipam }));
  // Time for containerd to read it.
  await pause(3_000);
  await cluster.pods.run(ending.map((name) => ({ name, isPlain: true })));
  const ids = new Map(sandboxes().map(({ pod, id }) => [pod, id]));
  writePlugin(`case $CNI_ARGS in *hanging*) sleep 600 ;; esac; ${fails}`, fails);
  await cluster.pods.delete(ending);
  await cluster.pods.create([...starting, ...hanging].map((name) => ({ name, isPlain: true })));
  return ids;
}

async function untilProposed(): Promise<SandboxDecision["spec"]> {
  const cluster = await theCluster();
  for (const file of ["decision", "decision-approval"]) await applyAll(cluster.api, manifest(`crd/${file}.yaml`));
  await cluster.addNamespace(home);
  say("kubelet tries for two minutes to remove them");
  await pause(165_000);
  const command = [leveeProgram, "guard", "--kubeconfig", cluster.controllers.kubeconfig, "--namespace", home];
  guard = new Program(cluster.machine.logFolder, "guard-of-sandboxes", {
    command: [...command, "--stuck-after", "60", "--no-gate", "--git-folder", cluster.machine.path("guard-git")],
  });
  guard.start();
  const { spec } = await until("the Decision is there", () => cluster.api.find<SandboxDecision>(decisionPath), {
    timeoutMs: 90_000,
    everyMs: 500,
  });
  return spec;
}

function expectNamed({ purpose, summary, steps }: SandboxDecision["spec"], ids: ReadonlyMap<string, string>): void {
  const { items } = steps[0].askPerson;
  expect(purpose).toBe("ByHand");
  expect(summary).toStartWith(`9 pods on ${nodeName} cannot start or end: the runtime cannot remove their sandboxes`);
  const item = (name: string): Item | undefined => items.find(({ object }) => object === `Pod/default/${name}`);
  for (const name of ending)
    expect(item(name)?.what).toStartWith(
      `it is being deleted, and sandbox ${ids.get(name)?.slice(0, 13) ?? "?"} cannot be removed; tried `,
    );
  for (const name of starting) expect(item(name)?.what).toContain("it needs a new sandbox, and the old one cannot be");
  for (const name of hanging)
    expect(item(name)?.what).toMatch(/its name is reserved for sandbox [0-9a-f]{13}; refused \d+ times/u);
  for (const { node, uid, line } of items) {
    expect(node).toBe(nodeName);
    expect(line).toContain(`crictl pods --quiet --state notready --label io.kubernetes.pod.uid=${uid})`);
  }
}

/** A DEL that works again frees all but those whose ADD hangs; a restart of containerd frees these. */
async function expectFreed(): Promise<void> {
  const cluster = await theCluster();
  writePlugin(":", ":");
  await cluster.pods.untilGone(ending);
  await cluster.pods.untilReady(starting);
  const waiting = await Promise.all(hanging.map((name) => cluster.pods.get(name)));
  expect(waiting.map(({ status }) => status?.phase)).toEqual(["Pending", "Pending", "Pending"]);
  await cluster.restartContainerd();
  await cluster.pods.untilReady(hanging);
  await until("the Decision ends", async () => {
    const { status } = await cluster.api.get<SandboxDecision>(decisionPath);
    return status !== undefined && status.phase !== "Proposed" ? true : undefined;
  });
}

afterAll(async () => {
  const cluster = await theCluster();
  await guard?.stop();
  writePlugin(":", ":");
  await cluster.pods.remove((await cluster.pods.list()).map(({ metadata }) => metadata.name));
  rmSync(conf, { force: true });
  await setCallTime(undefined);
  cluster.kubectl(["delete", "crd", "decisions.levee.dev", "decisionapprovals.levee.dev"]);
}, 120_000);

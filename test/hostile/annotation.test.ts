import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { ContainerId, IfName, Namespace, NetworkName } from "../../src/base/brand.ts";
import { LeveeError } from "../../src/base/errors.ts";
import { planAttachments, type NetworkSource } from "../../src/attachment/plan.ts";
import { defaultNetworkOf, parseSelection } from "../../src/attachment/selection.ts";
import { noArgs } from "../../src/cni/cni-args.ts";
import { asJsonText } from "../../src/cni/json-text.ts";
import { parseNetworkConf } from "../../src/cni/network-conf.ts";
import { loadParser } from "../../src/directory/parse-file.ts";
import { bytesField, numberField, type Frame } from "../../src/wire/frame.ts";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { Lab } from "../lab/lab.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { callFrame } from "./call-frame.ts";
import { Health } from "./health.ts";
import { mutateBytes, mutateJson, mutateText } from "./mutate.ts";
import { obey, residentHand, warmUp } from "./obedient-hand.ts";
import { inParallel, trial, trials, type Random } from "./random.ts";

setDefaultTimeout(120_000);

const elements = [
  {
    "name": "lan",
    "namespace": "default",
    "interface": "net1",
    "ips": ["10.0.0.5/24", "fd00::5/64"],
    "mac": "02:00:00:00:00:05",
    "default-route": ["10.0.0.1"],
  },
  {
    "name": "lan",
    "portMappings": [{ hostPort: 8_080, containerPort: 80, protocol: "tcp" }],
    "bandwidth": { ingressRate: 2_048, ingressBurst: 1_600, egressRate: 4_096, egressBurst: 1_600 },
    "cni-args": { tenant: "a" },
    "deviceID": "0000:01:00.0",
  },
];
const shortForms = [
  "lan",
  "default/lan@net1",
  "lan@a,lan@b",
  "default/lan,lan",
  "lan , lan@eth7",
  "kube-system/lan@net0",
];

function mutation(random: Random): string {
  const choice = random.below(3);
  if (choice === 0) return mutateText(random, random.pick(shortForms));
  return choice === 1 ? mutateJson(random, elements) : mutateText(random, JSON.stringify(elements));
}

function source(): NetworkSource {
  const text =
    '{"name":"lan","cniVersion":"1.0.0","type":"bridge","capabilities":{"ips":true,"mac":true,"portMappings":true,"bandwidth":true,"deviceID":true,"CNIDeviceInfoFile":true}}';
  return { network: "default/lan" as NetworkName, conf: parseNetworkConf(asJsonText(text, "a test"), { what: "lan" }) };
}

test("ten thousand mutated annotations give a plan that names no path, or an error", async () => {
  const seen = { taken: 0, refused: 0 };
  for (const random of trials(10_000)) {
    await trial(random, "A mutated annotation", () => {
      const annotation = mutation(random);
      try {
        const selection = parseSelection(annotation, "default" as Namespace);
        defaultNetworkOf(
          { "v1.multus-cni.io/default-network": random.pick([annotation, "lan"]) },
          "kube-system" as Namespace,
        );
        const others = selection.map((element) => ({
          element,
          source: { ...source(), network: `${element.namespace}/${element.name}` as NetworkName },
        }));
        const request = { ifname: "eth0" as IfName, args: noArgs, containerId: "c1" as ContainerId };
        for (const chain of planAttachments({ request, defaultNetwork: source(), others, runtimeConfig: {} })) {
          expect(Buffer.byteLength(chain.ifname)).toBeLessThanOrEqual(15);
          expect(chain.ifname).not.toMatch(/[/:\s\p{Cc}]|^\.{0,2}$/u);
          const stdin = JSON.parse(chain.links[0]?.stdin ?? "") as { runtimeConfig?: { CNIDeviceInfoFile?: string } };
          const file = stdin.runtimeConfig?.CNIDeviceInfoFile ?? "/var/run/k8s.cni.cncf.io/devinfo/cni/x";
          expect(file).toMatch(/^\/var\/run\/k8s\.cni\.cncf\.io\/devinfo\/cni\/[^/\0]+$/);
        }
        seen.taken += 1;
      } catch (thrown) {
        if (!(thrown instanceof LeveeError) || thrown.code === "internal") throw thrown;
        seen.refused += 1;
      }
    });
  }
  if (seen.taken + seen.refused < 10_000) return;
  expect(seen.taken).toBeGreaterThan(100);
  expect(seen.refused).toBeGreaterThan(100);
});

function finishOf(frames: readonly Frame[]): { readonly code: number | undefined; readonly output: string } {
  const finish = frames.find(({ type }) => type === "FINISH");
  if (finish === undefined) throw new Error(`No FINISH but ${frames.map(({ type }) => type).join()}`);
  return { code: numberField(finish, "exit_code"), output: Buffer.from(bytesField(finish, "output") ?? []).toString() };
}

test("three hundred pods with mutated annotations are attached or refused with a reason, and leave nothing", async () => {
  await using lab = await Lab.make();
  await lab.configure({
    delegates: [{ cniVersion: "1.1.0", name: "primary", type: "first" }],
    addLookupMs: 100,
    logLevel: "error",
    undoRetryMs: 100,
  });
  const capabilities = { ips: true, mac: true, portMappings: true, bandwidth: true, deviceID: true };
  await lab.network("lan", { cniVersion: "1.0.0", type: "first", capabilities });
  for (const random of trials(300))
    await lab.pod(`p${random.seed}`, { "k8s.v1.cni.cncf.io/networks": mutation(random) });
  const { pid = 0 } = await lab.startDaemon();
  await warmUp(lab);
  const health = Health.of(lab, pid);
  const hand = residentHand(lab);
  let [attached, failed] = [0, 0];
  await inParallel(trials(300), 8, (random) =>
    trial(random, "A pod with a mutated annotation", async () => {
      for (const verb of ["ADD", "DEL"]) {
        const peer = await RawPeer.connect(lab.socketDir);
        peer.send(callFrame({ verb, container_id: `c${random.seed}`, cni_args: lab.podArgs(`p${random.seed}`) }));
        const { code, output } = finishOf(await obey(peer));
        if (verb === "DEL") expect({ code, output }).toEqual({ code: 0, output: "" });
        else if (code === 0) attached += 1;
        else failed += (JSON.parse(output) as { msg: string }).msg.length > 10 ? 1 : 0;
      }
    }),
  );
  await hand.stop();
  if (attached + failed >= 300) {
    expect(attached).toBeGreaterThan(3);
    expect(failed).toBeGreaterThan(100);
  }
  await health.expectSound();
});

const manifest = `apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: lan
  namespace: default
spec:
  config: '{"cniVersion":"1.0.0","type":"first"}'
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations: &a
    k8s.v1.cni.cncf.io/networks: lan
spec: {again: *a}
---
apiVersion: v1
kind: Pod
metadata: {name: web2, annotations: {"a/b": "c"}}
`;

test("ten thousand mutated YAML files are objects with names that are names, or problems", async () => {
  const parse = await loadParser();
  const seen = { objects: 0, problems: 0 };
  for (const random of trials(10_000)) {
    await trial(random, "A mutated YAML file", () => {
      const parsed = parse(
        random.below(2) === 0 ? Buffer.from(mutateText(random, manifest)) : mutateBytes(random, Buffer.from(manifest)),
      );
      if ("problems" in parsed) {
        expect(parsed.problems.length).toBeGreaterThan(0);
        seen.problems += 1;
        return;
      }
      for (const { name, namespace } of [...parsed.manifest.pods, ...parsed.manifest.networks])
        expect(`${namespace}/${name}`).toMatch(/^[a-z0-9.-]+\/[a-z0-9.-]+$/);
      seen.objects += 1;
    });
  }
  if (seen.objects + seen.problems < 10_000) return;
  expect(seen.objects).toBeGreaterThan(100);
  expect(seen.problems).toBeGreaterThan(100);
});

test("five hundred mutated YAML files in the directory are problems or objects, and the good ones stay", async () => {
  await using lab = await Lab.make();
  await lab.configure({
    delegates: [{ cniVersion: "1.1.0", name: "primary", type: "first" }],
    addLookupMs: 100,
    logLevel: "error",
  });
  await lab.network("good", { cniVersion: "1.0.0", type: "first" });
  await lab.pod("good", { "k8s.v1.cni.cncf.io/networks": "good" });
  for (const name of ["mutant-a.yaml", "mutant-b.yaml"]) writeFileSync(lab.path("directory", name), manifest);
  const { pid = 0 } = await lab.startDaemon();
  await warmUp(lab);
  const health = Health.of(lab, pid);
  let turn = 0;
  for (const random of trials(500)) {
    writeFileSync(lab.path("directory", `mutant-${random.seed % 100}.yaml`), mutateText(random, manifest));
    turn += 1;
    if (turn % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 150));
  }
  for (const bomb of [
    `a: ${"[".repeat(50_000)}`,
    laughs(),
    `${"- ".repeat(20_000)}x`,
    `${"a:\n ".repeat(1_000)}`,
    "\u0000".repeat(10_000),
    "%YAML 9.9\n---\n",
    `? ${"x".repeat(200_000)}`,
  ]) {
    writeFileSync(lab.path("directory", "bomb.yaml"), bomb);
    await new Promise((resolve) => setTimeout(resolve, 120));
  }
  const node = await lab.ask<NodeAnswer>({ ask: "node" });
  expect(node.notices.length).toBeGreaterThan(0);
  for (const verb of ["ADD", "DEL"]) {
    const peer = await RawPeer.connect(lab.socketDir);
    peer.send(callFrame({ verb, container_id: "good", cni_args: lab.podArgs("good") }));
    expect(finishOf(await obey(peer)).code).toBe(0);
  }
  await health.expectSound();
});

/** A billion laughs, in YAML's own words. */
function laughs(): string {
  const lines = Array.from({ length: 30 }, (_, level) =>
    level === 0 ? "a0: &a0 [x, x]" : `a${level}: &a${level} [*a${level - 1}, *a${level - 1}, *a${level - 1}]`,
  );
  return `${lines.join("\n")}\n`;
}

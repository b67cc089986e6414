import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { IfName, NetworkName } from "../../src/base/brand.ts";
import { LeveeError } from "../../src/base/errors.ts";
import { noArgs } from "../../src/cni/cni-args.ts";
import { asJsonText } from "../../src/cni/json-text.ts";
import { parseNetworkConf } from "../../src/cni/network-conf.ts";
import { parseDaemonConfig } from "../../src/config/daemon-config.ts";
import { effectiveNetConf } from "../../src/config/net-conf.ts";
import { planAttachments } from "../../src/attachment/plan.ts";
import { Lab } from "../lab/lab.ts";
import { Health } from "./health.ts";
import { mutateBytes, mutateJson, mutateText } from "./mutate.ts";
import { warmUp } from "./obedient-hand.ts";
import { inParallel, trial, trials, type Random } from "./random.ts";

setDefaultTimeout(120_000);

const networkConf = {
  cniVersion: "1.0.0",
  name: "lan",
  disableCheck: false,
  plugins: [
    {
      type: "bridge",
      bridge: "br0",
      mtu: 1500,
      ipam: { type: "host-local", ranges: [[{ subnet: "10.0.0.0/24" }]] },
      capabilities: { mac: true },
    },
    { type: "portmap", capabilities: { portMappings: true }, snat: true },
  ],
};

const shimConf = {
  "cniVersion": "1.1.0",
  "name": "levee",
  "type": "levee-shim",
  "delegates": [networkConf, { cniVersion: "0.4.0", name: "dmz", type: "macvlan" }],
  "defaultNetworks": [],
  "systemNamespaces": ["kube-system"],
  "runtimeConfig": { portMappings: [{ hostPort: 80, containerPort: 80, protocol: "tcp" }] },
  "cni.dev/valid-attachments": [{ containerID: "a", ifname: "eth0" }],
  "namespaceIsolation": false,
  "globalNamespaces": "default,tools",
};

/** Text that is broken, or JSON with odd values: half of each. */
function mutation(random: Random, original: unknown): string {
  return random.below(2) === 0 ? mutateJson(random, original) : mutateText(random, JSON.stringify(original));
}

/** Everything a mutated input may do: be taken, or be refused by an error of the catalogue that says something. */
function orRefused(body: () => void): "taken" | "refused" {
  try {
    body();
    return "taken";
  } catch (thrown) {
    if (!(thrown instanceof LeveeError)) throw thrown;
    if (thrown.code === "internal") throw thrown;
    expect(thrown.message.length).toBeGreaterThan(10);
    expect(thrown.message.length).toBeLessThan(20_000);
    return "refused";
  }
}

/** How often each happened: a batch in which everything is refused, or nothing, tests nothing. */
async function count(turns: number, what: string, body: (random: Random) => "taken" | "refused"): Promise<void> {
  const seen = { taken: 0, refused: 0 };
  for (const random of trials(turns)) await trial(random, what, () => void (seen[body(random)] += 1));
  if (seen.taken + seen.refused < turns) return;
  expect(seen.taken).toBeGreaterThan(turns / 100);
  expect(seen.refused).toBeGreaterThan(turns / 100);
}

test("ten thousand mutated network configurations give a plan without a path in it, or an error", () =>
  count(10_000, "A mutated network configuration", (random) =>
    orRefused(() => {
      const conf = parseNetworkConf(asJsonText(mutation(random, networkConf), "a mutation"), {
        what: "a mutation",
        defaultName: "lan",
      });
      const source = { network: conf.name as NetworkName, conf };
      const chains = planAttachments({
        request: { ifname: "eth0" as IfName, args: noArgs },
        defaultNetwork: source,
        others: [{ source }],
        runtimeConfig: {},
      });
      for (const chain of chains) {
        expect(chain.confName).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/);
        expect(chain.ifname).toMatch(/^(?:eth0|net1)$/);
        for (const link of chain.links) {
          expect(link.type).not.toMatch(/[/\0]|^\.{0,2}$/);
          JSON.parse(link.stdin);
        }
      }
    }),
  ));

test("ten thousand mutated configurations on stdin give settings, or an error with every problem", () => {
  const config = parseDaemonConfig("{}", "daemon-config.json");
  return count(10_000, "A mutated configuration on stdin", (random) =>
    orRefused(() => {
      const conf = effectiveNetConf(asJsonText(mutation(random, shimConf), "a mutation"), config);
      expect(conf.auxiliaryCNIChainName).not.toContain("/");
      expect(conf.name).not.toContain("/");
      JSON.parse(conf.text);
    }),
  );
});

const daemonConfig = {
  cniVersion: "1.1.0",
  stateDir: "/var/lib/levee",
  socketDir: "/run/levee",
  directory: "/etc/levee",
  addBudgetMs: 55_000,
  heartbeatMs: 5_000,
  attachCeiling: 8,
  logLevel: "verbose",
  capabilities: { portMappings: true },
  clusterNetwork: "/etc/cni/net.d/10-calico.conflist",
  auxiliaryCNIChainName: "vendor-chain",
  multusMasterCNI: "10-calico.conflist",
  metricsPort: 9_091,
  delegates: [networkConf],
  namespaceIsolation: true,
  globalNamespaces: "default",
};

test("ten thousand mutated daemon-config.json give settings within their bounds, or an error with every problem", () =>
  count(10_000, "A mutated daemon-config.json", (random) =>
    orRefused(() => {
      const config = parseDaemonConfig(mutation(random, daemonConfig), "daemon-config.json");
      for (const path of [config.stateDir, config.socketDir, config.cniDir, config.confDir, config.binDir])
        expect(path).toMatch(/^\/[^\0]*$/);
      expect(config.multusMasterCNI).not.toContain("/");
      expect(config.auxiliaryCNIChainName).not.toContain("/");
      expect(config.attachCeiling).toBeGreaterThanOrEqual(1);
      expect(config.addBudgetMs).toBeLessThanOrEqual(110_000);
    }),
  ));

test("daemons started with a broken daemon-config.json exit with 1, say what to do, and write nothing", async () => {
  await using lab = await Lab.make();
  const broken = [
    "",
    "{",
    "[]",
    "null",
    '"x"',
    "\u0000",
    "\ufeff{}x",
    '{"stateDir":"relative"}',
    '{"stateDir":"/x/../../y\\u0000"}',
    '{"socketDir":"run"}',
    '{"addBudgetMs":"5s"}',
    '{"addBudgetMs":1e99}',
    '{"attachCeiling":0}',
    '{"auxiliaryCNIChainName":"../../etc"}',
    '{"multusMasterCNI":"../x"}',
    '{"name":"../x"}',
    '{"delegates":[1]}',
    '{"logLevel":7}',
    '{"directory":7}',
    `{"a":${"[".repeat(100_000)}`,
  ];
  for (const text of broken) {
    writeFileSync(lab.path("daemon-config.json"), text);
    const before = readdirSync(lab.folder, { recursive: true }).length;
    const daemon = lab.launchDaemon();
    const code = await new Promise((resolve) => daemon.once("close", resolve));
    expect({ text: text.slice(0, 50), code, log: lab.daemonLog.slice(-300) }).toMatchObject({
      code: 1,
      log: expect.stringMatching(/(?:Cannot|must|set) /),
    });
    expect(readdirSync(lab.folder, { recursive: true }).length).toBe(before);
  }
  expect(existsSync(lab.stateDir)).toBe(false);
});

describe("through the real shim and daemon", () => {
  let lab: Lab;
  let health: Health;
  let netns: string;

  beforeAll(async () => {
    lab = await Lab.make();
    writeFileSync(lab.path("bin/bridge"), `#!/bin/sh\ncat >/dev/null\necho '{"cniVersion":"1.0.0"}'\n`, {
      mode: 0o755,
    });
    await lab.configure({ addLookupMs: 100, addUndoMs: 1_000, logLevel: "error", undoRetryMs: 100 });
    const { pid = 0 } = await lab.startDaemon();
    await warmUpWith(lab);
    netns = lab.netns("conf");
    health = Health.of(lab, pid);
  });

  afterAll(() => lab.remove());

  test("three hundred mutated configurations on stdin end as a CNI call does, and leave nothing", async () => {
    // The shim's own settings stay as they are: a mutated folder could be any folder of the machine.
    const conf = { ...shimConf, delegates: [{ ...networkConf, plugins: [networkConf.plugins[0]] }] };
    const own = { daemonSocketDir: lab.socketDir, stateDir: lab.stateDir, addBudgetMs: 3_000 };
    let failed = 0;
    let attached = 0;
    await inParallel(trials(300), 4, (random) =>
      trial(random, "A mutated configuration through the shim", async () => {
        const containerId = `conf-${random.seed}`;
        const mutated = mutation(random, conf).replace(
          /^\{/,
          `{"daemonSocketDir":"${own.daemonSocketDir}","stateDir":"${own.stateDir}","addBudgetMs":3000,`,
        );
        const text = random.below(10) === 0 ? mutateBytes(random, Buffer.from(mutated)) : Buffer.from(mutated);
        if (!text.includes(`"daemonSocketDir":"${lab.socketDir}"`) || !text.includes(`"stateDir":"${lab.stateDir}"`))
          return;
        const outcome = await callWith(lab, {
          verb: random.pick(["ADD", "ADD", "CHECK", "STATUS", "GC"]),
          containerId,
          netns,
          stdin: text,
        });
        expect([0, 1]).toContain(outcome.code ?? -1);
        expect(outcome.stderr).not.toContain("panic");
        if (outcome.code === 1)
          expect(JSON.parse(outcome.stdout)).toMatchObject({ code: expect.any(Number), msg: expect.any(String) });
        failed += outcome.code ?? 0;
        attached += 1 - (outcome.code ?? 1);
        const deleted = await lab.cni("DEL", { containerId, netns });
        expect(deleted).toMatchObject({ exitCode: 0 });
      }),
    );
    expect(failed).toBeGreaterThan(30);
    expect(attached).toBeGreaterThan(30);
    await health.expectSound();
  });
});

async function warmUpWith(lab: Lab): Promise<void> {
  await warmUp(
    lab,
    JSON.stringify({
      cniVersion: "1.0.0",
      name: "levee",
      delegates: [{ cniVersion: "1.0.0", name: "lan", type: "bridge" }],
    }),
  );
}

interface RawCall {
  readonly verb: string;
  readonly containerId: string;
  readonly netns: string;
  readonly stdin: Uint8Array;
}

/** Like `lab.cni`, with bytes on stdin that need not be text. */
function callWith(
  lab: Lab,
  call: RawCall,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    CNI_COMMAND: call.verb,
    CNI_CONTAINERID: call.containerId,
    CNI_NETNS: call.netns,
    CNI_IFNAME: "eth0",
    CNI_PATH: lab.path("bin"),
  };
  const child = spawn(join(import.meta.dir, "../../dist/levee-shim"), [], { env, stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => undefined);
  child.stdin.end(call.stdin);
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}

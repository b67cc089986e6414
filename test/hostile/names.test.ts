import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { Lab, type CniOutcome } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { bytesField, numberField } from "../../src/wire/frame.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { callFrame } from "./call-frame.ts";
import { Health } from "./health.ts";
import { obey, warmUp } from "./obedient-hand.ts";

setDefaultTimeout(60_000);

let lab: Lab;
let health: Health;
let netns: string;
let before: readonly string[];

/** Where a name must not lead: below the lab's folder, so that one that does is seen. */
const escapes = [
  "..",
  ".",
  "../x",
  "../../x",
  "a/../../x",
  "a/b",
  "/etc/x",
  "./x",
  "x/",
  "x\u0000y",
  "x\ny",
  "-x",
  " x",
];

beforeAll(async () => {
  lab = await Lab.make();
  // The daemon makes this folder with its first copy for Multus, which may be in the middle of any test.
  mkdirSync(lab.cniDir);
  writeFileSync(lab.path("bin/plain"), `#!/bin/sh\ncat >/dev/null\necho '{"cniVersion":"1.0.0"}'\n`, { mode: 0o755 });
  writeFileSync(lab.path("evil"), '#!/bin/sh\n: > "$(dirname "$0")/escaped"\n', { mode: 0o755 });
  await lab.configure({ addLookupMs: 200, addUndoMs: 1_000, logLevel: "error" });
  await lab.pod("web", {});
  const { pid = 0 } = await lab.startDaemon();
  netns = lab.netns("names");
  await warmUp(lab, inline({ name: "lan", type: "plain" }));
  health = Health.of(lab, pid);
});

afterAll(() => lab.remove());

beforeEach(() => {
  before = outside();
});

afterEach(async () => {
  expect(outside()).toEqual(before);
  expect(existsSync(lab.path("escaped"))).toBe(false);
  expect(await leftovers(lab)).toEqual([]);
  await health.expectSound();
});

/** Everything in the lab that is not the daemon's own or the test's. */
function outside(): readonly string[] {
  return [
    ...readdirSync(lab.folder),
    ...readdirSync(lab.path("bin")),
    ...readdirSync(lab.path("directory")),
    ...readdirSync(lab.stateDir),
  ].toSorted();
}

function inline(delegate: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): string {
  return lab.shimConf({ addBudgetMs: 5_000, delegates: [{ cniVersion: "1.0.0", ...delegate }], ...more });
}

function expectRefused(outcome: CniOutcome, name: string): void {
  expect({ name, exitCode: outcome.exitCode, stdout: outcome.stdout }).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('"msg"'),
  });
  expect((JSON.parse(outcome.stdout) as { msg: string }).msg).not.toContain("internal");
}

/** The daemon's answer to a shim that checks nothing itself. */
async function answerTo(
  changes: Parameters<typeof callFrame>[0],
  config = inline({ name: "lan", type: "plain" }),
): Promise<{ readonly code: number | undefined; readonly output: string }> {
  const peer = await RawPeer.connect(lab.socketDir);
  peer.send(callFrame({ ...changes, config_length: Buffer.byteLength(config) }));
  const frames = await obey(peer, Number.POSITIVE_INFINITY, { config });
  const finish = frames.find(({ type }) => type === "FINISH");
  if (finish === undefined) throw new Error(`No FINISH but ${frames.map(({ type }) => type).join()}`);
  return { code: numberField(finish, "exit_code"), output: Buffer.from(bytesField(finish, "output") ?? []).toString() };
}

test("container IDs: the shim refuses those that lead elsewhere, and so does the daemon", async () => {
  const names = [...escapes, "é", "x y", "x:y", ".x", "_x", "x".repeat(254)];
  for (const name of names) {
    for (const verb of ["ADD", "DEL", "CHECK"]) {
      // A NUL cannot stand in an environment.
      if (!name.includes("\0") && name.length < 200)
        expectRefused(
          await lab.cni(verb, { containerId: name, netns, conf: inline({ name: "lan", type: "plain" }) }),
          name,
        );
      expect({ name, ...(await answerTo({ verb, container_id: name })) }).toMatchObject({
        code: 1,
        output: expect.stringContaining("CNI_CONTAINERID"),
      });
    }
  }
});

test("the longest container ID is attached and deleted like any other", async () => {
  const containerId = "x".repeat(253);
  const conf = inline({ name: "lan", type: "plain" });
  expect(await lab.cni("ADD", { containerId, netns, conf })).toMatchObject({ exitCode: 0 });
  expect(await lab.cni("DEL", { containerId, netns, conf })).toMatchObject({ exitCode: 0 });
  expect(await lab.cni("DEL", { containerId, netns, conf })).toMatchObject({ exitCode: 0 });
});

test("interface names", async () => {
  for (const name of ["..", ".", "a/b", "../x", "/x", "a:b", "a b", "x\u0000y", "a\nb", "x".repeat(16), "\u001b[2J"]) {
    if (!name.includes("\0") && !name.startsWith("\u001b"))
      expectRefused(
        await lab.cni("ADD", { containerId: "n1", netns, ifname: name, conf: inline({ name: "lan", type: "plain" }) }),
        name,
      );
    for (const verb of ["ADD", "DEL"])
      expect({ name, ...(await answerTo({ verb, ifname: name })) }).toMatchObject({
        code: 1,
        output: expect.stringContaining("CNI_IFNAME"),
      });
  }
});

test("network namespaces", async () => {
  for (const path of ["relative", "../x", "/var/run/netns/../../etc", "/x\u0000y", `/${"x".repeat(4_096)}`]) {
    expect({ path, ...(await answerTo({ netns: path })) }).toMatchObject({
      code: 1,
      output: expect.stringContaining("CNI_NETNS"),
    });
  }
  // The host's own, however it is called.
  for (const path of ["/proc/self/ns/net", "/proc/1/ns/net", `/proc/${process.pid}/ns/net`]) {
    expectRefused(
      await lab.cni("ADD", { containerId: "n1", netns: path, conf: inline({ name: "lan", type: "plain" }) }),
      path,
    );
  }
});

test("names of networks, which become names of files in caches and IPAM folders", async () => {
  for (const name of escapes) {
    expectRefused(await lab.cni("ADD", { containerId: "n1", netns, conf: inline({ name, type: "plain" }) }), name);
    expectRefused(
      await lab.cni("ADD", { containerId: "n1", netns, conf: inline({ name, plugins: [{ type: "plain" }] }) }),
      name,
    );
    expectRefused(
      await lab.cni("ADD", { containerId: "n1", netns, conf: inline({ name: "lan", type: "plain" }, { name }) }),
      name,
    );
  }
});

test("types of plugins, which become programs", async () => {
  for (const type of ["../evil", "/bin/true", "..", ".", "a/../../evil", "plain/", "plain\u0000", "x".repeat(256)]) {
    expectRefused(await lab.cni("ADD", { containerId: "n1", netns, conf: inline({ name: "lan", type }) }), type);
    expectRefused(
      await lab.cni("ADD", {
        containerId: "n1",
        netns,
        conf: inline({ name: "lan", plugins: [{ type: "plain" }, { type }] }),
      }),
      type,
    );
  }
});

test("names of pods and namespaces in CNI_ARGS", async () => {
  for (const name of ["..", "../web", "a/b", "/etc", "x\u0000y", "\u001b[2J", "web/..", "x".repeat(5_000)]) {
    for (const cni_args of [
      `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}`,
      `K8S_POD_NAMESPACE=${name};K8S_POD_NAME=web`,
    ]) {
      expect({ name, ...(await answerTo({ cni_args })) }).toMatchObject({ code: 1 });
    }
  }
});

test("auxiliaryCNIChainName, clusterNetwork, defaultNetworks and multusNamespace", async () => {
  mkdirSync(lab.path("conf"), { recursive: true });
  const master = lab.path("conf/10-master.conf");
  writeFileSync(master, JSON.stringify({ cniVersion: "1.0.0", name: "master", type: "plain" }));
  before = outside();
  for (const name of escapes) {
    const call = { containerId: "n1", netns };
    expectRefused(
      await lab.cni("ADD", {
        ...call,
        conf: lab.shimConf({ addBudgetMs: 5_000, clusterNetwork: master, auxiliaryCNIChainName: name }),
      }),
      name,
    );
    expectRefused(
      await lab.cni("ADD", { ...call, conf: lab.shimConf({ addBudgetMs: 5_000, clusterNetwork: name }) }),
      name,
    );
    expectRefused(
      await lab.cni("ADD", {
        ...call,
        args: lab.podArgs("web"),
        conf: lab.shimConf({ addBudgetMs: 5_000, clusterNetwork: master, defaultNetworks: [name] }),
      }),
      name,
    );
    expectRefused(
      await lab.cni("ADD", {
        ...call,
        conf: lab.shimConf({ addBudgetMs: 5_000, clusterNetwork: "x", multusNamespace: name }),
      }),
      name,
    );
  }
});

test("network configurations that are devices, pipes, folders of them, or endless", async () => {
  mkdirSync(lab.path("conf/pipes"), { recursive: true });
  spawnSync("mkfifo", [lab.path("conf/pipes/10-pipe.conf")]);
  symlinkSync("/dev/zero", lab.path("conf/zero.conf"));
  writeFileSync(lab.path("conf/large.conf"), " ".repeat(300_000));
  before = outside();
  for (const clusterNetwork of [
    "/dev/zero",
    "/dev/stdin",
    lab.path("conf/pipes"),
    lab.path("conf/pipes/10-pipe.conf"),
    lab.path("conf/zero.conf"),
    lab.path("conf/large.conf"),
    lab.path("run/levee.sock"),
  ]) {
    const outcome = await lab.cni("ADD", {
      containerId: "n1",
      netns,
      conf: lab.shimConf({ addBudgetMs: 5_000, clusterNetwork }),
    });
    expectRefused(outcome, clusterNetwork);
  }
});

test("links in the directory that lead out of it are not followed, and names in it are checked", async () => {
  writeFileSync(lab.path("outside.yaml"), "kind: Pod\nmetadata: {name: smuggled}\n");
  before = outside();
  symlinkSync(lab.path("outside.yaml"), lab.path("directory/pods/link.yaml"));
  symlinkSync("/", lab.path("directory/pods/root"));
  symlinkSync("/dev/zero", lab.path("directory/pods/zero.yaml"));
  symlinkSync("loop.yaml", lab.path("directory/pods/loop.yaml"));
  spawnSync("mkfifo", [lab.path("directory/pods/pipe.yaml")]);
  for (const [index, name] of ["..", "../x", "a/b", "/etc", "x\u0000y", "\u001b[2J", "A_B", ""].entries()) {
    await lab.pod("x", {}, "default");
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: index % 2 === 0 ? name : "default" } };
    writeFileSync(lab.path(`directory/pods/hostile${index}.json`), JSON.stringify(pod));
    const network = {
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name: index % 2 === 0 ? "x" : name, namespace: name },
      spec: { config: "{}" },
    };
    writeFileSync(lab.path(`directory/networks/hostile${index}.json`), JSON.stringify(network));
  }
  const { notices } = await lab.until("the problems are seen", async () => {
    const node = await lab.ask<NodeAnswer>({ ask: "node" });
    return node.notices.some((notice) => notice.includes("hostile7")) ? node : undefined;
  });
  expect(notices.some((notice) => notice.includes("link.yaml") && notice.includes("leads out of it"))).toBe(true);
  for (const name of ["smuggled", ".."]) {
    expect(await answerTo({ cni_args: lab.podArgs(name) })).toMatchObject({ code: 1 });
  }
});

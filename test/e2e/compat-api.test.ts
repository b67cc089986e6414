/** Pods, status and events on a real API server that is near, far, or away; the shim is called as a runtime would. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import type { CniCall, CniOutcome } from "../lab/lab.ts";
import { CompatCluster, networksAnnotation, type Pod } from "./compat/compat-cluster.ts";
import { pathOf } from "./manifests.ts";
import { needsServer } from "./needs-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterEach, afterAll } = needsServer("compat-api");

/** The error that a failed call prints. */
interface Told {
  readonly code: number;
  readonly msg: string;
}

const expectedStatus = `[{
    "name": "primary",
    "interface": "eth0",
    "ips": [
        "10.9.0.2"
    ],
    "mac": "02:00:00:00:00:01",
    "default": true,
    "dns": {}
},{
    "name": "nets/lan",
    "interface": "net1",
    "ips": [
        "10.9.0.2"
    ],
    "mac": "02:00:00:00:00:01",
    "dns": {}
}]`;
const onLan = { [networksAnnotation]: "nets/lan" };

let cluster: CompatCluster;
let conf: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  cluster = await CompatCluster.start();
  await cluster.network("lan", { cniVersion: "1.0.0", ...cluster.lab.conf("second") });
  conf = { delegates: [{ cniVersion: "1.0.0", name: "primary", ...cluster.lab.conf("first") }] };
}, 120_000);

afterEach(async () => {
  cluster.line.delayMs = 0;
  await cluster.lab.unscript("second.ADD");
  await cluster.lab.forgetCalls();
});

afterAll(() => cluster.stop(), 60_000);

async function add(pod: Pod, change: Partial<CniCall> = {}): Promise<{ call: CniCall; outcome: CniOutcome }> {
  const call = { ...cluster.call(pod, conf), ...change };
  return { call, outcome: await cluster.lab.cni("ADD", call) };
}

function told(outcome: CniOutcome): Told {
  expect(outcome.exitCode).toBe(1);
  return JSON.parse(outcome.stdout) as Told;
}

async function untilStatus(pod: Pod): Promise<string> {
  return until(`${pod.metadata.name} has its status`, () => cluster.status(pod), { timeoutMs: 30_000 });
}

/** The second plugin waits until it is told to go on; gives the way to tell it. */
async function holdSecond(): Promise<{ reached: () => Promise<void>; release: () => Promise<void> }> {
  const { lab } = cluster;
  const gate = lab.path(`gate-${Math.round(performance.now())}`);
  await lab.script("second.ADD", `while [ ! -e ${gate} ]; do sleep 0.05; done`);
  return {
    reached: () =>
      lab
        .until("the second plugin runs", async () =>
          (await lab.calls()).some(({ plugin, command }) => plugin === "second" && command === "ADD")
            ? true
            : undefined,
        )
        .then(() => undefined),
    release: () => writeFile(gate, ""),
  };
}

group("a pod and its status", () => {
  test("what a pod got is in its annotation byte for byte when ADD returns, and stays there after DEL", async () => {
    const pod = await cluster.pod("plain", onLan);
    const { call, outcome } = await add(pod);
    expect(outcome.exitCode).toBe(0);
    expect(await cluster.status(pod)).toBe(expectedStatus);
    expect((await cluster.lab.cni("DEL", call)).exitCode).toBe(0);
    expect(await cluster.status(pod)).toBe(expectedStatus);
  });

  test("a pod of a system namespace has the node's own network alone, and its status all the same", async () => {
    const pod = await cluster.pod("system", onLan, { namespace: "kube-system" });
    const node = { clusterNetwork: "main", defaultNetworks: ["more"] };
    for (const name of ["main", "more"])
      await cluster.network(name, { cniVersion: "1.0.0", ...cluster.lab.conf("first") }, "kube-system");
    expect((await cluster.lab.cni("ADD", cluster.call(pod, node))).exitCode).toBe(0);
    expect(await cluster.status(pod)).toBe(expectedStatus.replace('"primary"', '"kube-system/main"'));
  });

  test("a runtime that tells no UID gets its pod and its status, and plugins get an empty one", async () => {
    const pod = await cluster.pod("no-uid", onLan);
    const { outcome } = await add(pod, { args: cluster.lab.podArgs("no-uid") });
    expect(outcome.exitCode).toBe(0);
    expect(await cluster.status(pod)).toBe(expectedStatus);
    const [first] = await cluster.lab.calls();
    expect(first?.env["CNI_ARGS"]).toBe(
      "IgnoreUnknown=true;K8S_POD_NAMESPACE=default;K8S_POD_NAME=no-uid;K8S_POD_INFRA_CONTAINER_ID=;K8S_POD_UID=",
    );
  });

  test("another UID than the pod's is refused in Multus' words, and nothing runs", async () => {
    const pod = await cluster.pod("other-uid", onLan);
    const { outcome } = await add(pod, { args: `${cluster.lab.podArgs("other-uid")};K8S_POD_UID=stale` });
    const server = `https://127.0.0.1:${cluster.line.port}`;
    expect(told(outcome)).toMatchObject({
      code: 100,
      msg: `Cannot find the pod default/other-uid: expected pod UID "stale" but got "${pod.metadata.uid}" from Kube API at ${server}`,
    });
    expect(await cluster.lab.calls()).toEqual([]);
    expect(await cluster.status(pod)).toBeUndefined();
  });

  test("a static pod's own UID differs from its mirror's: it is attached, and the mirror has the status", async () => {
    const pod = await cluster.pod("static", { ...onLan, "kubernetes.io/config.source": "file" });
    const { outcome } = await add(pod, { args: `${cluster.lab.podArgs("static")};K8S_POD_UID=of-kubelet` });
    expect(outcome.exitCode).toBe(0);
    expect(await cluster.status(pod)).toBe(expectedStatus);
  });

  test.each([0, 80])(
    "a pod that only a live read finds is attached over a round trip of %d ms more",
    async (delayMs) => {
      cluster.line.delayMs = delayMs;
      // Of another node, so the watch never tells of it.
      const pod = await cluster.pod(`live-${delayMs}`, onLan, { node: "elsewhere" });
      const { outcome } = await add(pod);
      expect(outcome).toMatchObject({ exitCode: 0 });
      expect(await untilStatus(pod)).toBe(expectedStatus);
    },
  );
});

group("a pod that comes, goes or is replaced", () => {
  test("a pod that does not exist is an error, never a success without a network", async () => {
    const ghost = { metadata: { name: "ghost", namespace: "default", uid: "u" } };
    const { outcome } = await add(ghost);
    const server = `https://127.0.0.1:${cluster.line.port}`;
    expect(told(outcome)).toMatchObject({
      code: 100,
      msg: `Cannot find the pod default/ghost: it is neither in the local copy nor on the API server ${server}, and no annotations came with the call`,
    });
    expect(await cluster.lab.calls()).toEqual([]);
  });

  test("a pod that is made a moment after its ADD began is attached", async () => {
    const early = { metadata: { name: "late", namespace: "default", uid: "" } };
    const call = { ...cluster.call(early, conf), args: cluster.lab.podArgs("late") };
    const { outcome } = cluster.lab.start("ADD", call);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const pod = await cluster.pod("late", onLan);
    expect(await outcome).toMatchObject({ exitCode: 0 });
    expect(await cluster.status(pod)).toBe(expectedStatus);
  });

  test("another pod takes the name while the plugins run: its annotation is left alone", async () => {
    const pod = await cluster.pod("replaced", onLan);
    const second = await holdSecond();
    const adding = add(pod);
    await second.reached();
    await cluster.api.delete(pathOf("Pod", "default", "replaced"), { gracePeriodSeconds: 0 });
    const next = await cluster.pod("replaced", {});
    await second.release();
    expect((await adding).outcome.exitCode).toBe(0);
    expect(await cluster.status(next)).toBeUndefined();
  });

  test("a pod that is gone before its DEL is detached from the record", async () => {
    const pod = await cluster.pod("gone", onLan);
    const { call } = await add(pod);
    await cluster.api.delete(pathOf("Pod", "default", "gone"), { gracePeriodSeconds: 0 });
    await cluster.lab.forgetCalls();
    expect((await cluster.lab.cni("DEL", call)).exitCode).toBe(0);
    const calls = await cluster.lab.calls();
    expect(calls.map(({ command, plugin, ifname }) => `${command} ${plugin} ${ifname}`)).toEqual([
      "DEL second net1",
      "DEL first eth0",
    ]);
  });

  test("the API server dies before the status: the pod is attached soon, and told of when it is back", async () => {
    const pod = await cluster.pod("told-later", onLan);
    const second = await holdSecond();
    const adding = add(pod);
    await second.reached();
    await cluster.line.cut();
    await second.release();
    const startedMs = performance.now();
    expect((await adding).outcome).toMatchObject({ exitCode: 0 });
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(await cluster.status(pod)).toBeUndefined();
    await cluster.line.mend();
    expect(await untilStatus(pod)).toBe(expectedStatus);
    const messages = (await cluster.events(pod, 2)).map(({ message }) => message).toSorted();
    expect(messages).toEqual(["Add eth0 [10.9.0.2/24] from primary", "Add net1 [10.9.0.2/24] from nets/lan"]);
  });
});

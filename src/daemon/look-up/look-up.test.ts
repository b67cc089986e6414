import { describe, expect, test } from "bun:test";
import type { JsonText, Namespace, PodName, PodUid } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import { jsonValue } from "../../cni/json-text.ts";
import type { AddRequest } from "../../cni/verb.ts";
import { parseDaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf, type NetConf } from "../../config/net-conf.ts";
import { ConfCache } from "./conf-cache.ts";
import { LookUp, type LookUpCaller } from "./look-up.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import { emptyView } from "../../view/view.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const namespace = "default" as Namespace;
const networks = "k8s.v1.cni.cncf.io/networks";
const request = {
  verb: "ADD",
  containerId: "c1",
  args: parseCniArgs("K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"),
} as unknown as AddRequest;

const conf: NetConf = effectiveNetConf(
  jsonValue({ cniVersion: "1.0.0", name: "levee", delegates: [{ cniVersion: "1.0.0", name: "main", type: "noop" }] }),
  parseDaemonConfig("{}", "the test"),
);

/** A node with one pod and the networks lan and wan. It keeps its events and notes. */
class Node {
  readonly events: string[] = [];
  readonly timeline = new KeptTimeline();
  config: JsonText = jsonValue({});
  pod: PodFacts | undefined = podWith("lan");
  readonly #known = ["lan", "wan"];
  readonly #lookUp = new LookUp({
    clock: systemClock,
    config: { addLookupMs: 50, readinessindicatorfile: "", directory: undefined, kubeletDir: "/nowhere" },
    timeline: this.timeline,
    eventTeller: {
      aboutPod: (pod, { type, reason, message }) => void this.events.push(`${pod.uid} ${type} ${reason} ${message}`),
    },
    confs: new ConfCache(),
    view: {
      ...emptyView,
      findPod: () => Promise.resolve(this.pod),
      findNetwork: (_namespace, name) => Promise.resolve(this.#known.includes(name) ? definition(name) : undefined),
    },
  });

  call(configLength = this.config.length): LookUpCaller {
    return {
      header: { configLength },
      config: () => Promise.resolve(this.config),
      signal: new AbortController().signal,
    };
  }

  /** The runtime sends the pod's annotations with the call. */
  sends(annotations: Readonly<Record<string, string>>): void {
    this.config = jsonValue({ runtimeConfig: { "io.kubernetes.cri.pod-annotations": annotations } });
  }

  beforeLine(held = new DisposableStack(), call = this.call()): ReturnType<LookUp["beforeLine"]> {
    return this.#lookUp.beforeLine(call, request, held);
  }

  /** The networks of the plan, the default one first. */
  async behindLine(netConf = conf): Promise<readonly string[]> {
    const found = await this.beforeLine();
    const { networks: planned } = await this.#lookUp.behindLine(this.call(), request, found, netConf);
    return [planned.defaultNetwork, ...planned.others.map(({ source }) => source)].map(({ network }) => network);
  }

  get notes(): readonly string[] {
    return this.timeline.of("default", "web").map(({ what, detail }) => `${what}: ${detail}`);
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "";
}

function podWith(annotation: string): PodFacts {
  const annotations = { [networks]: annotation };
  return { namespace, name: "web" as PodName, uid: "u1" as PodUid, annotations, priority: undefined, isStatic: false };
}

function definition(name: string): NetworkDefinition {
  return { namespace, name, config: JSON.stringify({ cniVersion: "1.0.0", type: "noop" }), annotations: {} };
}

describe("LookUp.beforeLine", () => {
  test("finds pod and networks without a note when they are in the view", async () => {
    const node = new Node();
    const { pod, elements } = await node.beforeLine();
    expect({ pod, names: elements.map(({ name }) => name) }).toEqual({ pod: podWith("lan"), names: ["lan"] });
    expect(node.notes).toEqual([]);
  });

  test("notes how it found a pod that is not in the view", async () => {
    const node = new Node();
    node.pod = undefined;
    node.sends({ [networks]: "wan" });
    expect((await node.beforeLine()).elements.map(({ name }) => name)).toEqual(["wan"]);
    expect(node.notes).toEqual(["found: its annotations came with the call"]);
  });

  test("goes without the configuration when too many calls hold theirs", async () => {
    const node = new Node();
    node.pod = undefined;
    node.sends({ [networks]: "wan" });
    const held = new DisposableStack();
    await node.beforeLine(held, node.call(16_777_216));
    expect(node.beforeLine()).rejects.toMatchObject({ code: "pod-unknown" });
    held[Symbol.dispose]();
    expect((await node.beforeLine()).elements.map(({ name }) => name)).toEqual(["wan"]);
  });

  test("tells an event on the pod about a network that does not exist", async () => {
    const node = new Node();
    node.pod = podWith("lan,man");
    const missing = "cannot find a network-attachment-definition (man) in namespace (default)";
    const failure = await node.beforeLine().catch(messageOf);
    expect(failure).toBe(missing);
    expect(node.events).toEqual([`u1 Warning NoNetworkFound ${missing}`]);
  });
});

describe("LookUp.behindLine", () => {
  test("uses the runtime's annotations where they differ from the view's", async () => {
    const node = new Node();
    node.sends({ [networks]: "wan" });
    expect(await node.behindLine()).toEqual(["main", "default/wan"]);
    expect(node.notes.at(-1)).toContain("differ from the local copy's and are used");
  });

  test("attaches only the default network when kubelet's annotations name none", async () => {
    const node = new Node();
    node.sends({});
    expect(await node.behindLine()).toEqual(["main"]);
  });

  test.each([[{ [networks]: "lan", other: "x" }], [undefined]])("keeps what was found with %p", async (annotations) => {
    const node = new Node();
    if (annotations !== undefined) node.sends(annotations);
    expect(await node.behindLine()).toEqual(["main", "default/lan"]);
    expect(node.notes).toEqual([]);
  });

  test("tells an event about a default network that does not exist", async () => {
    const node = new Node();
    const failed = node.behindLine({ ...conf, clusterNetwork: "man", confDir: "/nowhere" });
    expect(await failed.catch(messageOf)).toContain("no definition kube-system/man");
    expect(node.events).toHaveLength(1);
  });

  test("waits for the readiness file that only the call's configuration names", async () => {
    const node = new Node();
    const failed = node.behindLine({ ...conf, readinessindicatorfile: "/nowhere/ready" });
    expect(await failed.catch(messageOf)).toContain("readinessindicatorfile @ /nowhere/ready");
  });
});

import { describe, expect, test } from "bun:test";
import type { JsonText, Namespace, PodName, PodUid } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import { jsonValue } from "../../cni/json-text.ts";
import type { AddRequest } from "../../cni/verb.ts";
import type { NetConf } from "../../config/net-conf.ts";
import type { Call } from "../serve/call.ts";
import { EarlyConfigs } from "./early-configs.ts";
import { Holdings } from "../serve/holdings.ts";
import { lookAgain, lookUp, resolve } from "./look-up.ts";
import type { Ports } from "../ports.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import { emptyView, type NetworkDefinition, type PodFacts } from "../../view/view.ts";

const namespace = "default" as Namespace;
const networks = "k8s.v1.cni.cncf.io/networks";
const request = {
  verb: "ADD",
  containerId: "c1",
  args: parseCniArgs("K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"),
} as unknown as AddRequest;

/** A node with one pod and the networks lan and wan; what it announces and notes is kept. */
class Node {
  readonly events: string[] = [];
  readonly timeline = new KeptTimeline();
  readonly earlyConfigs = new EarlyConfigs();
  readonly ports: Ports;
  config: JsonText = jsonValue({});
  pod: PodFacts | undefined = podWith("lan");

  constructor() {
    const known = ["lan", "wan"];
    const ports: Partial<Record<keyof Ports, unknown>> = {
      clock: systemClock,
      config: { addLookupMs: 50 },
      timeline: this.timeline,
      earlyConfigs: this.earlyConfigs,
      announcer: {
        aboutPod: (pod: PodFacts, { type, reason, message }: Record<string, string>) =>
          this.events.push(`${pod.uid} ${type} ${reason} ${message}`),
      },
      view: {
        ...emptyView,
        findPod: () => Promise.resolve(this.pod),
        findNetwork: (_namespace: Namespace, name: string) =>
          Promise.resolve(known.includes(name) ? definition(name) : undefined),
      },
    };
    this.ports = ports as Ports;
  }

  get call(): Call {
    const call: Partial<Record<keyof Call, unknown>> = {
      header: { configLength: this.config.length },
      config: () => Promise.resolve(this.config),
      signal: new AbortController().signal,
    };
    return call as Call;
  }

  /** The runtime sends the pod's annotations with the call. */
  sends(annotations: Readonly<Record<string, string>>): void {
    this.config = jsonValue({ runtimeConfig: { "io.kubernetes.cri.pod-annotations": annotations } });
  }

  lookUp(): ReturnType<typeof lookUp> {
    return lookUp(this.call, request, new Holdings(), this.ports);
  }

  async lookAgain(): Promise<readonly string[]> {
    const wanted = await this.lookUp();
    const again = await lookAgain(this.call, request, { wanted, config: this.config }, this.ports);
    return again.elements.map(({ name }) => name);
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
  return { namespace, name, config: "{}", annotations: {} };
}

describe("lookUp", () => {
  test("finds pod and networks without a word when they are in the view", async () => {
    const node = new Node();
    const { pod, elements } = await node.lookUp();
    expect({ pod, names: elements.map(({ name }) => name) }).toEqual({ pod: podWith("lan"), names: ["lan"] });
    expect(node.notes).toEqual([]);
  });

  test("notes how a pod was found that is not in the view", async () => {
    const node = new Node();
    node.pod = undefined;
    node.sends({ [networks]: "wan" });
    expect(await node.lookAgain()).toEqual(["wan"]);
    expect(node.notes).toEqual(["found: its annotations came with the call"]);
  });

  test("goes without the configuration when too many calls hold theirs", async () => {
    const node = new Node();
    node.pod = undefined;
    node.sends({ [networks]: "wan" });
    using all = node.earlyConfigs.take(16_777_216);
    expect(all).toBeDefined();
    expect(node.lookUp()).rejects.toMatchObject({ code: "pod-unknown" });
    all?.[Symbol.dispose]();
    expect((await node.lookUp()).elements.map(({ name }) => name)).toEqual(["wan"]);
  });

  test("announces a network that does not exist, on the pod", async () => {
    const node = new Node();
    node.pod = podWith("lan,man");
    const missing = "cannot find a network-attachment-definition (man) in namespace (default)";
    const failure = await node.lookUp().catch(messageOf);
    expect(failure).toBe(missing);
    expect(node.events).toEqual([`u1 Warning NoNetworkFound ${missing}`]);
  });
});

describe("lookAgain", () => {
  test("takes the runtime's annotations where they differ from the view's", async () => {
    const node = new Node();
    node.sends({ [networks]: "wan" });
    expect(await node.lookAgain()).toEqual(["wan"]);
    expect(node.notes.at(-1)).toContain("differ from the local copy's, and are used");
  });

  test("takes no network when kubelet's pod asks for none", async () => {
    const node = new Node();
    node.sends({});
    expect(await node.lookAgain()).toEqual([]);
  });

  test.each([[{ [networks]: "lan", other: "x" }], [undefined]])("keeps what was found with %p", async (annotations) => {
    const node = new Node();
    if (annotations !== undefined) node.sends(annotations);
    expect(await node.lookAgain()).toEqual(["lan"]);
    expect(node.notes).toEqual([]);
  });
});

test("resolve announces a default network that does not exist", async () => {
  const node = new Node();
  const wanted = await node.lookUp();
  const conf = { clusterNetwork: "man", multusNamespace: "kube-system", confDir: "/nowhere", systemNamespaces: [] };
  const resolved = resolve(node.call, wanted, { ...conf, defaultNetworks: [] } as unknown as NetConf, node.ports);
  expect(await resolved.catch(messageOf)).toContain("no definition kube-system/man");
  expect(node.events).toHaveLength(1);
});

/** Levee beside the real Multus v4.3.0: the same pods, networks and plugins, and what the two of them make of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { networksOfTable, refusedByBoth, servedByBoth } from "../conformance/compat-8-cases.ts";
import type { CniCall, CniOutcome, PluginCall } from "../lab/lab.ts";
import { CompatCluster, node, type Pod } from "./compat-cluster.ts";
import { MultusNode, missingForMultus } from "./compat-multus-node.ts";
import { eventFacts, program, routeWithoutGateway, statusCases } from "./compat-status-cases.ts";
import { missingForApiServer } from "./policy-server.ts";

const missing = missingForApiServer() ?? missingForMultus();
if (missing !== undefined) console.warn(`compat-multus: skipped, ${missing}`);

/** What one of the two did for a pod. */
interface Deed {
  readonly pod: Pod;
  readonly call: CniCall;
  readonly outcome: CniOutcome;
  readonly calls: readonly PluginCall[];
}

describe.skipIf(missing !== undefined)("Levee and Multus", () => {
  let cluster: CompatCluster;
  let multus: MultusNode;
  let primary: Readonly<Record<string, unknown>>;
  let count = 0;

  beforeAll(async () => {
    cluster = await CompatCluster.start();
    const { lab } = cluster;
    // The first one makes /run/netns a mount, which Multus' own /run needs.
    lab.netns("first");
    multus = new MultusNode(lab);
    await multus.start({ accountFolder: cluster.accountFolder, apiPort: cluster.apiPort, node });
    for (const { name, namespace, config } of networksOfTable((type, more) => lab.conf(type, more)))
      await cluster.network(name, config === "" ? undefined : config, namespace);
    primary = { delegates: [{ cniVersion: "1.0.0", name: "primary", ...lab.conf("first") }] };
  }, 120_000);

  afterAll(async () => {
    await multus.stop();
    await cluster.stop();
  }, 60_000);

  /** Two pods of one name, one for each; the calls of the plugins are told apart. */
  async function both(annotations: Readonly<Record<string, string>>, given?: object): Promise<readonly [Deed, Deed]> {
    const { lab } = cluster;
    const conf = { ...(given ?? primary) };
    count += 1;
    const deeds: Deed[] = [];
    for (const namespace of ["multus", "default"]) {
      const pod = await cluster.pod(`pod-${count}`, annotations, { namespace });
      const call = cluster.call(pod, conf);
      await lab.forgetCalls();
      const isMultus = namespace === "multus";
      const outcome = isMultus ? await multus.cni("ADD", call, conf) : await lab.cni("ADD", call);
      deeds.push({ pod, call, outcome, calls: await lab.calls() });
      await (isMultus ? multus.cni("DEL", call, conf) : lab.cni("DEL", call));
    }
    return deeds as [Deed, Deed];
  }

  for (const refused of missing === undefined ? refusedByBoth("{confDir}") : []) {
    test(`${refused.what}: both refuse it in the same words`, async () => {
      const [theirs, ours] = await both(refused.annotations);
      const words = `${refused.words}${refused.inCluster ?? ""}`.replaceAll("{confDir}", cluster.lab.path("confdir"));
      expect(messageOf(theirs)).toEndWith(words.replaceAll("{namespace}", "multus"));
      const own = words.replaceAll("{namespace}", "default");
      expect(messageOf(ours)).toBe(`${refused.before ?? ""}${own}${refused.after ?? ""}`);
      expect(theirs.calls).toEqual([]);
      expect(ours.calls).toEqual([]);
      if (refused.inCluster === undefined) return;
      const told = eventFacts(await cluster.events(theirs.pod, 1));
      expect(told).toMatchObject([{ type: "Warning", reason: "NoNetworkFound" }]);
      const isAlike = !words.includes("{namespace}");
      expect(eventFacts(await cluster.events(ours.pod, 1))).toMatchObject(isAlike ? told : [{ message: own }]);
    });
  }

  for (const served of missing === undefined ? servedByBoth : []) {
    test(`${served.what}: both run the same plugins with the same arguments and the same configuration`, async () => {
      const [theirs, ours] = await both(served.annotations);
      expect(ours.calls.map((call) => factsOf(call, ours))).toEqual(theirs.calls.map((call) => factsOf(call, theirs)));
      expect(await cluster.status(ours.pod)).toBe((await cluster.status(theirs.pod)) ?? "");
    });
  }

  for (const status of missing === undefined ? statusCases : []) {
    test(`network-status and events of ${status.what}: the same bytes`, async () => {
      await program(cluster.lab, status);
      const [theirs, ours] = await both(status.annotations ?? {}, status.confOf?.(cluster.lab));
      expect(resultOf(ours)).toBe(resultOf(theirs));
      expect(await cluster.status(ours.pod)).toBe(await cluster.status(theirs.pod));
      const told = await cluster.events(theirs.pod, status.events);
      expect(told).toHaveLength(status.events);
      expect(eventFacts(await cluster.events(ours.pod, status.events))).toEqual(eventFacts(told));
    });
  }

  test("a default route without a gateway: Multus writes that the gateway is nil, Levee writes none", async () => {
    await program(cluster.lab, routeWithoutGateway);
    const [theirs, ours] = await both({});
    const nil = ',\n    "gateway": [\n        "\\u003cnil\\u003e"\n    ]';
    expect(await cluster.status(theirs.pod)).toContain(nil);
    expect(await cluster.status(ours.pod)).toBe((await cluster.status(theirs.pod))?.replace(nil, ""));
  });

  function messageOf({ outcome }: Deed): string {
    expect(outcome.exitCode).toBe(1);
    const { msg } = JSON.parse(outcome.stdout) as { msg: string };
    // Multus' shim puts the daemon's answer between quotes, and the whole configuration behind it.
    return msg.replace(/\n': StdinData: .*$/su, "");
  }
});

/** The result as it was printed, less the name of the sandbox. */
function resultOf({ outcome, call }: Deed): string {
  expect(outcome.exitCode).toBe(0);
  return outcome.stdout.replaceAll(call.netns ?? "", "NETNS");
}

/** What a plugin was given, less what differs between two pods, and what differs on purpose (docs/compat.md). */
function factsOf({ command, plugin, ifname, env, stdin }: PluginCall, { pod, call }: Deed): object {
  const plain = (text: string): string =>
    text
      .replaceAll(pod.metadata.uid, "UID")
      .replaceAll(call.containerId, "CONTAINER")
      .replaceAll(/K8S_POD_NAMESPACE=[^;]*/gu, "K8S_POD_NAMESPACE=NAMESPACE")
      .replaceAll(/"CNIDeviceInfoFile":"[^"]*\/cni\//gu, '"CNIDeviceInfoFile":"');
  const { capabilities: _kept, prevResult, ...given } = JSON.parse(plain(stdin)) as Record<string, unknown>;
  return {
    run: `${command} ${plugin} ${ifname}`,
    args: plain(env["CNI_ARGS"] ?? ""),
    path: env["CNI_PATH"],
    stdin: given,
    hasPrevResult: prevResult !== undefined,
  };
}

/** Levee beside the real Multus v4.3.0: the same pods, networks and plugins, and what the two of them make of it. */
import { describe, expect, test } from "bun:test";
import { networksOfTable, refusedByBoth, servedByBoth } from "../conformance/compat-8-cases.ts";
import { confCases, writeConfs } from "../conformance/compat-8-conf-cases.ts";
import { resultCases } from "../conformance/compat-8-results.ts";
import type { CniCall, CniOutcome, PluginCall } from "../lab/lab.ts";
import { trial, trials } from "../hostile/random.ts";
import { CompatCluster, networksAnnotation, node, type Pod } from "./compat/compat-cluster.ts";
import { filesOf } from "./compat/compat-files.ts";
import { randomResult } from "./compat/compat-random-result.ts";
import { MultusNode, missingForMultus } from "./compat/compat-multus-node.ts";
import { eventFacts, program, routeWithoutGateway, statusCases } from "./compat/compat-status-cases.ts";
import { needsServer } from "./needs-server.ts";

const { group, isPossible, beforeAll, afterAll } = needsServer("compat-multus", missingForMultus());

/** One meta-CNI's work for a pod. */
interface Deed {
  readonly pod: Pod;
  readonly call: CniCall;
  readonly outcome: CniOutcome;
  readonly calls: readonly PluginCall[];
  /** What DEL ran, and whether it handed over a result. */
  readonly undone: readonly string[];
}

const plainAnswers = { what: "plain results", answers: {}, events: 0 };

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

/** Two pods of one name, one for each; the calls of the plugins are told apart. `more` is what else the runtime says. */
async function both(
  annotations: Readonly<Record<string, string>>,
  given?: object,
  more: Partial<CniCall> = {},
): Promise<readonly [Deed, Deed]> {
  const { lab } = cluster;
  const conf = { ...(given ?? primary) };
  count += 1;
  const deeds: Deed[] = [];
  for (const namespace of ["multus", "default"]) {
    const pod = await cluster.pod(`pod-${count}`, annotations, { namespace });
    const call = { ...cluster.call(pod, conf), ...more };
    await lab.forgetCalls();
    const isMultus = namespace === "multus";
    const outcome = isMultus ? await multus.cni("ADD", call, conf) : await lab.cni("ADD", call);
    const calls = await lab.calls();
    await lab.forgetCalls();
    await (isMultus ? multus.cni("DEL", call, conf) : lab.cni("DEL", call));
    const undone = (await lab.calls()).map(
      ({ command, plugin, ifname, stdin }) => `${command} ${plugin} ${ifname} ${stdin.includes('"prevResult"')}`,
    );
    deeds.push({ pod, call, outcome, calls, undone });
  }
  return deeds as [Deed, Deed];
}

function messageOf({ outcome }: Deed): string {
  expect(outcome.exitCode).toBe(1);
  // skel looks at the namespace after the plugin ran, so an error may follow a printed result.
  const [error = outcome.stdout] = /\{[^{}]*"msg"[^]*$/u.exec(outcome.stdout) ?? [];
  const { msg } = JSON.parse(error) as { msg: string };
  // Multus' shim puts the daemon's answer between quotes, and the whole configuration behind it.
  return msg.replace(/\n': StdinData: .*$/su, "");
}

group("Levee and Multus on what is asked", () => {
  for (const refused of isPossible ? refusedByBoth("{confDir}") : []) {
    test(`${refused.what}: both refuse it in the same words`, async () => {
      const [theirs, ours] = await both(refused.annotations);
      const words = `${refused.words}${refused.inCluster ?? ""}`.replaceAll("{confDir}", cluster.lab.path("confdir"));
      expect(messageOf(theirs)).toEndWith(words.replaceAll("{namespace}", "multus"));
      const own = words.replaceAll("{namespace}", "default");
      expect(messageOf(ours)).toBe(`${refused.before ?? ""}${own}${refused.after ?? ""}`);
      expect([...theirs.calls, ...ours.calls]).toEqual([]);
      if (refused.inCluster === undefined) return;
      const told = eventFacts(await cluster.events(theirs.pod, 1));
      expect(told).toMatchObject([{ type: "Warning", reason: "NoNetworkFound" }]);
      const isAlike = !words.includes("{namespace}");
      expect(eventFacts(await cluster.events(ours.pod, 1))).toMatchObject(isAlike ? told : [{ message: own }]);
    });
  }

  for (const served of isPossible ? servedByBoth : []) {
    test(`${served.what}: both run the same plugins with the same arguments and the same configuration`, async () => {
      await program(cluster.lab, { what: served.what, answers: served.answers ?? {}, events: 0 });
      const [theirs, ours] = await both(served.annotations);
      await program(cluster.lab, plainAnswers);
      expectSameRuns(theirs, ours);
      expect(await cluster.status(ours.pod)).toBe((await cluster.status(theirs.pod)) ?? "");
    });
  }

  describe("by the runtime's conf", () => {
    beforeAll(() => writeConfs(cluster.lab));

    for (const { what, conf, annotations = {}, words, isLostByMultus = false, before = "", after = "" } of confCases) {
      test(what, async () => {
        const [theirs, ours] = await both(annotations, conf(cluster.lab));
        if (words === undefined) {
          expectSameRuns(theirs, ours);
          if (!isLostByMultus) expect(ours.undone).toEqual(theirs.undone);
          expect(await cluster.status(ours.pod)).toBe((await cluster.status(theirs.pod)) ?? "");
          return;
        }
        expect(messageOf(theirs)).toEndWith(words.replaceAll("{namespace}", "multus"));
        expect(messageOf(ours)).toBe(`${before}${words.replaceAll("{namespace}", "default")}${after}`);
        expect([...theirs.calls, ...ours.calls]).toEqual([]);
      });
    }
  });
});

group("Levee and Multus on what came of it", () => {
  for (const { what, version, networkVersion = version, answer, printed } of isPossible ? resultCases : []) {
    test(`the runtime reads ${what}: the same bytes`, async () => {
      const { lab } = cluster;
      await program(lab, { what, answers: { first: answer }, events: 0 });
      const delegates = [{ cniVersion: networkVersion, name: "one", ...lab.conf("first") }];
      const [theirs, ours] = await both({}, { cniVersion: version, delegates });
      expect(resultOf(theirs)).toBe(printed);
      expect(resultOf(ours)).toBe(printed);
      expect(ours.undone).toEqual(theirs.undone);
    });
  }

  for (const status of isPossible ? statusCases : []) {
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

  test("thirty results at random: the same answer and the same network-status", async () => {
    const { lab } = cluster;
    for (const random of isPossible ? trials(30) : []) {
      const [first, second] = [randomResult(random), randomResult(random)];
      await program(lab, { what: "", answers: { first, second }, events: 0 });
      const delegates = [{ cniVersion: first.cniVersion, name: "primary", ...lab.conf("first") }];
      const conf = { cniVersion: random.pick(["0.3.1", "1.0.0", "1.1.0"]), delegates };
      const [theirs, ours] = await both({ [networksAnnotation]: "nets/lan" }, conf);
      await trial(random, JSON.stringify({ first, second }), async () => {
        expect(ours.outcome.exitCode).toBe(theirs.outcome.exitCode);
        expect(await cluster.status(ours.pod)).toBe(await cluster.status(theirs.pod));
        if (theirs.outcome.exitCode === 0) expect(resultOf(ours)).toBe(resultOf(theirs));
      });
    }
  });

  test("the files that each leaves for DEL hold the same", async () => {
    const { lab } = cluster;
    const asked = '{"name":"caps","namespace":"nets","interface":"d0","mac":"02:00:00:00:00:09","ips":["10.1.1.5/24"]}';
    const annotations = { [networksAnnotation]: `[${asked},{"name":"dmz","namespace":"nets"}]` };
    const answer = { cniVersion: "1.0.0", ips: [{ address: "10.9.0.2/24", gateway: "10.9.0.1" }] };
    const old = { cniVersion: "0.3.1", ips: [{ version: "4", address: "10.9.0.2/24" }], dns: {} };
    await program(lab, { what: "", answers: { first: answer, second: answer, third: old }, events: 0 });
    const pods = [
      await cluster.pod("kept", annotations, { namespace: "multus" }),
      await cluster.pod("kept", annotations),
    ];
    const [theirPod, ourPod] = pods as [Pod, Pod];
    const [theirCall, ourCall] = [cluster.call(theirPod, primary), cluster.call(ourPod, primary)];
    await multus.cni("ADD", theirCall, primary);
    await lab.cni("ADD", ourCall);
    const theirs = await filesOf(multus.cacheDir, { pod: theirPod, call: theirCall, count: 4 }, lab);
    expect(await filesOf(lab.cniDir, { pod: ourPod, call: ourCall, count: 4 }, lab)).toEqual(theirs);
  });

  test("a default route without a gateway: Multus writes that the gateway is nil, Levee writes none", async () => {
    await program(cluster.lab, routeWithoutGateway);
    const [theirs, ours] = await both({});
    const nil = ',\n    "gateway": [\n        "\\u003cnil\\u003e"\n    ]';
    expect(await cluster.status(theirs.pod)).toContain(nil);
    expect(await cluster.status(ours.pod)).toBe((await cluster.status(theirs.pod))?.replace(nil, ""));
  });
});

group("Levee and Multus on the runtime's other variables", () => {
  // Both programs and this test share the host's namespace, whose eth0 is not to be asked for.
  const host = { netns: `/proc/${process.pid}/ns/net`, ifname: "lab0" };

  test("the host's own namespace: both refuse it in the same words, and Levee before a plugin ran", async () => {
    const [theirs, ours] = await both({}, undefined, host);
    expect(messageOf(ours)).toBe(messageOf(theirs));
    expect(messageOf(ours)).toBe("plugin's netns and netns from CNI_NETNS should not be the same");
    expect(ours.calls).toEqual([]);
    expect(theirs.calls).toHaveLength(1);
  });

  test.each(["1", "true", "TRUE", "True"])("CNI_NETNS_OVERRIDE=%s: both serve it", async (value) => {
    const [theirs, ours] = await both({}, undefined, { ...host, env: { CNI_NETNS_OVERRIDE: value } });
    expect(resultOf(ours)).toBe(resultOf(theirs));
    expectSameRuns(theirs, ours);
    expect(ours.undone).toEqual(theirs.undone);
  });

  test.each(["0", "yes", "2"])("CNI_NETNS_OVERRIDE=%s is none: both refuse", async (value) => {
    const [theirs, ours] = await both({}, undefined, { ...host, env: { CNI_NETNS_OVERRIDE: value } });
    expect(messageOf(ours)).toBe(messageOf(theirs));
    expect(ours.calls).toEqual([]);
  });

  test("TRACEPARENT, TRACESTATE and BAGGAGE: the same result; Levee's plugins get them, Multus' do not", async () => {
    const env = {
      TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      TRACESTATE: "vendor=x",
      BAGGAGE: "team=net,user=a%20b",
    };
    const [theirs, ours] = await both({ [networksAnnotation]: "nets/lan" }, undefined, { env });
    expect(resultOf(ours)).toBe(resultOf(theirs));
    expectSameRuns(theirs, ours);
    const traced = ({ calls }: Deed): object[] =>
      calls.map((call) => Object.fromEntries(Object.keys(env).map((name) => [name, call.env[name]])));
    expect(traced(ours)).toEqual([env, env]);
    // The daemon of a thick Multus runs them with its own environment.
    const none = { TRACEPARENT: undefined, TRACESTATE: undefined, BAGGAGE: undefined };
    expect(traced(theirs)).toEqual([none, none]);
  });
});

function expectSameRuns(theirs: Deed, ours: Deed): void {
  expect(ours.calls.map((call) => factsOf(call, ours))).toEqual(theirs.calls.map((call) => factsOf(call, theirs)));
}

/** The result as it was printed, less the name of the sandbox. */
function resultOf({ outcome, call }: Deed): string {
  expect(outcome.exitCode).toBe(0);
  return outcome.stdout.replaceAll(call.netns ?? "", "NETNS");
}

/** A plugin's input without what differs between two pods, and what differs on purpose (docs/compat.md). */
function factsOf({ command, plugin, ifname, env, stdin }: PluginCall, { pod, call }: Deed): object {
  const plain = (text: string): string =>
    text
      .replaceAll(pod.metadata.uid, "UID")
      .replaceAll(call.containerId, "CONTAINER")
      .replaceAll(/K8S_POD_NAMESPACE=[^;]*/gu, "K8S_POD_NAMESPACE=NAMESPACE")
      .replaceAll(/"CNIDeviceInfoFile":"[^"]*\/cni\//gu, '"CNIDeviceInfoFile":"');
  const { prevResult, ...given } = JSON.parse(plain(stdin)) as Record<string, unknown>;
  // Multus leaves them in. A case may write them in other letters.
  for (const key of Object.keys(given)) if (key.toLowerCase() === "capabilities") delete given[key];
  // A conf without one has Multus' plugins run with an empty version.
  if (given["cniVersion"] === "") given["cniVersion"] = "0.1.0";
  return {
    run: `${command} ${plugin} ${ifname}`,
    args: plain(env["CNI_ARGS"] ?? ""),
    path: env["CNI_PATH"],
    stdin: given,
    hasPrevResult: prevResult !== undefined,
  };
}

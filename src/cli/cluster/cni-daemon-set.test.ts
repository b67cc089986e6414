import { describe, expect, test } from "bun:test";
import { cniDaemonSet } from "./cni-daemon-set.ts";

const ours = { "app.kubernetes.io/name": "levee", "app.kubernetes.io/component": "daemon" };

function daemonSet(namespace: string, name: string, changes: { labels?: object; image?: string } = {}): object {
  const { labels = {}, image = "example.com/none" } = changes;
  return {
    metadata: { namespace, name, labels },
    spec: { template: { spec: { containers: [{ name: "main", image }] } } },
  };
}

function partOf(item: object, told: readonly string[] = []): string | undefined {
  return cniDaemonSet(item, told)?.part;
}

describe("cniDaemonSet", () => {
  test("finds Levee's parts by their labels, whatever their names and namespaces are", () => {
    expect(partOf(daemonSet("kube-system", "kube-multus-ds", { labels: { ...ours, name: "multus" } }))).toBe("daemon");
    expect(partOf(daemonSet("networking", "levee", { labels: ours }))).toBe("daemon");
    const hand = { ...ours, "app.kubernetes.io/component": "hand" };
    expect(partOf(daemonSet("a", "b", { labels: hand }))).toBe("hand");
  });

  test("finds Multus by its image, under the names of a distribution", () => {
    for (const image of [
      "ghcr.io/k8snetworkplumbingwg/multus-cni:v4.2.2-thick",
      "rancher/hardened-multus-cni:v4.2.3-build20251031",
      "registry.example:5000/mirror/multus-cni@sha256:1",
    ])
      expect(partOf(daemonSet("kube-system", "rke2-multus", { image }))).toBe("multus");
  });

  test("takes what the guard was told", () => {
    expect(partOf(daemonSet("net", "cilium"), ["net/cilium"])).toBe("other");
    expect(partOf(daemonSet("net", "kube-multus-ds"), ["net/kube-multus-ds"])).toBe("multus");
  });

  test("leaves the rest out: a name alone, other parts of Levee, images that only mention Multus", () => {
    const guard = { ...ours, "app.kubernetes.io/component": "guard" };
    const near = [
      daemonSet("levee-system", "levee"),
      daemonSet("levee-system", "levee", { labels: guard }),
      daemonSet("x", "levee", { labels: { ...ours, "app.kubernetes.io/name": "levee-ui" } }),
      daemonSet("x", "kube-multus-ds"),
      daemonSet("x", "dynamic", { image: "example.com/multus-dynamic-networks-controller:v1" }),
      daemonSet("x", "agent", { image: "example.com/multus-team/agent:v1" }),
      {},
    ];
    for (const item of near) expect(partOf(item, ["net/cilium"])).toBeUndefined();
  });
});

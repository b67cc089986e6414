import { describe, expect, test } from "bun:test";
import { knownIpams } from "../../lint/ipam-keys.ts";
import type { LintFinding } from "../../lint/lint-finding.ts";
import { lintCodes, type LintCode } from "../../lint/lint-codes.ts";
import { lint } from "../../lint/lint.ts";
import { unknownCluster, type LintCluster } from "../../lint/lint-objects.ts";
import { knownPlugins } from "../../lint/plugin-keys.ts";
import { readLintSource } from "./lint-sources.ts";
import { ipam, lintCases, plugin, type LintCase } from "./lint-cases.fixture.ts";
import { nameCases } from "./name-cases.fixture.ts";

const cases: readonly LintCase[] = [...lintCases, ...nameCases];

function findingsOf(text: string, cluster: Partial<LintCluster> = {}): readonly LintFinding[] {
  const { networks, pods, findings } = readLintSource("x.yaml", text);
  return [...findings, ...lint({ networks, pods, cluster: { ...unknownCluster, ...cluster } })];
}

function codesOf(text: string, each: LintCase): readonly LintCode[] {
  return findingsOf(text, each.cluster).map(({ code }) => code);
}

describe("every rule", () => {
  // Those of a kustomization and of a comparison with the cluster need more than one text.
  const elsewhere: readonly string[] = ["LVN0103", "LVN0703"];

  test("has a file that breaks it and one that nearly does", () => {
    expect([...new Set(cases.map(({ code }) => code)), ...elsewhere].toSorted()).toEqual(
      Object.keys(lintCodes).toSorted(),
    );
  });

  for (const each of cases) {
    test(`${each.code}: ${each.what}`, () => {
      expect(codesOf(each.broken, each)).toContain(each.code);
      expect(codesOf(each.near, each)).not.toContain(each.code);
    });
  }

  for (const each of cases.filter(({ at }) => at !== undefined)) {
    test(`${each.code} points at ${each.at ?? ""}: ${each.what}`, () => {
      const finding = findingsOf(each.broken, each.cluster).find(({ code }) => code === each.code);
      expect(`${finding?.place.line ?? 0}:${finding?.place.column ?? 0}`).toBe(each.at ?? "");
    });
  }
});

test("a good network has no findings", () => {
  const good = `apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: lan, namespace: prod}
spec:
  config: |
    {"cniVersion": "1.0.0", "name": "lan", "plugins": [
      {"type": "macvlan", "master": "eth1", "mode": "bridge", "mtu": 1500,
       "ipam": {"type": "whereabouts", "range": "192.168.2.225/28", "exclude": ["192.168.2.229/30"]}},
      {"type": "tuning", "sysctl": {"net.core.somaxconn": "500"}, "capabilities": {"mac": true}}
    ]}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: prod, annotations: {k8s.v1.cni.cncf.io/networks: lan}}
`;
  expect(findingsOf(good)).toEqual([]);
});

test("a misspelt key comes with the right one", () => {
  const slips: readonly (readonly [string, string, string])[] = [
    ["bridge", "brigde", "bridge"],
    ["bridge", "is_gateway", "isGateway"],
    ["macvlan", "masters", "master"],
    ["vlan", "vlan", "vlanId"],
    ["sriov", "max_tx_rates", "max_tx_rate"],
    ["ovs", "vlanTag", "vlan"],
    ["bond", "xmit_hash_policy", "xmitHashPolicy"],
    ["cnv-bridge", "macspoofcheck", "macspoofchk"],
    ["host-device", "pciBusId2", "pciBusID"],
  ];
  const found = slips.map(([type, key]) => {
    const value = ["vlan", "max_tx_rates", "vlanTag"].includes(key)
      ? "1"
      : key === "is_gateway" || key === "macspoofcheck"
        ? "true"
        : '"x"';
    const config = `{"cniVersion":"1.0.0","type":"${type}","${key}":${value}}`;
    const text = `{"apiVersion":"k8s.cni.cncf.io/v1","kind":"NetworkAttachmentDefinition","metadata":{"name":"a"},"spec":{"config":${JSON.stringify(config)}}}`;
    return findingsOf(text).find(({ code }) => code === "LVN0301")?.remedy ?? "";
  });
  expect(found).toEqual(slips.map(([, key, right]) => (key === "vlanTag" ? "" : `did you mean "${right}"?`)));
});

test("a misspelt name of a plugin comes with the right one, and other unknown names are left alone", () => {
  const named = (type: string): string => findingsOf(plugin(`"type": "${type}"`)).find(isName)?.remedy ?? "";
  const addressing = (type: string): string => findingsOf(ipam(`"type": "${type}"`)).find(isName)?.remedy ?? "";
  const slips = ["brigde", "macvlna", "Bridge", "host_device", "ib-srov", "tunning"].map(named);
  expect(slips).toEqual(["bridge", "macvlan", "bridge", "host-device", "ib-sriov", "tuning"].map(meant));
  expect(["host-loacl", "hostlocal", "whereabout"].map(addressing)).toEqual(
    ["host-local", "host-local", "whereabouts"].map(meant),
  );
  const others = ["macvtap", "vxlan", "calico", "flannel", "cilium-cni", "kube-ovn", "rdma", "bridge2", "bridge-cni"];
  expect([...knownPlugins, ...others].map(named).join("")).toBe("");
  expect([...knownIpams, "calico-ipam", "nv-ipam", "spiderpool", "dhcp6"].map(addressing).join("")).toBe("");
});

function isName({ code }: LintFinding): boolean {
  return code === "LVN0305";
}

function meant(name: string): string {
  return `did you mean "${name}"?`;
}

test("a misspelt key of spec comes with the right one, in place of the note that there is none", () => {
  const findings = (key: string): readonly string[] =>
    findingsOf(plugin('"type": "bridge"').replace("config:", `${key}:`)).map(({ code, remedy }) => `${code} ${remedy}`);
  for (const key of ["confg", "Config", "conf", "configs"])
    expect(findings(key)).toEqual(['LVN0301 did you mean "config"?']);
  expect(findings("note")).toEqual(["LVN0203 "]);
});

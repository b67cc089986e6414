/** The policy that warns of network definitions, tried on a real API server: which texts it warns of, and that it refuses none. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { missingForApiServer, PolicyServer } from "./policy-server.ts";
import { until } from "./until.ts";

const deploy = join(import.meta.dir, "../../deploy");
const missing = missingForApiServer();
if (missing !== undefined) console.warn(`network-warnings: skipped, ${missing}`);

/** Each configuration with the codes that it is warned of. */
const cases: readonly (readonly [string, string, readonly string[]])[] = [
  ["a good one", '{"cniVersion": "1.0.0", "name": "lan", "type": "bridge", "vlan": 4094, "mtu": 1500}', []],
  ["a list", '\n  {"cniVersion": "0.3.1", "plugins": [{"type": "bridge"}, {"type": "tuning"}]}\n', []],
  ["nothing, so that a file is meant", "  ", []],
  ["another text", "type: bridge", ["LVN0201"]],
  ["a comma too many", '{"cniVersion": "1.0.0", "plugins": [{"type": "bridge"},\n]}', ["LVN0201"]],
  ["no plugin", '{"cniVersion": "1.0.0"}', ["LVN0205"]],
  ["an unknown version", '{"cniVersion": "1.2.0", "type": "bridge"}', ["LVN0206"]],
  ["several versions", '{"cniVersion": "1.2.0", "cniVersions": ["1.0.0"], "type": "bridge"}', []],
  ["another name", '{"cniVersion": "1.0.0", "name": "wan", "type": "bridge"}', ["LVN0209"]],
  ["a shared name of OVN", '{"cniVersion": "1.0.0", "name": "wan", "type": "ovn-k8s-cni-overlay"}', []],
  [
    "names of links beside the own",
    '{"cniVersion": "1.0.0", "name": "lan", "type": "bond", "links": [{"name": "net1"}]}',
    [],
  ],
  ["VLAN 4095", '{"cniVersion": "1.0.0", "type": "vlan", "vlanId": 4095}', ["LVN0401"]],
  ["VLAN 40", '{"cniVersion": "1.0.0", "type": "bridge", "vlan": 40, "vlanTrunk": [{"id": 4094}]}', []],
  ["a number in quotes", '{"cniVersion": "1.0.0", "type": "bridge", "mtu": "1500"}', ["LVN0303"]],
];

describe.skipIf(missing !== undefined)("levee-network-warnings", () => {
  let server: PolicyServer;

  beforeAll(async () => {
    server = await PolicyServer.start();
    server.must(["apply", "-f", join(deploy, "crd/network-attachment-definition.yaml")]);
    server.must(["wait", "--for=condition=Established", "crd/network-attachment-definitions.k8s.cni.cncf.io"]);
    server.must(["apply", "-f", "-"], readFileSync(join(deploy, "base/network-warnings.yaml"), "utf8"));
    // The server reads a new policy some time after it has taken it.
    await until("the policy warns", () => codesOf("type: bridge").length > 0 || undefined);
  }, 120_000);
  afterAll(() => server.stop());

  /** Server-side dry runs are admitted as the real thing. */
  function codesOf(config: string, verb: readonly string[] = ["create", "--dry-run=server"]): readonly string[] {
    const object = {
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name: "lan", namespace: "default" },
      spec: { config },
    };
    const { status, stderr } = server.kubectl([...verb, "-f", "-"], { input: JSON.stringify(object) });
    expect(status === 0 ? "" : stderr).toBe("");
    return [...stderr.matchAll(/LVN\d{4}/gu)].map(([code]) => code);
  }

  test.each(cases)("%s", (_, config, codes) => {
    expect(codesOf(config)).toEqual([...codes]);
  });

  test("a changed configuration warns of pods that keep the old one; other changes do not", () => {
    const apply = ["apply"];
    expect(codesOf('{"cniVersion": "1.0.0", "type": "bridge"}', apply)).toEqual([]);
    expect(codesOf('{"cniVersion": "1.0.0", "type": "bridge", "mtu": 9000}', apply)).toEqual(["LVN0703"]);
    const label = server.kubectl(["label", "network-attachment-definitions", "lan", "a=b"]);
    expect(label).toMatchObject({ status: 0, stderr: "" });
    expect(server.kubectl(["delete", "network-attachment-definitions", "lan"])).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  test("a text of 200 KiB is admitted", () => {
    const config = `{"cniVersion": "1.0.0", "type": "bridge", "_": "${"x,".repeat(100_000)}"}`;
    expect(codesOf(config)).toEqual([]);
  });
});

import { describe, expect, test } from "bun:test";
import { asJsonText } from "../cni/json-text.ts";
import { parseDaemonConfig } from "./daemon-config.ts";
import { hostSocketDir, shimConf, type ShimConfOptions } from "./shim-conf.ts";

function confOf(daemon: object, options: ShimConfOptions = { cniVersion: "1.0.0" }): string {
  return shimConf(parseDaemonConfig(JSON.stringify(daemon), "daemon-config.json"), options);
}

describe("shimConf", () => {
  test("has all the shim needs, with the defaults", () => {
    expect(JSON.parse(confOf({}))).toEqual({
      cniVersion: "1.0.0",
      name: "levee",
      type: "levee-shim",
      capabilities: { "io.kubernetes.cri.pod-annotations": true },
      daemonSocketDir: "/run/levee",
      stateDir: "/var/lib/levee",
      addBudgetMs: 110_000,
      addUndoMs: 8_000,
      delBudgetMs: 50_000,
      delPatienceMs: 2_000,
    });
  });

  test("takes over what the daemon's configuration says", () => {
    const daemon = {
      name: "node",
      stateDir: "/s/",
      delPatienceMs: 500,
      delBudgetMs: 49_000,
      addBudgetMs: 60_000,
      capabilities: { portMappings: true },
    };
    expect(JSON.parse(confOf(daemon))).toMatchObject({
      name: "node",
      stateDir: "/s",
      delPatienceMs: 500,
      delBudgetMs: 49_000,
      addBudgetMs: 60_000,
      capabilities: { "portMappings": true, "io.kubernetes.cri.pod-annotations": true },
    });
  });

  test("prefers the name it is given", () => {
    expect(JSON.parse(confOf({ name: "node" }, { cniVersion: "0.3.1", name: "demo" }))).toMatchObject({
      name: "demo",
      cniVersion: "0.3.1",
    });
  });

  test("carries delegates byte by byte", () => {
    const delegate = '{ "type":"bridge", "mtu":1500.0, "id":9007199254740993, "a":1, "a":2 }';
    const conf = confOf({}, { cniVersion: "1.0.0", delegates: [asJsonText(delegate, "a"), asJsonText("{}", "b")] });
    expect(conf).toEndWith(`,"delegates":[${delegate},{}]}`);
    expect(() => asJsonText(conf, "the conf")).not.toThrow();
  });

  test("carries a cluster network, and quotes it", () => {
    expect(JSON.parse(confOf({}, { cniVersion: "1.0.0", clusterNetwork: 'a"b' }))).toMatchObject({
      clusterNetwork: 'a"b',
    });
    expect(confOf({})).not.toContain("clusterNetwork");
  });

  test("names no setting that only the daemon uses", () => {
    const conf = confOf({ directory: "/d", socketDir: "/host/run/x", attachCeiling: 2, clusterNetwork: "lan" });
    expect(conf).not.toMatch(/directory|attachCeiling|clusterNetwork|"socketDir"/u);
  });
});

describe("hostSocketDir", () => {
  test.each([
    [{}, "/run/levee"],
    [{ socketDir: "/host/run/multus/" }, "/run/multus"],
    [{ socketDir: "/hostile/run" }, "/hostile/run"],
    [{ socketDir: "/run/x" }, "/run/x"],
    [{ socketDir: "/host/run/multus/", daemonSocketDir: "/var/run/m/" }, "/var/run/m"],
  ])("of %j is %s", (daemon, folder) => {
    expect(hostSocketDir(parseDaemonConfig(JSON.stringify(daemon), "x"))).toBe(folder);
  });
});

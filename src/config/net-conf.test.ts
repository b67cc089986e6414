import { describe, expect, test } from "bun:test";
import { asJsonText } from "../cni/json-text.ts";
import { parseDaemonConfig } from "./daemon-config.ts";
import { effectiveNetConf, type NetConf } from "./net-conf.ts";
import { ConfigError } from "./problem.ts";

function confOf(stdin: object | string, daemon: object | string = {}): NetConf {
  const text = typeof stdin === "string" ? stdin : JSON.stringify(stdin);
  const daemonText = typeof daemon === "string" ? daemon : JSON.stringify(daemon);
  return effectiveNetConf(asJsonText(text, "stdin"), parseDaemonConfig(daemonText, "daemon-config.json"));
}

function problemsOf(stdin: object | string, daemon: object | string = {}): ConfigError {
  try {
    confOf(stdin, daemon);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown;
    throw thrown;
  }
  throw new Error("no problem was found");
}

describe("effectiveNetConf", () => {
  test("has Multus' defaults for an empty conf", () => {
    expect(confOf({})).toEqual({
      cniVersion: "",
      callVersion: "",
      name: "",
      delegates: [],
      clusterNetwork: "",
      defaultNetworks: [],
      systemNamespaces: ["kube-system"] as never,
      multusNamespace: "kube-system" as never,
      namespaceIsolation: false,
      globalNamespaces: ["default"] as never,
      readinessindicatorfile: "",
      auxiliaryCNIChainName: "",
      confDir: "/etc/cni/multus/net.d",
      binDir: "/opt/cni/bin",
      cniDir: "/var/lib/cni/multus",
      runtimeConfig: {},
      validAttachments: undefined,
      prevResult: undefined,
      text: "{}" as never,
    });
  });

  test("reads every key from stdin", () => {
    const stdin = {
      "cniVersion": "1.1.0",
      "name": "node",
      "type": "levee-shim",
      "capabilities": { portMappings: true },
      "delegates": [{ type: "bridge" }],
      "clusterNetwork": "lan",
      "defaultNetworks": ["a", "b"],
      "systemNamespaces": ["infra"],
      "multusNamespace": "multus",
      "namespaceIsolation": true,
      "globalNamespaces": " foo,bar ,default",
      "readinessindicatorfile": "/run/ready",
      "auxiliaryCNIChainName": "vendor-chain",
      "confDir": "/c/",
      "binDir": "/b",
      "cniDir": "/d",
      "runtimeConfig": { mac: "02:00:00:00:00:01" },
      "prevResult": { cniVersion: "1.1.0" },
      "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "eth0" }],
      "kubeconfig": "/k",
      "logFile": "/l",
    };
    expect(confOf(stdin)).toMatchObject({
      cniVersion: "1.1.0",
      callVersion: "1.1.0",
      name: "node",
      delegates: ['{"type":"bridge"}' as never],
      clusterNetwork: "lan",
      defaultNetworks: ["a", "b"],
      systemNamespaces: ["infra" as never],
      multusNamespace: "multus" as never,
      namespaceIsolation: true,
      globalNamespaces: ["foo", "bar", "default"] as never,
      readinessindicatorfile: "/run/ready",
      auxiliaryCNIChainName: "vendor-chain",
      confDir: "/c",
      binDir: "/b",
      cniDir: "/d",
      runtimeConfig: { mac: '"02:00:00:00:00:01"' as never },
      prevResult: '{"cniVersion":"1.1.0"}' as never,
      validAttachments: [{ containerID: "c1" as never, ifname: "eth0" as never }],
    });
  });

  test("keeps the text of delegates, capabilities and results", () => {
    const delegate = '{ "type":"x", "mtu":1500.0, "id":9007199254740993, "a":1, "a":2 }';
    const conf = confOf(
      `{"delegates":[ ${delegate} ],"runtimeConfig":{"n": 1.50},"prevResult":{"big":12345678901234567890},"x": 1e2}`,
    );
    expect(conf.delegates.map(String)).toEqual([delegate]);
    expect(String(conf.runtimeConfig["n"])).toBe("1.50");
    expect(String(conf.prevResult)).toBe('{"big":12345678901234567890}');
    expect(String(conf.text)).toContain('"x":1e2');
  });

  test("cannot be changed afterwards", () => {
    const conf = confOf({ delegates: [{}] });
    expect(Object.isFrozen(conf) && Object.isFrozen(conf.delegates) && Object.isFrozen(conf.runtimeConfig)).toBe(true);
  });
});

describe("effectiveNetConf lays the daemon's configuration over the call's", () => {
  test("with the daemon winning, whole values at a time", () => {
    const conf = confOf(
      { binDir: "/a", runtimeConfig: { mac: "x", ips: [] }, confDir: "/kept" },
      { binDir: "/b", runtimeConfig: { mac: "y" } },
    );
    expect(conf).toMatchObject({ binDir: "/b", confDir: "/kept" });
    expect(Object.keys(conf.runtimeConfig)).toEqual(["mac"]);
  });

  test("without regard to the case of keys", () => {
    const conf = confOf({ binDir: "/a", BINDIR: "/a2" }, { BinDir: "/b" });
    expect(conf.binDir).toBe("/b");
    expect(String(conf.text)).toBe('{"BinDir":"/b"}');
  });

  test("with null in the daemon's configuration taking a key away", () => {
    expect(confOf({ clusterNetwork: "lan" }, { clusterNetwork: null }).clusterNetwork).toBe("");
  });

  test("as text, so that nothing in it changes", () => {
    expect(String(confOf("{}", '{"x": 9007199254740993, "y": {"z":1500.0}}').text)).toBe(
      '{"x":9007199254740993,"y":{"z":1500.0}}',
    );
  });

  test("keeping the version that the runtime expects in the answer", () => {
    expect(confOf({ cniVersion: "1.1.0" }, { cniVersion: "0.3.1" })).toMatchObject({
      callVersion: "1.1.0",
      cniVersion: "0.3.1",
    });
  });

  test("but never what belongs to a single call", () => {
    const daemon = { "cni.dev/valid-attachments": [], "CNI.dev/Attachments": [], "prevResult": { a: 1 } };
    expect(confOf({}, daemon)).toMatchObject({ validAttachments: undefined, prevResult: undefined });
    const attachments = [{ containerID: "c", ifname: "eth0" }];
    expect(confOf({ "cni.dev/valid-attachments": attachments }, daemon).validAttachments as unknown).toEqual(
      attachments,
    );
  });
});

describe("effectiveNetConf reads the list of valid attachments", () => {
  test("under its older key as well, and an empty one as empty", () => {
    expect(confOf({ "cni.dev/attachments": [{ containerID: "c", ifname: "eth0" }] }).validAttachments).toHaveLength(1);
    expect(
      confOf({ "cni.dev/valid-attachments": [], "cni.dev/attachments": [{ containerID: "c", ifname: "e" }] })
        .validAttachments,
    ).toEqual([]);
    expect(confOf({ "cni.dev/valid-attachments": null }).validAttachments).toBeUndefined();
  });

  test.each<[unknown, string]>([
    [[{ containerID: "c" }], "cni.dev/valid-attachments[0]"],
    [
      [
        { containerID: "c", ifname: "eth0" },
        { containerID: 5, ifname: "eth0" },
      ],
      "cni.dev/valid-attachments[1]",
    ],
    [["c"], "cni.dev/valid-attachments[0]"],
    [{}, "cni.dev/valid-attachments"],
  ])("refusing %j, because GC undoes every attachment that is not on the list", (list, key) => {
    expect(problemsOf({ "cni.dev/valid-attachments": list }).problems.map((problem) => problem.key)).toEqual([key]);
  });
});

describe("effectiveNetConf refuses", () => {
  test("all problems at once, as config-invalid", () => {
    const error = problemsOf({
      cniVersion: 1,
      name: "a/b",
      delegates: ["x"],
      systemNamespaces: ["UPPER"],
      confDir: "here",
      runtimeConfig: [],
    });
    expect(error.code).toBe("config-invalid");
    expect(error.cniCode).toBe(7);
    expect(error.problems.map(({ key }) => key)).toEqual([
      "delegates[0]",
      "systemNamespaces",
      "cniVersion",
      "name",
      "confDir",
      "runtimeConfig",
    ]);
    for (const { key, seen, remedy } of error.problems) expect(error.message).toContain(`${key} is ${seen}, ${remedy}`);
  });

  test("a cniVersion on stdin that is no string, though the daemon's hides it", () => {
    expect(problemsOf({ cniVersion: 1 }, { cniVersion: "1.0.0" }).problems.map(({ key }) => key)).toEqual([
      "cniVersion",
    ]);
  });

  test.each(["[]", "null", "5", '"x"'])("%s, which is no object", (text) => {
    expect(problemsOf(text).message).toContain("give a JSON object");
  });

  test.each(["../../etc", "a/b", "..", ".hidden"])(
    "the auxiliary chain %j, which would lead out of its folder",
    (name) => {
      expect(problemsOf({ auxiliaryCNIChainName: name }).problems[0]?.key).toBe("auxiliaryCNIChainName");
    },
  );
});

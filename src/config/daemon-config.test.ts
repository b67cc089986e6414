import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { parseDaemonConfig, type DaemonConfig } from "./daemon-config.ts";
import { numberKnobs } from "./knobs.ts";
import { multusKeys } from "./multus-keys.ts";
import { ConfigError } from "./problem.ts";

const path = "/etc/levee/daemon-config.json";

function parse(config: object | string): DaemonConfig {
  return parseDaemonConfig(typeof config === "string" ? config : JSON.stringify(config), path);
}

function errorOf(config: object | string): LeveeError {
  try {
    parse(config);
  } catch (thrown) {
    if (thrown instanceof LeveeError) return thrown;
    throw thrown;
  }
  throw new Error("no problem was found");
}

function keysOf(config: object): string[] {
  const error = errorOf(config);
  return error instanceof ConfigError ? error.problems.map(({ key }) => key) : [];
}

/** Every key of Multus once, with a right value, a wrong one, and what becomes of the right one. */
const everyKey: readonly [keyof typeof multusKeys, unknown, unknown, Partial<DaemonConfig>][] = [
  ["cniVersion", "0.3.1", "0.9.0", { cniVersion: "0.3.1" }],
  ["name", "multus-cni-network", "a b", { name: "multus-cni-network" }],
  ["type", "multus-shim", 1, {}],
  ["capabilities", { portMappings: true }, { portMappings: "yes" }, { capabilities: { portMappings: true } }],
  ["ipam", {}, [], {}],
  ["dns", { nameservers: [] }, "x", {}],
  ["prevResult", {}, "x", {}],
  ["cni.dev/valid-attachments", [], {}, {}],
  ["cni.dev/attachments", [], {}, {}],
  ["runtimeConfig", { a: 1 }, [], { runtimeConfig: { a: "1" as never } }],
  ["confDir", "/etc/x/", "etc", { confDir: "/etc/x" }],
  ["cniDir", "/var/x", 1, { cniDir: "/var/x" }],
  ["binDir", "/opt/x", "./bin", { binDir: "/opt/x" }],
  ["delegates", [{ type: "bridge" }], [1], { delegates: ['{"type":"bridge"}' as never] }],
  ["clusterNetwork", "/etc/cni/net.d/10-calico.conflist", [], { clusterNetwork: "/etc/cni/net.d/10-calico.conflist" }],
  ["defaultNetworks", ["a"], "a", { defaultNetworks: ["a"] }],
  ["systemNamespaces", ["infra"], [1], { systemNamespaces: ["infra" as never] }],
  ["multusNamespace", "net", "Net", { multusNamespace: "net" as never }],
  ["namespaceIsolation", true, "true", { namespaceIsolation: true }],
  ["globalNamespaces", "a, b", ["a"], { globalNamespaces: ["a", "b"] as never }],
  ["readinessindicatorfile", "/run/ready", true, { readinessindicatorfile: "/run/ready" }],
  ["auxiliaryCNIChainName", "chain", "a/b", { auxiliaryCNIChainName: "chain" }],
  ["socketDir", "/host/run/multus/", "run", { socketDir: "/host/run/multus" }],
  ["daemonSocketDir", "/run/multus", `/${"x".repeat(72)}`, { daemonSocketDir: "/run/multus" }],
  ["metricsPort", 9091, 65_536, { metricsPort: 9091 }],
  ["logLevel", "debug", 1, { logLevel: "debug" }],
  ["cniConfigDir", "/host/etc/cni/net.d", {}, { cniConfigDir: "/host/etc/cni/net.d" }],
  ["multusConfigFile", "auto", "relative.conf", { multusConfigFile: "auto" }],
  ["multusMasterCNI", "10-calico.conflist", "../x", { multusMasterCNI: "10-calico.conflist" }],
  ["multusAutoconfigDir", "/host/etc/cni/net.d", "x", { multusAutoconfigDir: "/host/etc/cni/net.d" }],
  ["overrideNetworkName", true, 1, { overrideNetworkName: true }],
  ["kubeconfig", "/etc/kubeconfig", {}, { kubeconfig: "/etc/kubeconfig" }],
  ["chrootDir", "/hostroot", 1, {}],
  ["logFile", "/var/log/multus.log", 1, {}],
  ["logOptions", { maxAge: 5 }, [], {}],
  ["logToStderr", false, "no", {}],
  ["enablePprof", true, 1, {}],
  ["connectionLimit", 10, 0, {}],
  ["retryDeleteOnError", false, 1, {}],
  ["perNodeCertificate", { enabled: true }, true, {}],
  ["forceCNIVersion", true, "x", {}],
];

describe("parseDaemonConfig accepts", () => {
  test("every key of Multus, and this test knows them all", () => {
    expect(everyKey.map(([key]) => key)).toEqual(Object.keys(multusKeys) as (keyof typeof multusKeys)[]);
  });

  test.each(everyKey)("%s", (key, right, _wrong, expected) => {
    const config = parse({ [key]: right });
    expect(config).toMatchObject(expected);
    // A key without effect is mentioned, and no other.
    const mentions = config.notices.filter((notice) => notice.startsWith(`${key} has no effect: `));
    expect(mentions).toHaveLength(multusKeys[key].use === "used" ? 0 : 1);
    expect(config.notices).toEqual(mentions);
  });

  test.each(everyKey)("%s in another case, and null for it", (key, right, _wrong, expected) => {
    expect(parse({ [key.toUpperCase()]: right })).toMatchObject(expected);
    expect(parse({ [key]: null }).notices).toEqual([]);
  });

  test("healthPort, which is a port and not metricsPort's", () => {
    expect(parse({ healthPort: 9809, metricsPort: 9810 })).toMatchObject({ healthPort: 9809, notices: [] });
    expect(() => parse({ healthPort: 0 })).toThrow("healthPort");
    expect(() => parse({ healthPort: 9809, metricsPort: 9809 })).toThrow("set another port than metricsPort");
  });

  test("each number of ours", () => {
    for (const [key, knob] of Object.entries(numberKnobs))
      expect(parse({ [key]: knob.default })).toMatchObject({ [key]: knob.default });
    expect(parse({ attachCeiling: 3, addQueueMs: 1_000 })).toMatchObject({ attachCeiling: 3, addQueueMs: 1_000 });
  });

  test("an empty object, with all defaults", () => {
    expect(parse("{}")).toMatchObject({
      path,
      stateDir: "/var/lib/levee",
      directory: undefined,
      socketDir: "/run/levee",
      daemonSocketDir: undefined,
      binDir: "/opt/cni/bin",
      cniDir: "/var/lib/cni/multus",
      confDir: "/etc/cni/multus/net.d",
      cniConfigDir: "/etc/cni/net.d",
      multusAutoconfigDir: "/etc/cni/net.d",
      multusConfigFile: "auto",
      logLevel: "info",
      metricsPort: undefined,
      healthPort: undefined,
      capabilities: {},
      addBudgetMs: 110_000,
      rawOverlay: [],
      notices: [],
    });
  });
});

describe("parseDaemonConfig accepts, as Multus does,", () => {
  test("the file that Multus ships", () => {
    const config = parse({
      chrootDir: "/hostroot",
      cniVersion: "0.3.1",
      logLevel: "verbose",
      logToStderr: true,
      cniConfigDir: "/host/etc/cni/net.d",
      multusAutoconfigDir: "/host/etc/cni/net.d",
      multusConfigFile: "auto",
      socketDir: "/host/run/multus/",
    });
    expect(config.notices.filter((notice) => !notice.includes(" yet: "))).toEqual([
      "chrootDir has no effect: the shim runs the plugins, and it is on the host already",
    ]);
    expect(config.logLevel).toBe("info");
  });

  test.each([
    ["logToStderr", true],
    ["enablePprof", false],
    ["retryDeleteOnError", true],
    ["forceCNIVersion", false],
  ])("%s %p in silence, since it is what happens anyway", (key, value) => {
    expect(parse({ [key]: value }).notices).toEqual([]);
  });

  test.each([
    ["panic", "error"],
    ["error", "error"],
    ["VERBOSE", "info"],
    ["Debug", "debug"],
    ["warn", "warn"],
    ["", "info"],
  ] as const)("logLevel %j as %s", (given, level) => {
    expect(parse({ logLevel: given })).toMatchObject({ logLevel: level, notices: [] });
  });

  test("an unknown logLevel, as Multus does, and says so", () => {
    for (const given of ["loud", "constructor"]) {
      expect(parse({ logLevel: given }).logLevel).toBe("info");
      expect(parse({ logLevel: given }).notices).toEqual([
        `logLevel is "${given}", which is none of panic, error, warn, verbose, info, debug: info is used`,
      ]);
    }
  });

  test("unknown keys, mentioning each once and what may have been meant", () => {
    const config = parse({ readinessindicatorWait: 5, statDir: "/x", [`${"k".repeat(100)}`]: 1, addBugdetMs: 5 });
    expect(config.notices).toEqual([
      '"readinessindicatorWait" is an unknown setting and has no effect',
      '"statDir" is an unknown setting and has no effect; did you mean stateDir?',
      `"${"k".repeat(80)}" is an unknown setting and has no effect`,
      '"addBugdetMs" is an unknown setting and has no effect; did you mean addBudgetMs?',
    ]);
    expect(config.stateDir).toBe("/var/lib/levee");
  });
});

describe("parseDaemonConfig returns", () => {
  test("every member as the text it has, for the overlay", () => {
    const config = parse(
      '{ "x": 9007199254740993, "binDir" : "\\u002fopt", "delegates":[ {"type":"a","mtu":1500.0,"a":1,"a":2} ] }',
    );
    expect(config.rawOverlay.map(({ key, value }) => [key, String(value)])).toEqual([
      ["x", "9007199254740993"],
      ["binDir", '"\\u002fopt"'],
      ["delegates", '[ {"type":"a","mtu":1500.0,"a":1,"a":2} ]'],
    ]);
    expect(config.delegates.map(String)).toEqual(['{"type":"a","mtu":1500.0,"a":1,"a":2}']);
    expect(config.binDir).toBe("/opt");
  });

  test("a record that cannot be changed", () => {
    const config = parse({ delegates: [{}], capabilities: { a: true }, unknown: 1 });
    for (const part of [
      config,
      config.delegates,
      config.capabilities,
      config.rawOverlay,
      config.rawOverlay[0],
      config.notices,
      config.systemNamespaces,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test.each([
    [{}, ["kube-system"], ["default"]],
    [{ systemNamespaces: null, globalNamespaces: null }, ["kube-system"], ["default"]],
    [{ globalNamespaces: "" }, ["kube-system"], ["default"]],
    [{ systemNamespaces: [], globalNamespaces: " " }, [], []],
    [{ systemNamespaces: [""], globalNamespaces: "," }, [], []],
    [{ globalNamespaces: " ,a\u0085," }, ["kube-system"], ["a"]],
  ])("lists of namespaces as Multus does: %j", (given, systemNamespaces, globalNamespaces) => {
    expect(parse(given)).toMatchObject({ systemNamespaces, globalNamespaces });
  });
});

describe("parseDaemonConfig refuses", () => {
  test.each(everyKey)("a wrong %s", (key, _right, wrong) => {
    const error = errorOf({ [key]: wrong });
    expect(error.code).toBe("setting-invalid");
    expect(error.message).toStartWith(`Cannot use ${path}: ${key}`);
  });

  test.each(Object.entries(numberKnobs))("%s outside its bounds, and as text", (key, knob) => {
    for (const wrong of [knob.min - 1, knob.max + 1, String(knob.default), knob.default + 0.5, true])
      expect(keysOf({ [key]: wrong })).toEqual([key]);
  });

  test.each(["stateDir", "directory", "socketDir", "daemonSocketDir"])(
    "%s that is relative, the root, or no string",
    (key) => {
      for (const wrong of ["here", "/", "//", "/a/..", 5, ["/a"], "/\0"])
        expect(keysOf({ [key]: wrong })).toEqual([key]);
    },
  );

  test("all problems at once, each with key, value and remedy", () => {
    const error = errorOf({
      StateDir: "state",
      addBudgetMs: "5m",
      waitingMax: 1e9,
      delegates: [{}, "x"],
      namespaceIsolation: "yes",
      logFile: 5,
    });
    expect(error.message).toBe(
      `Cannot use ${path}: ` +
        [
          'StateDir is "state", set an absolute path of at most 1024 bytes',
          'addBudgetMs is "5m", set a whole number of milliseconds from 5000 to 110000, without quotes',
          "waitingMax is 1000000000, set a whole number from 16 to 100000",
          'delegates[1] is "x", set a list of objects',
          'namespaceIsolation is "yes", set true or false, without quotes',
          "logFile is 5, set a string",
        ].join("; "),
    );
    expect(error instanceof ConfigError && error.problems).toHaveLength(6);
  });

  test("problems in the order of the file, those of keys that are not in it last", () => {
    expect(keysOf({ waitingMax: 0, delegates: [1], StateDir: "x", addBudgetMs: 1, addbudgetms: 2 })).toEqual([
      "waitingMax",
      "delegates[0]",
      "StateDir",
      "addbudgetms",
    ]);
    expect(keysOf({ heartbeatMs: 10_000, delBudgetMs: 20_000 }).at(0)).toBe("heartbeatMs");
  });

  test.each([
    ["heartbeatMs", 1, false],
    ["heartbeatMs", true, false],
    ["heartbeatMs", "2000", true],
    ["namespaceIsolation", 1, false],
    ["namespaceIsolation", "true", true],
  ])("%s with the value %j, speaking of quotes only where there are some", (key, value, hasHint) => {
    expect(errorOf({ [key]: value }).message.endsWith(", without quotes")).toBe(hasHint);
  });

  test("budgets that do not add up, when the numbers are right by themselves", () => {
    expect(keysOf({ addBudgetMs: 39_000, delQueueMs: 47_000 })).toEqual(["addBudgetMs", "delBudgetMs"]);
    expect(keysOf({ addBudgetMs: 39_000, waitingMax: 0 })).toEqual(["waitingMax"]);
  });

  test.each([
    ["", "unexpected end of JSON input, at line 1, column 1"],
    ['{\n  "a": 1,\n  "b": }\n', "invalid character '}' looking for beginning of value, at line 3, column 8"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string, at line 1, column 8"],
    ['{\r\n"a":1\r\n"b":2}', "invalid character '\"' after object key:value pair, at line 3, column 1"],
    ["{} x", "invalid character 'x' after top-level value, at line 1, column 4"],
    ["// note\n{}", "invalid character '/' looking for beginning of value, at line 1, column 1"],
    ["\u{feff}{}", "looking for beginning of value, at line 1, column 1"],
  ])("the text %j, saying where it stops being JSON", (text, where) => {
    const error = errorOf(text);
    expect(error.code).toBe("setting-invalid");
    expect(error.message).toStartWith(`Cannot read ${path} as JSON: `);
    expect(error.message).toEndWith(where);
  });

  test.each(["[]", "null", "5", '"x"'])("%s, which is no object", (text) => {
    expect(errorOf(text).message).toStartWith(
      `Cannot use ${path} as it must hold a JSON object: current value is a JSON `,
    );
  });

  test("a file that is too large or too deep", () => {
    expect(errorOf(`{"a":"${"x".repeat(300_000)}"}`)).toMatchObject({
      code: "setting-invalid",
      message: expect.stringContaining("262144 bytes"),
    });
    expect(errorOf(`{"a":${"[".repeat(100_000)}`)).toMatchObject({
      code: "setting-invalid",
      message: expect.stringContaining("levels deep"),
    });
  });
});

test("parseDaemonConfig answers two thousand random mutations with a record or a setting-invalid", () => {
  const source = JSON.stringify(Object.fromEntries(everyKey.map(([key, right]) => [key, right])));
  let state = 7;
  const next = (below: number): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
  const letters = '{}[]",:0-9.eEtrufalsn\\/ \u0000é';
  for (let round = 0; round < 2_000; round += 1) {
    const characters = [...source];
    for (let change = 0; change < 3; change += 1)
      characters[next(characters.length)] = letters[next(letters.length)] ?? "";
    try {
      parse(characters.join(""));
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(LeveeError);
      expect(thrown instanceof LeveeError && thrown.code).toBe("setting-invalid");
    }
  }
});

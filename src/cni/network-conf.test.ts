import { describe, expect, test } from "bun:test";
import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { asJsonText } from "./json-text.ts";
import { appendPlugins, confListText, parseNetworkConf, parsePlugin } from "./network-conf.ts";

function json(text: string): JsonText {
  return asJsonText(text, "a test");
}

function refusal(attempt: () => unknown): LeveeError {
  try {
    attempt();
  } catch (thrown) {
    if (thrown instanceof LeveeError) return thrown;
    throw thrown;
  }
  throw new Error("accepted");
}

const what = "NetworkAttachmentDefinition web/lan";

describe("parseNetworkConf of a conf", () => {
  test("reads the facts and keeps the bytes", () => {
    const text = json(
      '{ "type":"macvlan", "name":"lan",\n "cniVersion":"0.4.0", "capabilities":{"ips":true,"mac":false}, "mtu":1500.0 }',
    );
    expect(parseNetworkConf(text, { what }) as object).toEqual({
      name: "lan",
      cniVersion: "0.4.0",
      disableCheck: false,
      disableGC: false,
      loadOnlyInlinedPlugins: false,
      isList: false,
      text,
      plugins: [{ type: "macvlan", text, capabilities: { ips: true, mac: false } }],
    });
  });

  test("gives a nameless conf the default name, as text", () => {
    const conf = parseNetworkConf(json('{"type":"mynet","x":9007199254740993}'), { what, defaultName: "lan" });
    expect(String(conf.text)).toBe('{"type":"mynet","x":9007199254740993,"name":"lan"}');
    expect(conf.plugins[0]?.text).toBe(conf.text);
    expect(parseNetworkConf(json('{"name":"","type":"m"}'), { what, defaultName: "lan" }).text).toBe(
      json('{"name":"lan","type":"m"}'),
    );
    expect(parseNetworkConf(json('{"name":"own","type":"m"}'), { what, defaultName: "lan" }).name).toBe("own");
  });

  test("does not mind the case of keys, as Go does not", () => {
    const text = json('{"TYPE":"macvlan","Name":"lan","cniversion":"0.4.0","Capabilities":{"ips":true},"Mtu":1500.0}');
    expect(parseNetworkConf(text, { what })).toMatchObject({
      ...{ name: "lan", cniVersion: "0.4.0", isList: false, text },
      plugins: [{ type: "macvlan", text, capabilities: { ips: true } }],
    });
    expect(parseNetworkConf(json('{"type":"a","Type":"b","name":"n"}'), { what }).plugins[0]?.type as string).toBe("b");
  });

  test("looks for exactly name in a definition, as Multus does, and adds it behind any other spelling", () => {
    const conf = parseNetworkConf(json('{"Name":"other","type":"m"}'), { what, defaultName: "lan" });
    expect([conf.name, String(conf.text)]).toEqual(["lan", '{"Name":"other","type":"m","name":"lan"}']);
  });

  test("takes the default version only where there is none", () => {
    const version = (text: string, defaultCniVersion?: string): string =>
      parseNetworkConf(json(text), {
        what,
        defaultName: "lan",
        ...(defaultCniVersion === undefined ? {} : { defaultCniVersion }),
      }).cniVersion;
    expect(version('{"type":"m"}')).toBe("0.1.0");
    expect(version('{"type":"m"}', "0.3.1")).toBe("0.3.1");
    expect(version('{"type":"m","cniVersion":""}', "0.3.1")).toBe("0.3.1");
    expect(version('{"type":"m","cniVersion":"1.0.0"}', "0.3.1")).toBe("1.0.0");
  });

  test("chooses the newest of cniVersion and cniVersions that we speak", () => {
    const conf = parseNetworkConf(
      json('{"type":"m","name":"n","cniVersion":"0.4.0","cniVersions":["1.0.0","1.1.0","1.2.0"]}'),
      { what },
    );
    expect(conf.cniVersion).toBe("1.1.0");
    expect(parseNetworkConf(json('{"type":"m","name":"n","cniVersions":null}'), { what }).cniVersion).toBe("0.1.0");
  });

  test("reads the type as the decoder of the plugins would: the last one", () => {
    expect(parseNetworkConf(json('{"type":"a","name":"n","type":"b"}'), { what }).plugins[0]?.type as string).toBe("b");
  });

  test("has no capabilities beyond those declared", () => {
    const [plugin] = parseNetworkConf(json('{"type":"m","name":"n","capabilities":{"__proto__":true}}'), {
      what,
    }).plugins;
    expect(plugin?.capabilities["constructor"]).toBeUndefined();
    expect(plugin?.capabilities["__proto__"]).toBe(true);
    expect(
      parseNetworkConf(json('{"type":"m","name":"n","capabilities":null}'), { what }).plugins[0]?.capabilities,
    ).toEqual({});
  });
});

describe("parseNetworkConf of a conflist", () => {
  test("minds the case of the list's own keys, as libcni does, and not that of its plugins'", () => {
    const list = json('{"name":"a","Name":"b","cniVersion":"1.0.0","CNIVersion":"0.3.1","plugins":[{"Type":"m"}]}');
    const conf = parseNetworkConf(list, { what });
    expect([conf.name, conf.cniVersion, conf.plugins.map(({ type }) => String(type))]).toEqual(["a", "1.0.0", ["m"]]);
    expect(refusal(() => parseNetworkConf(json('{"name":"a","Plugins":[{"type":"m"}]}'), { what })).message).toEndWith(
      "delegate must have the 'type' or 'plugin' field: it is missing",
    );
  });

  const calico = json(`{
  "name": "k8s-pod-network", "cniVersion": "0.3.1", "disableCheck": "TRUE", "disableGC": true, "loadOnlyInlinedPlugins": "false",
  "plugins": [
    {"type": "calico", "log_level": "info", "mtu": 0, "ipam": {"type": "calico-ipam"}, "big": 9007199254740993, "d": 1, "d": 2.0},
    { "type":"portmap", "snat": true, "capabilities": {"portMappings": true} }
  ]
}`);

  test("keeps each plugin's own bytes", () => {
    const conf = parseNetworkConf(calico, { what });
    expect(conf.isList).toBe(true);
    expect(conf.plugins.map((plugin) => String(plugin.text))).toEqual([
      '{"type": "calico", "log_level": "info", "mtu": 0, "ipam": {"type": "calico-ipam"}, "big": 9007199254740993, "d": 1, "d": 2.0}',
      '{ "type":"portmap", "snat": true, "capabilities": {"portMappings": true} }',
    ]);
    expect(conf.plugins.map((plugin) => plugin.capabilities)).toEqual([{}, { portMappings: true }]);
    expect(conf.text).toBe(calico);
  });

  test("reads switches as booleans or as the words, as libcni does", () => {
    expect(parseNetworkConf(calico, { what })).toMatchObject({
      disableCheck: true,
      disableGC: true,
      loadOnlyInlinedPlugins: false,
    });
  });

  test("allows a list without plugins only where a sub-directory may hold them", () => {
    const bare = json('{"name":"n","cniVersion":"1.0.0"}');
    expect(parseNetworkConf(bare, { what, mayLackPlugins: true }).plugins).toEqual([]);
    expect(refusal(() => parseNetworkConf(bare, { what })).message).toContain(
      "LoadDelegateNetConfList: delegate must have the 'type' or 'plugin' field",
    );
    const closed = json('{"name":"n","loadOnlyInlinedPlugins":true}');
    expect(refusal(() => parseNetworkConf(closed, { what, mayLackPlugins: true })).code).toBe("config-invalid");
  });
});

describe("parseNetworkConf refuses", () => {
  test.each([
    ["[]", "it must be an object: current value is []"],
    ["null", "it must be an object: current value is null"],
    ['"x"', 'it must be an object: current value is "x"'],
    ["{}", 'key "name" must name the network: it is missing'],
    ['{"name":"n"}', "LoadDelegateNetConfList: delegate must have the 'type' or 'plugin' field: it is missing"],
    [
      '{"name":"n","_not_type":"x"}',
      "LoadDelegateNetConfList: delegate must have the 'type' or 'plugin' field: it is missing",
    ],
    [
      '{"name":"n","type":""}',
      "LoadDelegateNetConfList: delegate must have the 'type' or 'plugin' field: it is missing",
    ],
    ['{"name":"n","type":7}', 'key "type" must be a string: current value is 7'],
    ['{"name":7,"type":"m"}', 'key "name" must be a string: current value is 7'],
    [
      '{"name":"../n","type":"m"}',
      "key \"name\" must be letters, digits, '_', '.' and '-', start with a letter or digit and have at most 253 characters: current value is \"../n\"",
    ],
    ['{"name":"n","type":"../m"}', 'key "type" must be a file name without \'/\': current value is "../m"'],
    ['{"name":"n","type":".."}', 'key "type" must be a file name without \'/\': current value is ".."'],
    ['{"name":"n","type":"a\\u0000"}', "key \"type\" must be a file name without '/'"],
    ['{"name":"n","plugins":[]}', 'key "plugins" must have at least one plugin: current value is []'],
    ['{"name":"n","plugins":{}}', 'key "plugins" must be an array: current value is {}'],
    ['{"name":"n","plugins":null}', 'key "plugins" must be an array: current value is null'],
    ['{"name":"n","type":"m","cniVersion":1}', 'key "cniVersion" must be a string: current value is 1'],
    [
      '{"name":"n","type":"m","cniVersions":"1.0.0"}',
      'key "cniVersions" must be an array of strings: current value is "1.0.0"',
    ],
    ['{"name":"n","type":"m","cniVersions":["1.0.0",1]}', 'key "cniVersions" must be an array of strings'],
    [
      '{"name":"n","type":"m","disableCheck":"yes"}',
      'key "disableCheck" must be true or false: current value is "yes"',
    ],
    ['{"name":"n","type":"m","disableGC":1}', 'key "disableGC" must be true or false: current value is 1'],
    ['{"name":"n","type":"m","disableGC":null}', 'key "disableGC" must be true or false: current value is null'],
    ['{"name":"n","type":"m","capabilities":[]}', 'key "capabilities" must be an object: current value is []'],
    [
      '{"name":"n","type":"m","capabilities":{"mac":"true"}}',
      'key "capabilities.mac" must be true or false: current value is "true"',
    ],
  ])("%s", (text, reason) => {
    const error = refusal(() => parseNetworkConf(json(text), { what }));
    expect(error).toMatchObject({ code: "config-invalid", cniCode: 7 });
    expect(error.message).toStartWith(`Cannot use ${what}: ${reason}`);
  });

  test.each([
    ['{"name":"n","plugins":[null]}', "it must be an object: current value is null"],
    ['{"name":"n","plugins":[{"type":"a"},[]]}', "it must be an object: current value is []"],
    ['{"name":"n","plugins":[{}]}', 'key "type" must name the plugin: it is missing'],
    ['{"name":"n","plugins":[{"type":"a/b"}]}', 'key "type" must be a file name without \'/\': current value is "a/b"'],
  ])("a bad plugin of %s, naming its place", (text, reason) => {
    const index = text.includes('"a"}') ? 1 : 0;
    expect(refusal(() => parseNetworkConf(json(text), { what })).message).toBe(
      `Cannot use plugin ${index} of ${what}: ${reason}`,
    );
  });

  test("an unsupported version, with CNI code 1", () => {
    const error = refusal(() => parseNetworkConf(json('{"name":"n","type":"m","cniVersion":"0.9.0"}'), { what }));
    expect(error).toMatchObject({ code: "version-unsupported", cniCode: 1 });
    expect(error.message).toContain('current value is "0.9.0"');
  });

  test("long values, cut short", () => {
    const error = refusal(() => parseNetworkConf(json(`{"name":"n","plugins":"${"x".repeat(5000)}"}`), { what }));
    expect(error.message.length).toBeLessThan(300);
  });
});

describe("appendPlugins", () => {
  const conf = parseNetworkConf(json('{"name":"n", "plugins": [ {"type":"a"} ], "x":1.0}'), { what });

  test("adds the sub-directory's plugins to facts and text", () => {
    const longer = appendPlugins(conf, [json('{"type":"tuning","sysctl":{"a":"1"}}')]);
    expect(longer.plugins.map((plugin) => plugin.type) as string[]).toEqual(["a", "tuning"]);
    expect(String(longer.text)).toBe(
      '{"name":"n", "plugins": [ {"type":"a"},{"type":"tuning","sysctl":{"a":"1"}} ], "x":1.0}',
    );
  });

  test("makes the list when there was none", () => {
    const bare = parseNetworkConf(json('{"name":"n"}'), { what, mayLackPlugins: true });
    expect(String(appendPlugins(bare, [json('{"type":"a"}')]).text)).toBe('{"name":"n","plugins":[{"type":"a"}]}');
  });

  test("changes nothing when there is nothing to add", () => {
    expect(appendPlugins(conf, [])).toBe(conf);
  });

  test("refuses a bad plugin and a single conf", () => {
    expect(refusal(() => appendPlugins(conf, [json('{"typ":"a"}')])).message).toContain(
      "plugin 0 of the sub-directory of network n",
    );
    const single = parseNetworkConf(json('{"name":"n","type":"a"}'), { what });
    expect(refusal(() => appendPlugins(single, [json('{"type":"b"}')])).message).toContain(
      "it is a single conf, not a list",
    );
  });
});

describe("confListText", () => {
  test("makes a list that reads back", () => {
    const text = confListText("aux", "1.0.0", [json('{"type":"passthru"}')]);
    expect(String(text)).toBe('{"cniVersion":"1.0.0","name":"aux","plugins":[{"type":"passthru"}]}');
    expect(parseNetworkConf(text, { what }).plugins).toEqual([parsePlugin(json('{"type":"passthru"}'), what)]);
  });
});

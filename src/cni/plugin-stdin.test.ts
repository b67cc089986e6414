import { describe, expect, test } from "bun:test";
import type { JsonText } from "../base/brand.ts";
import { asJsonText } from "./json-text.ts";
import { parseNetworkConf, parsePlugin, type PluginConf } from "./network-conf.ts";
import { pluginStdin, withMember, withPrevResult } from "./plugin-stdin.ts";

function json(text: string): JsonText {
  return asJsonText(text, "a test");
}

function plugin(text: string): PluginConf {
  return parsePlugin(json(text), "a plugin");
}

const network = { name: "lan", cniVersion: "1.0.0" };

describe("pluginStdin", () => {
  test("keeps bytes that parsing and printing would change", () => {
    const list = parseNetworkConf(
      json(
        '{"name":"lan","cniVersion":"1.0.0","plugins":[{"type":"x", "serial":9007199254740993 , "mtu":1500.0,"dup":1,"dup":[2, 3],"unknown":{"a" :null}}]}',
      ),
      { what: "a list" },
    );
    const stdin = list.plugins.map((each) => String(pluginStdin(each, network)));
    expect(stdin).toEqual([
      '{"type":"x", "serial":9007199254740993 , "mtu":1500.0,"dup":1,"dup":[2, 3],"unknown":{"a" :null},"name":"lan","cniVersion":"1.0.0"}',
    ]);
  });

  test("sets name and version over the plugin's own, however often they stand there", () => {
    const stdin = pluginStdin(plugin('{"name":"a","type":"x","cniVersion":"0.1.0","name":"b"}'), network);
    expect(String(stdin)).toBe('{"type":"x","cniVersion":"1.0.0","name":"lan"}');
  });

  test("drops capabilities and gives runtimeConfig for those declared true", () => {
    const declared = plugin('{"type":"x","capabilities":{"portMappings":true,"mac":true,"bandwidth":false}, "z":1}');
    const runtimeConfig = {
      portMappings: json('[{"hostPort":80 ,"containerPort":8080}]'),
      mac: json('"02:00:00:00:00:01"'),
      bandwidth: json("{}"),
      ips: json("[]"),
    };
    expect(String(pluginStdin(declared, { ...network, runtimeConfig }))).toBe(
      '{"type":"x","z":1,"name":"lan","cniVersion":"1.0.0","runtimeConfig":{"mac":"02:00:00:00:00:01","portMappings":[{"hostPort":80 ,"containerPort":8080}]}}',
    );
  });

  test("leaves runtimeConfig out when nothing is both declared and offered", () => {
    const stdin = pluginStdin(plugin('{"type":"x","capabilities":{"mac":true}}'), {
      ...network,
      runtimeConfig: { ips: json("[]") },
    });
    expect(String(stdin)).toBe('{"type":"x","name":"lan","cniVersion":"1.0.0"}');
  });

  test("does not take inherited names for capabilities", () => {
    const stdin = pluginStdin(plugin('{"type":"x"}'), {
      ...network,
      runtimeConfig: { constructor: json("1"), toString: json("2") },
    });
    expect(String(stdin)).not.toContain("runtimeConfig");
  });

  test("makes args.cni where there is none", () => {
    const stdin = pluginStdin(plugin('{"type":"x"}'), { ...network, cniArgs: { a: json("1.0"), b: json('{ "c":1}') } });
    expect(String(stdin)).toBe('{"type":"x","name":"lan","cniVersion":"1.0.0","args":{"cni":{"a":1.0,"b":{ "c":1}}}}');
  });

  test("merges args.cni: the annotation wins, other arguments stay as they are", () => {
    const before = plugin('{"type":"x","args":{"org.x": {"k":1.0},"cni":{"keep": 1e2,"a":"old"} }}');
    const stdin = pluginStdin(before, { ...network, cniArgs: { a: json('"new"'), z: json("true") } });
    expect(String(stdin)).toBe(
      '{"type":"x","args":{"org.x": {"k":1.0},"cni":{"keep": 1e2,"a":"new","z":true} },"name":"lan","cniVersion":"1.0.0"}',
    );
  });

  test("treats null args as none", () => {
    expect(JSON.parse(pluginStdin(plugin('{"type":"x"}'), { ...network, cniArgs: {} }))).toMatchObject({
      args: { cni: {} },
    });
    const stdin = pluginStdin(plugin('{"type":"x","args":null}'), { ...network, cniArgs: { a: json("1") } });
    expect(String(stdin)).toContain('"args":{"cni":{"a":1}}');
  });

  test.each(['{"type":"x","args":[1]}', '{"type":"x","args":{"cni":"s"}}'])("refuses to merge into %s", (text) => {
    expect(() => pluginStdin(plugin(text), { ...network, cniArgs: { a: json("1") } })).toThrow(
      "Cannot merge cni-args into plugin x: key",
    );
    // Without something to merge the plugin gets it as it is: it may know what to do with it.
    expect(() => pluginStdin(plugin(text), network)).not.toThrow();
  });

  test("names the device under both keys, over what was there", () => {
    const stdin = pluginStdin(plugin('{"type":"sriov","deviceID":"old"}'), { ...network, deviceId: "0000:03:02.0" });
    expect(String(stdin)).toBe(
      '{"type":"sriov","deviceID":"0000:03:02.0","name":"lan","cniVersion":"1.0.0","pciBusID":"0000:03:02.0"}',
    );
    expect(String(pluginStdin(plugin('{"type":"x"}'), { ...network, deviceId: "" }))).not.toContain("deviceID");
  });

  test("invents no cni.dev keys", () => {
    const stdin = pluginStdin(plugin('{"type":"x","capabilities":{"ips":true}}'), {
      ...network,
      runtimeConfig: { ips: json("[]") },
      cniArgs: { a: json("1") },
      deviceId: "d",
    });
    expect(String(stdin)).not.toContain("cni.dev/");
  });
});

describe("withPrevResult", () => {
  test("splices the result in as it was printed", () => {
    const result = json('{ "cniVersion":"1.0.0",\n"ips":[] }');
    expect(String(withPrevResult(json('{"type":"x"}'), result))).toBe(
      '{"type":"x","prevResult":{ "cniVersion":"1.0.0",\n"ips":[] }}',
    );
    expect(String(withPrevResult(json('{"prevResult":{},"type":"x"}'), json("{}")))).toBe(
      '{"prevResult":{},"type":"x"}',
    );
  });
});

describe("withMember", () => {
  test("sets GC's lists", () => {
    const valid = json('[{"containerID":"a","ifname":"eth0"}]');
    const stdin = withMember(
      withMember(json('{"type":"x"}'), "cni.dev/valid-attachments", valid),
      "cni.dev/attachments",
      valid,
    );
    expect(JSON.parse(stdin)).toEqual({
      "type": "x",
      "cni.dev/valid-attachments": [{ containerID: "a", ifname: "eth0" }],
      "cni.dev/attachments": [{ containerID: "a", ifname: "eth0" }],
    });
  });
});

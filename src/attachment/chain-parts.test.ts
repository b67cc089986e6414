import { expect, test } from "bun:test";
import { asJsonText, jsonValue } from "../cni/json-text.ts";
import { parseNetworkConf, type NetworkConf } from "../cni/network-conf.ts";
import { chainParts, type OwnParts } from "./chain-parts.ts";

const text = '{"cniVersion":"1.0.0","name":"lan","type":"bridge","capabilities":{"mac":true}}';
const nothing: OwnParts = { offered: {}, cniArgs: undefined, deviceId: undefined, request: {} };

function lan(): NetworkConf {
  return parseNetworkConf(asJsonText(text, "lan"), { what: "lan" });
}

test("pods with nothing of their own share the parts of a network, of the same conf only", () => {
  const conf = lan();
  const first = chainParts(conf, nothing);
  const second = chainParts(conf, { ...nothing, offered: {}, request: {} });
  expect(second.links).toBe(first.links);
  expect(second.multus).toBe(first.multus);
  expect(chainParts(lan(), nothing).links).not.toBe(first.links);
  expect(first.multus).toEqual({ config: conf.text, isList: false, capabilityArgs: {}, request: {} });
});

test.each<[string, Partial<OwnParts>, string]>([
  ["a capability", { offered: { mac: jsonValue("02:00:00:00:00:01") } }, "02:00:00:00:00:01"],
  ["arguments", { cniArgs: { role: jsonValue("storage") } }, "storage"],
  ["a device", { deviceId: "0000:03:02.3" }, "0000:03:02.3"],
])("a pod with %s has links of its own, and the next one without has not", (_, own, expected) => {
  const conf = lan();
  expect(chainParts(conf, { ...nothing, ...own }).links[0]?.stdin).toContain(expected);
  expect(chainParts(conf, nothing).links[0]?.stdin).not.toContain(expected);
});

test("what a pod asked for is in its own origin", () => {
  const conf = lan();
  const own = chainParts(conf, { ...nothing, request: { ifname: "blue0" } });
  expect(own.multus.request).toEqual({ ifname: "blue0" });
  expect(own.links).toBe(chainParts(conf, nothing).links);
  expect(chainParts(conf, nothing).multus.request).toEqual({});
});

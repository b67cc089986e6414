import { expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import { asJsonText } from "../cni/json-text.ts";
import { type NetworkConf, parseNetworkConf } from "../cni/network-conf.ts";
import { checkCapabilities } from "./capability.ts";
import { parseSelection, type SelectionElement } from "./selection.ts";

function conf(text: string): NetworkConf {
  return parseNetworkConf(asJsonText(text, "a test"), { what: "a test", defaultName: "lan" });
}

function element(members: string): SelectionElement | undefined {
  return parseSelection(`[{"name":"lan"${members}}]`, "web" as Namespace)[0];
}

const rate = ',"bandwidth":{"ingressRate":1}';

test("checkCapabilities asks nothing of an element that asks nothing", () => {
  const source = { network: "web/lan", conf: conf('{"type":"a"}') };
  expect(() => checkCapabilities(source, undefined)).not.toThrow();
  expect(() =>
    checkCapabilities(source, element(',"interface":"x0","cni-args":{"a":1},"deviceID":"d","default-route":[]')),
  ).not.toThrow();
  // Every plugin also gets these by CNI_ARGS, so the result shows whether they were served.
  expect(() => checkCapabilities(source, element(',"ips":["10.0.0.5"],"mac":"02:00:00:00:00:05"'))).not.toThrow();
});

test("checkCapabilities is content with any plugin of the chain", () => {
  const source = {
    network: "web/lan",
    conf: conf('{"plugins":[{"type":"a"},{"type":"tuning","capabilities":{"bandwidth":true}}]}'),
  };
  expect(() => checkCapabilities(source, element(rate))).not.toThrow();
});

test("checkCapabilities names all plugins that could not", () => {
  const source = {
    network: "web/lan",
    conf: conf('{"plugins":[{"type":"a"},{"type":"b","capabilities":{"ips":true}}]}'),
  };
  expect(() => checkCapabilities(source, element(rate))).toThrow(
    'Cannot attach web/lan with "bandwidth": none of its plugins (a, b) declares the capability "bandwidth"',
  );
});

import { expect, test } from "bun:test";
import { lint } from "../../lint/lint.ts";
import { unknownCluster } from "../../lint/lint-objects.ts";
import { network } from "./lint-cases.fixture.ts";
import { readLintSource } from "./lint-sources.ts";

/** The codes of a text, and that it took less than a few seconds on a busy machine. */
function codesOf(text: string): readonly string[] {
  const begun = performance.now();
  const { networks, pods, findings } = readLintSource("x.yaml", text);
  const codes = [...findings, ...lint({ networks, pods, cluster: unknownCluster })].map(({ code }) => code);
  expect(performance.now() - begun).toBeLessThan(15_000);
  return codes;
}

const head = "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n";

test("YAML that is nested too deeply is a finding, and the next document is read", () => {
  const deep = `${head}metadata: ${"[".repeat(100_000)}\n---\n${network('{"type": "bridge"}')}`;
  expect(codesOf(deep)).toEqual(["LVN0101", "LVN0207"]);
  expect(codesOf(`${head}x: ${"{a: ".repeat(50_000)}`)).toEqual(["LVN0101"]);
});

test("JSON that is nested too deeply is a finding at its place", () => {
  expect(codesOf(network(`{"a": ${"[".repeat(200_000)}`))).toEqual(["LVN0201"]);
  expect(codesOf(network(`{"a": ${"[".repeat(65)}${"]".repeat(65)}}`))).toEqual(["LVN0201"]);
});

test("an alias bomb is not expanded", () => {
  const levels = Array.from(
    { length: 30 },
    (_, at) => `b${at}: &b${at} [${`*b${at - 1}, `.repeat(at === 0 ? 0 : 9)} x]`,
  );
  const bomb = `${head}metadata: {name: a}\n${levels.join("\n")}\nspec: {config: '{"type": "bridge"}', x: *b29}\n`;
  expect(codesOf(bomb)).toEqual(["LVN0207"]);
});

test("thousands of aliases in a list end", () => {
  const one = "a: &a {kind: NetworkAttachmentDefinition}\n";
  const list = `kind: List\n${one}items:\n${"- *a\n".repeat(50_000)}`;
  expect(codesOf(list)).toEqual(["LVN0101"]);
});

test("huge numbers, keys and counts of keys end with findings", () => {
  expect(codesOf(network(`{"cniVersion":"1.0.0","type":"bridge","vlan":${"9".repeat(100_000)}}`))).toEqual([
    "LVN0303",
    "LVN0401",
  ]);
  const keys = Array.from({ length: 20_000 }, (_, at) => `"key${at}":1`).join(",");
  expect(codesOf(network(`{"cniVersion":"1.0.0","type":"bridge",${keys}}`)).length).toBeLessThan(300);
  expect(codesOf(network(`{"cniVersion":"1.0.0","type":"bridge","${"k".repeat(100_000)}":1}`))).toEqual(["LVN0302"]);
  expect(codesOf(network(`{"type": "${"x".repeat(300_000)}"}`))).toEqual(["LVN0201"]);
});

test("thousands of networks on one segment are quick", () => {
  const texts = Array.from({ length: 2_000 }, (_, at) =>
    network(
      `{"cniVersion":"1.0.0","type":"macvlan","master":"eth1","name":"n${at}","ipam":{"type":"host-local","subnet":"10.0.0.0/8"}}`,
      { name: `n${at}` },
    ),
  );
  const codes = codesOf(texts.join("---\n"));
  expect(codes.filter((code) => code === "LVN0503").length).toBe(1_999);
});

test("a line of dashes ends a document, also inside a text", () => {
  expect(codesOf(`${head}spec:\n  config: "\n---\n${network('{"type": "bridge"}')}`)).toEqual(["LVN0101", "LVN0207"]);
});

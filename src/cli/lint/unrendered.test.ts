import { describe, expect, test } from "bun:test";
import { lint } from "../../lint/lint.ts";
import { unknownCluster } from "../../lint/lint-objects.ts";
import { network } from "./lint-cases.fixture.ts";
import { readLintSource } from "./lint-sources.ts";

function findingsOf(text: string): readonly string[] {
  const { networks, pods, findings } = readLintSource("x.yaml", text);
  return [...findings, ...lint({ networks, pods, cluster: unknownCluster })].map(
    ({ code, place }) => `${code} ${place.line}:${place.column}`,
  );
}

function pod(networks: string): string {
  return `kind: Pod\nmetadata:\n  name: a\n  annotations:\n    k8s.v1.cni.cncf.io/networks: ${networks}\n`;
}

describe("placeholderIn", () => {
  test.each([
    ["a name", network("{}", { name: "{{ .Values.name }}" }), "3:18"],
    ["a name of another language", network("{}", { name: "{{ net_name }}" }), "3:18"],
    ["a number in the JSON", network('{"type": "bridge", "vlan": {{ .Values.vlan }}}'), "6:32"],
    ["quotes in a text of the JSON", network('{"type": "{{ .Values.type | default "bridge" }}"}'), "6:15"],
    ["a line of the JSON", network('{"type": "bridge"\n{{- if .Values.vlan }}, "vlan": 57{{ end }}}'), "7:5"],
    ["a whole configuration", network("{{ .Values.config | toJson }}"), "6:5"],
    ["a function", network('{"type": "bridge", "mtu": {{ include "mtu" . }}}'), "6:31"],
    ["an annotation", pod("{{ .Values.networks }}"), "5:34"],
    ["an annotation in quotes", pod("'{{ .Values.networks }}'"), "5:35"],
  ])("%s of a template that is YAML already is no error", (_, text, at) => {
    expect(findingsOf(text)).toEqual([`LVN0102 ${at}`]);
  });

  test.each([
    ["a doubled brace", network('{{"type": "bridge"}'), ["LVN0201 6:6"]],
    ["a doubled brace and a line", network('{{\n"type": "bridge"}}'), ["LVN0201 6:6"]],
    ["a placeholder in a text of the JSON", network('{"type": "bridge", "bridge": "{{ x }}"}'), ["LVN0207 6:5"]],
    ["a placeholder in another field", `${network('{"type": "bridge",}')}help: "{{ x }}"\n`, ["LVN0201 6:23"]],
    ["a placeholder of another pod", pod("lan").replace("a\n", "a\n  labels: {a: '{{ x }}'}\n"), []],
  ])("%s makes no template", (_, text, findings) => {
    expect(findingsOf(text)).toEqual([...findings]);
  });
});

import { expect, test } from "bun:test";
import { lint } from "../../lint/lint.ts";
import { unknownCluster } from "../../lint/lint-objects.ts";
import { readLintSource } from "./lint-sources.ts";

/** The text in the file that the finding about the misspelt key points at. */
function pointedAt(config: string): string {
  const text = `# first line\n---\napiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata:\n  name: lan\nspec:\n${config}\n`;
  const { networks, findings } = readLintSource("x.yaml", text);
  expect(findings).toEqual([]);
  const found = lint({ networks, pods: [], cluster: unknownCluster }).find(({ code }) => code === "LVN0301");
  if (found === undefined) return "";
  const line = text.split("\n")[found.place.line - 1] ?? "";
  return line.slice(
    found.place.column - 1,
    found.place.line === found.place.endLine ? found.place.endColumn - 1 : undefined,
  );
}

test("a finding points at the key, however the text is written", () => {
  const members = ['"cniVersion": "1.0.0",', '"type": "bridge",', '"brigde": "br1"'];
  const lines = (indent: string): string => members.map((member) => `${indent}${member}`).join("\n");
  expect(pointedAt(`  config: |\n    {\n${lines("      ")}\n    }`)).toBe('"brigde"');
  expect(pointedAt(`  config: |4-  # a comment\n      {\n${lines("      ")}\n      }`)).toBe('"brigde"');
  expect(pointedAt(`  config: >-\n    {\n${lines("    ")}\n\n    }`)).toBe('"brigde"');
  expect(pointedAt(`  config: '{\n${lines("    ")}\n    }'`)).toBe('"brigde"');
  expect(pointedAt(`  config: '{ "dns": {"domain": "it''s"}, ${members.join(" ")} }'`)).toBe('"brigde"');
  expect(pointedAt(`  config: ${JSON.stringify(`{\n\t${members.join("\n\\u0020".slice(0, 1))}\n}`)}`)).toBe(
    '\\"brigde\\"',
  );
  expect(pointedAt(`  x: &c '{${members.join(" ")}}'\n  config: *c`)).toBe('"brigde"');
  expect(pointedAt(`  config: |\r\n    {\r\n${lines("      ").replaceAll("\n", "\r\n")}\r\n    }`)).toBe('"brigde"');
});

test("a quoted text that goes on below its key is read as kubectl reads it", () => {
  expect(pointedAt(`  config: '{\n"cniVersion": "1.0.0",\n  "type": "bridge",\n "brigde": "br1"\n}'`)).toBe('"brigde"');
  expect(
    pointedAt(`  config: "{\n  \\"cniVersion\\": \\"1.0.0\\", \\"type\\": \\"bridge\\",\n\\"brigde\\": \\"br1\\"\n}"`),
  ).toBe('\\"brigde\\"');
});

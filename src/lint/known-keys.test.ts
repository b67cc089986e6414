import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ipamKeysOf, knownIpams } from "./ipam-keys.ts";
import { lint } from "./lint.ts";
import type { LintFinding } from "./lint-finding.ts";
import { unknownCluster, type LintNetwork } from "./lint-objects.ts";
import type { KeyShape, KeyTable } from "./key-table.ts";
import { knownPlugins, pluginKeys } from "./plugin-keys.ts";

function findingsOn(conf: object): readonly LintFinding[] {
  const network: LintNetwork = {
    title: "NetworkAttachmentDefinition prod/lan",
    namespace: "prod",
    name: "lan",
    annotations: {},
    config: JSON.stringify(conf),
    isConfigNoText: false,
    locate: () => ({ file: "", line: 1, column: 1, endLine: 1, endColumn: 1 }),
  };
  return lint({ networks: [network], pods: [], cluster: unknownCluster });
}

function remedyFor(conf: object): string {
  return findingsOn(conf).find(({ code }) => code === "LVN0301")?.remedy ?? "";
}

/** Two letters in the middle that changed places. */
function slipOf(key: string): string {
  const at = [...key].findIndex((letter, index) => index > 0 && letter !== key[index + 1] && /[a-z]/iu.test(letter));
  return `${key.slice(0, at)}${key[at + 1] ?? ""}${key[at] ?? ""}${key.slice(at + 2)}`;
}

function valueFor(shape: KeyShape): unknown {
  if (typeof shape !== "string") return Array.isArray(shape) ? [] : {};
  return { string: "x", integer: 1, bool: true, object: {}, list: [], any: 1 }[shape];
}

/** In two letters there is nothing to change places. */
function slips(table: KeyTable): readonly (readonly [string, string, unknown])[] {
  return Object.entries(table)
    .filter(([key]) => key.length > 2 && key !== "type" && key !== "ipam")
    .map(([key, shape]) => [slipOf(key), key, valueFor(shape)]);
}

describe("every key of a known plugin", () => {
  for (const type of knownPlugins) {
    test(`${type}: a slip of each comes with the right one`, () => {
      const all = slips(pluginKeys(type) ?? {});
      const remedies = all.map(([slip, , value]) => remedyFor({ type, [slip]: value }));
      expect(remedies).toEqual(all.map(([, key]) => `did you mean "${key}"?`));
    });
  }

  for (const type of knownIpams) {
    test(`${type}: a slip of each comes with the right one`, () => {
      const all = slips(ipamKeysOf(type) ?? {});
      const remedies = all.map(([slip, , value]) => remedyFor({ type: "macvlan", ipam: { type, [slip]: value } }));
      expect(remedies).toEqual(all.map(([, key]) => `did you mean "${key}"?`));
    });
  }

  test("is known as it is written, and in another case", () => {
    for (const type of knownPlugins) {
      const table = pluginKeys(type) ?? {};
      for (const [key, shape] of Object.entries(table).filter(([name]) => name !== "type" && name !== "name"))
        for (const written of [key, key.toUpperCase()])
          expect(
            findingsOn({ type, [written]: valueFor(shape) }).filter(({ code }) => /LVN030[12]/u.test(code)),
          ).toEqual([]);
    }
  });

  test("inside a list is looked at as well", () => {
    expect(remedyFor({ type: "bond", links: [{ nmae: "net1" }] })).toBe('did you mean "name"?');
    expect(remedyFor({ type: "ovs", trunk: [{ mniID: 5 }] })).toBe('did you mean "minID"?');
  });
});

test("docs/lint.md names the plugins whose keys we know, and no others", () => {
  const page = readFileSync(new URL("../../docs/lint.md", import.meta.url), "utf8");
  const line = page.split("\n").find((each) => each.startsWith("- The keys of")) ?? "";
  const named = [...line.matchAll(/`([a-z-]+)`/gu)].map(([, name = ""]) => name);
  expect(named.toSorted()).toEqual([...knownPlugins, ...knownIpams].toSorted());
});

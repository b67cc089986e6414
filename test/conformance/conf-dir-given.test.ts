import { expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { startNode } from "./node.ts";

/** `multusConfigFile: <path>`: the file is served as it is, and the daemon stays up (Multus' daemon ends). */

test("a given conf is copied byte by byte, kept in step, and the daemon stays up", async () => {
  const text = '{ "cniVersion":"1.0.0", "name":"mine", "type":"levee-shim", "mtu": 1500.0 }\n';
  await using lab = await startNode({
    prepare: async (node) => {
      await mkdir(node.path("net.d"));
      await writeFile(node.path("05-mine.conf"), text);
      const settings = { cniConfigDir: node.path("net.d"), multusConfigFile: node.path("05-mine.conf") };
      await node.configure(settings);
    },
  });
  const copy = (): Promise<string> => readFile(lab.path("net.d/05-mine.conf"), "utf8");
  expect(await lab.until("the copy is there", () => copy().catch(() => undefined))).toBe(text);
  await writeFile(lab.path("05-mine.conf"), text.replace("levee-shim", "multus-shim"));
  await lab.until("the copy follows", async () => ((await copy()).includes("multus-shim") ? true : undefined));
  await lab.until("it is said", async () => {
    const node = await lab.ask<NodeAnswer>({ ask: "node" });
    return node.notices.some((notice) => notice.includes('has the type "multus-shim"')) || undefined;
  });
});

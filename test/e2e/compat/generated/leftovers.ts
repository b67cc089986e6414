import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { spawnSync } from "node:child_process";
import type { AttachmentsAnswer, LeaksAnswer } from "../../../../src/wire/node-view.ts";
import { filesIn } from "../../../lab/leftovers.ts";
import type { Stage } from "./stage.ts";

/** What is left of containers once all are deleted, by container: records, leaks, files, addresses, port mappings. */
export async function leftByContainer(stage: Stage): Promise<ReadonlyMap<string, readonly string[]>> {
  const { lab, multus } = stage;
  const left = new Map<string, string[]>();
  const note = (container: string, what: string): void =>
    void left.set(container, [...(left.get(container) ?? []), what]);
  const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
  for (const { containerId, phase } of attachments) note(containerId, `record (${phase})`);
  const { leaks } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  for (const { containerId, network, reason } of leaks) note(containerId, `leak on ${network}: ${reason}`);
  for (const file of await readdir(lab.cniDir)) note(file, "scratch file");
  for (const file of await filesIn(join(lab.cniDir, "results"))) note(containerIn(basename(file)), "result file");
  for (const folder of [lab.path("ipam"), multus.ownFolder(lab.path("ipam")), lab.path("ipam-shared")])
    for (const file of await filesIn(folder)) {
      const [container = ""] = (await readFile(file, "utf8")).split(/\s/u);
      if (/^\d+\./u.test(basename(file))) note(container, `address ${file.slice(folder.length + 1)}`);
    }
  const { stdout: rules } = spawnSync("iptables-save", { encoding: "utf8" });
  for (const [, container = ""] of (rules ?? "").matchAll(/id: \\?"([ml]-[0-9a-z]+)\\?"/gu))
    note(container, "port mapping");
  return left;
}

/** The container in `network-container-interface`. */
function containerIn(name: string): string {
  return /-([ml]-[0-9a-z]+)-[^-]+$/u.exec(name)?.[1] ?? name;
}

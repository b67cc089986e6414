import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { AttachmentsAnswer, LeaksAnswer } from "../../../../src/wire/node-view.ts";
import { filesIn } from "../../../lab/leftovers.ts";
import { pause } from "../../until.ts";
import type { Stage } from "./stage.ts";

const ledgerMs = 90_000;

/** A container and a thing that is left of it. */
type Leftover = readonly [string, string];

/** What is left of containers once all are deleted, by container: records, leaks, files, addresses, port mappings. */
export async function leftByContainer(stage: Stage): Promise<ReadonlyMap<string, readonly string[]>> {
  const { lab, multus } = stage;
  const folders = [lab.path("ipam"), multus.ownFolder(lab.path("ipam")), lab.path("ipam-shared")];
  const all = [
    ...(await ofLevee(stage)),
    ...(await cacheFiles(lab.cniDir)),
    ...(await Promise.all(folders.map((folder) => leases(folder)))).flat(),
    ...portMappings(),
  ];
  const left = new Map<string, string[]>();
  for (const [container, what] of all) left.set(container, [...(left.get(container) ?? []), what]);
  return left;
}

/** Levee comes back to what it could not delete at once, so its ledger gets the time for that. */
async function ofLevee({ lab }: Stage): Promise<readonly Leftover[]> {
  const endsMs = performance.now() + ledgerMs;
  let { leaks } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  while (leaks.length > 0 && performance.now() < endsMs) {
    await pause(500);
    ({ leaks } = await lab.ask<LeaksAnswer>({ ask: "leaks" }));
  }
  const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
  return [
    ...attachments.map(({ containerId, phase }): Leftover => [containerId, `record (${phase})`]),
    ...leaks.map(({ containerId, network, reason }): Leftover => [containerId, `leak on ${network}: ${reason}`]),
  ];
}

/** Multus' files, which Levee writes too. */
async function cacheFiles(folder: string): Promise<readonly Leftover[]> {
  const [scratch, results] = [await readdir(folder), await filesIn(join(folder, "results"))];
  return [
    ...scratch.map((name): Leftover => [name, "scratch file"]),
    ...results.map((file): Leftover => [containerIn(basename(file)), "result file"]),
  ];
}

/** The addresses that host-local holds. Its files name the container. */
async function leases(folder: string): Promise<readonly Leftover[]> {
  const held = (await filesIn(folder)).filter((file) => /^\d+\./u.test(basename(file)));
  return Promise.all(
    held.map(async (file): Promise<Leftover> => {
      const [container = ""] = (await readFile(file, "utf8")).split(/\s/u);
      return [container, `address ${file.slice(folder.length + 1)}`];
    }),
  );
}

/** Rules of the plugin portmap, which have the container in a comment. */
function portMappings(): readonly Leftover[] {
  const { stdout } = spawnSync("iptables-save", { encoding: "utf8" });
  return [...stdout.matchAll(/id: \\?"([ml]-[0-9a-z]+)\\?"/gu)].map(([, id = ""]): Leftover => [id, "port mapping"]);
}

/** The container in `network-container-interface`. */
function containerIn(name: string): string {
  return /-([ml]-[0-9a-z]+)-[^-]+$/u.exec(name)?.[1] ?? name;
}

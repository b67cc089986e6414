import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AttachmentsAnswer, LeaksAnswer } from "../../src/wire/node-view.ts";
import type { Lab } from "./lab.ts";

/** The folder in the lab where host-local keeps its addresses. */
export function ipamFolder(lab: Lab): string {
  return lab.path("ipam");
}

/** Everything that should be gone once nothing is attached: records, leaks, notes, Multus' files, addresses. */
export async function leftovers(lab: Lab): Promise<readonly string[]> {
  const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
  const { leaks, quarantined } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  return [
    ...attachments.map((attachment) => `record of ${attachment.containerId} (${attachment.phase})`),
    ...leaks.map((leak) => `leak of ${leak.containerId} on ${leak.network}: ${leak.reason}`),
    ...quarantined.map((entry) => `quarantined ${entry.file}`),
    ...(await filesIn(join(lab.stateDir, "offline"))),
    ...(await filesIn(lab.cniDir)),
    ...(await addresses(lab)),
  ];
}

/** The addresses that host-local holds, as `network/address`. */
export async function addresses(lab: Lab): Promise<readonly string[]> {
  const files = await filesIn(ipamFolder(lab));
  const held = files.filter((file) => !file.endsWith("/lock") && !file.includes("last_reserved_ip"));
  return held.map((file) => file.slice(ipamFolder(lab).length + 1));
}

/** Every file below a folder, sorted; none when the folder is not there. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

import { chmod, mkdir, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { JsonText } from "../../base/brand.ts";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { cniDeviceInfoFile, pluginDeviceInfoFile } from "../../attachment/device-info-file.ts";
import type { Chain } from "../../cni/chain.ts";
import { asJsonText } from "../../cni/json-text.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

/** The description of one device has a few hundred bytes. */
const infoBytesMax = 65_536;

/** Copies the device plugin's file about each device to the place where the CNI plugin and the status look for it. */
export async function prepareDeviceInfo(record: AttachmentRecord, folder: string, logger: Logger): Promise<void> {
  for (const chain of record.chains) {
    const { resourceName, deviceId } = chain.multus.request;
    if (resourceName === undefined || deviceId === undefined) continue;
    const from = pluginDeviceInfoFile(folder, resourceName, deviceId);
    const to = fileOf(record, chain, folder);
    try {
      await withFoldersOpen(folder, async () => {
        const info = await readRegularFile(from, { bytesMax: infoBytesMax, followLinks: false });
        await mkdir(dirname(to), { recursive: true, mode: 0o755 });
        await writeFileAtomically(to, info, { mode: 0o444, sync: false });
      });
    } catch (thrown) {
      // Many device plugins write no file, and the network works without it.
      if (errnoOf(thrown) !== "ENOENT") logTrouble(logger, from, thrown);
    }
  }
}

/** The device description of each chain, for the status; one entry per chain. */
export async function readDeviceInfo(
  record: AttachmentRecord,
  folder: string,
  logger: Logger,
): Promise<readonly (JsonText | undefined)[]> {
  return Promise.all(
    record.chains.map(async (chain) => {
      if (chain.multus.request.deviceId === undefined) return undefined;
      const path = fileOf(record, chain, folder);
      try {
        const read = (): Promise<Buffer> => readRegularFile(path, { bytesMax: infoBytesMax, followLinks: false });
        return asJsonText(await withFoldersOpen(folder, read), path);
      } catch (thrown) {
        if (errnoOf(thrown) !== "ENOENT") logTrouble(logger, path, thrown);
        return undefined;
      }
    }),
  );
}

/** Removes the files of an attachment that goes. */
export async function removeDeviceInfo(record: AttachmentRecord, folder: string, logger: Logger): Promise<void> {
  for (const chain of record.chains) {
    if (chain.multus.request.deviceId === undefined) continue;
    const path = fileOf(record, chain, folder);
    await withFoldersOpen(folder, () => unlink(path)).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== "ENOENT") logTrouble(logger, path, thrown);
    });
  }
}

/**
 * Multus and many device plugins make these folders without any permissions, which root does not notice as long as it has
 * capabilities. The daemon has none, but as the owner it may change the mode.
 */
async function withFoldersOpen<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (errnoOf(thrown) !== "EACCES") throw thrown;
    for (const closed of [dirname(folder), folder, `${folder}/dp`, `${folder}/cni`]) await openToOwner(closed);
    return await work();
  }
}

async function openToOwner(folder: string): Promise<void> {
  try {
    const { mode } = await stat(folder);
    if ((mode & 0o700) !== 0o700) await chmod(folder, (mode & 0o777) | 0o700);
  } catch {
    // The folder is missing or has another owner. The work itself then fails with the reason.
  }
}

function fileOf(record: AttachmentRecord, chain: Chain, folder: string): string {
  return cniDeviceInfoFile(folder, { network: chain.network, containerId: record.containerId, ifname: chain.ifname });
}

function logTrouble(logger: Logger, file: string, thrown: unknown): void {
  logger.warn("A device-info file cannot be used", {
    file,
    reason: toLeveeError(thrown, "Cannot read or write it").message,
  });
}

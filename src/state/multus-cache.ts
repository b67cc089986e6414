import type { ContainerId } from "../base/brand.ts";
import type { AttachmentRecord } from "./attachment-record.ts";

/** What was found in Multus' cache folder. */
export interface ImportReport {
  readonly records: readonly AttachmentRecord[];
  /** Files that could not be used; they are left in place. */
  readonly problems: readonly ImportProblem[];
}

export interface ImportProblem {
  readonly file: string;
  /** When the file stands for a container: what was attached to it is not known. */
  readonly containerId?: ContainerId;
  readonly reason: string;
}

export async function importMultusCache(_cniDir: string): Promise<ImportReport> {
  return Promise.resolve({ records: [], problems: [] });
}

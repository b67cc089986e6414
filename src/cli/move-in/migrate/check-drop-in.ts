import { existsSync } from "node:fs";
import { placeholders } from "./check-levee.ts";
import type { Finding } from "./finding.ts";
import { readManifests } from "./read-manifests.ts";

/** Where the repository has it, for whoever stands in its folder, as the commands of docs/migrate.md do. */
const usualPath = "deploy/multus-drop-in.yaml";

/** Whether the file that is going to be applied can be; without one at hand there is nothing to say. */
export async function checkDropIn(given: string | undefined): Promise<readonly Finding[]> {
  if (given === undefined && !existsSync(usualPath)) return [];
  const file = given ?? usualPath;
  const [finding] = placeholders(await readManifests([file]));
  return finding === undefined ? [] : [{ ...finding, object: file }];
}

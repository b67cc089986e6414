/** All scenarios in the order in which they run, on one machine; `npm run e2e -- --vm NAME...` runs those named. */
import { afterAll, afterEach, beforeAll, describe } from "bun:test";
import { createRequire } from "node:module";
import { vmScenarios } from "./scenario-names.ts";
import { slowMs } from "./slowly.ts";
import { stopTheNode, theNode, tidyTheNode } from "./the-node.ts";

/** At once, as a group takes no tests later. */
const load = createRequire(import.meta.url);
const wanted = (process.env["LEVEE_VM_ONLY"] ?? "").split(",").filter((name) => name !== "");
beforeAll(async () => void (await theNode()), 1_500_000);
afterEach(tidyTheNode, 2 * slowMs);
afterAll(stopTheNode, 300_000);

for (const name of vmScenarios) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  describe(name, () => void load(`./scenarios/${name}.ts`));
}

/**
 * All scenarios in the order in which they run, on one cluster; `npm run e2e -- NAME...` runs those named. Neighbours run
 * only when they are named.
 */
import { afterAll, afterEach, beforeAll, describe } from "bun:test";
import { createRequire } from "node:module";
import { neighbours } from "./neighbour-names.ts";
import { scenarios } from "./scenario-names.ts";
import { stopTheCluster, theCluster } from "./the-cluster.ts";
import { tidy } from "./tidy.ts";

/** At once, as a group takes no tests later. */
const load = createRequire(import.meta.url);
const wanted = (process.env["LEVEE_E2E_ONLY"] ?? "").split(",").filter((name) => name !== "");
beforeAll(async () => void (await theCluster()), 180_000);
afterEach(tidy, 120_000);
afterAll(stopTheCluster, 60_000);

for (const name of scenarios) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  describe(name, () => void load(`./scenarios/${name}.ts`));
}

for (const { name } of neighbours)
  if (wanted.includes(name)) describe(name, () => void load(`./neighbours/${name}.ts`));

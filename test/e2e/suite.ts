/** All scenarios in the order in which they run, on one cluster; `npm run e2e -- NAME...` runs those named. */
import { afterAll, afterEach, beforeAll } from "bun:test";
import { stopTheCluster, theCluster } from "./the-cluster.ts";
import { tidy } from "./tidy.ts";

const scenarios = [
  "migration",
  "basic",
  "networks-change",
  "conf-dir",
  "static-pod",
  "shipped-pods",
  "daemon-killed",
  "rolling-update",
  "restarts",
  "token",
  "drain",
  "reboot",
  "versions",
  // From here on with a newer containerd, which knows more of CNI.
  "new-runtime",
  "daemon-away",
  "api-away",
];

const wanted = (process.env["LEVEE_E2E_ONLY"] ?? "").split(",").filter((name) => name !== "");
const unknown = wanted.filter((name) => !scenarios.includes(name));
if (unknown.length > 0)
  throw new Error(`There is no scenario ${unknown.join(", ")}; there are ${scenarios.join(", ")}`);

beforeAll(async () => void (await theCluster()), 180_000);
afterEach(tidy, 120_000);
afterAll(stopTheCluster, 60_000);

for (const name of scenarios) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  await import(`./scenarios/${name}.ts`);
}

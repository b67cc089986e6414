import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Site } from "./site.ts";

/** A site like the demo's, with its own names and networks, so that tests and a running demo do not clash. */
export function testSite(): Site & { remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "levee-site-"));
  const tail = (process.pid % 10_000).toString();
  return {
    runDir: join(folder, "run"),
    stateDir: join(folder, "state"),
    pod: { namespace: "default", name: `site${tail}` },
    networks: [
      {
        name: "lan",
        bridge: `lvta${tail}`,
        isDefaultRoute: true,
        subnets: [{ subnet: "10.203.77.0/24", gateway: "10.203.77.1", prefixLength: 24 }],
      },
      {
        name: "dmz",
        bridge: `lvtb${tail}`,
        isDefaultRoute: false,
        subnets: [
          { subnet: "10.203.78.0/24", gateway: "10.203.78.1", prefixLength: 24 },
          { subnet: "fd00:203:78::/64", gateway: "fd00:203:78::1", prefixLength: 64 },
        ],
      },
    ],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

import { afterAll, test } from "bun:test";
import { writePrimary } from "../networks.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { flowWithVersion } from "../flows/version-flow.ts";

/** Only a newer containerd than Debian's takes results of 1.1.0: see new-runtime. */
const versions = ["0.3.1", "0.4.0", "1.0.0"];

test.each(versions)("four pods on two networks with CNI %s throughout", async (version) => {
  await flowWithVersion(await theInstalled(), version);
});

afterAll(async () => {
  const { levee } = await theInstalled();
  writePrimary("1.0.0");
  levee.configure();
  await levee.restart();
}, 60_000);

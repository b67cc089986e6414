import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { atMostAtOnce, type Caller } from "../../src/cli/storm/caller/caller.ts";
import { chainCaller } from "../../src/cli/storm/caller/chain-caller.ts";
import type { Ground } from "../ground/ground.ts";
import { confOf, primary, secondary } from "../ground/networks.ts";

/** How many pods at a time if there are many. More would not be faster on two cores. */
const floorAtOnce = 4;

export const floorLabel = `the delegates alone, ${floorAtOnce} at a time`;

/** Runs the two plugins of each pod directly: no way of attaching pods can be faster. */
export async function floorCaller(ground: Ground, atOnce = floorAtOnce): Promise<Caller> {
  const program = join(ground.bin, "bridge");
  const delegate = (network: typeof primary, ifname: string) => ({
    program,
    conf: JSON.stringify(confOf(network, ground.leases)),
    ifname,
  });
  const direct = await chainCaller(
    {
      clock: systemClock,
      cniPath: ground.bin,
      env: { PATH: process.env["PATH"] ?? "" },
      folder: ground.runFolder("floor-calls"),
    },
    [delegate(primary, "eth0"), delegate(secondary, "net1")],
  );
  return atMostAtOnce(direct, atOnce);
}

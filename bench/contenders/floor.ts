import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { atMostAtOnce, type Caller } from "../../src/cli/storm/caller/caller.ts";
import { chainCaller } from "../../src/cli/storm/caller/chain-caller.ts";
import type { Ground } from "../ground/ground.ts";
import { confOf, type BridgeNetwork } from "../ground/networks.ts";
import { isOnOtherBridges, otherNetworks, usualNetworks } from "../storm/pods.ts";

/** How many pods at a time if there are many. More would not be faster on two cores. */
const floorAtOnce = 4;

export const floorLabel = `the delegates alone, ${floorAtOnce} at a time`;

type FloorGround = Pick<Ground, "bin" | "leases" | "runFolder">;

/** Runs the two plugins of each pod directly, on the networks that Levee gives it: no way of attaching pods can be faster. */
export async function floorCaller(ground: FloorGround, atOnce = floorAtOnce): Promise<Caller> {
  const usual = await directCaller(ground, "floor-calls", usualNetworks);
  const others = await directCaller(ground, "floor-calls-too", otherNetworks);
  const either = atMostAtOnce(
    {
      running: new Set(),
      call: (verb, sandbox) => (isOnOtherBridges(sandbox) ? others : usual).call(verb, sandbox),
    },
    atOnce,
  );
  return {
    call: (verb, sandbox) => either.call(verb, sandbox),
    get running(): ReadonlySet<number> {
      return new Set([...usual.running, ...others.running]);
    },
  };
}

function directCaller(
  ground: FloorGround,
  folder: string,
  [first, second]: readonly [BridgeNetwork, BridgeNetwork],
): Promise<Caller> {
  const program = join(ground.bin, "bridge");
  const delegate = (network: BridgeNetwork, ifname: string) => ({
    program,
    conf: JSON.stringify(confOf(network, ground.leases)),
    ifname,
  });
  return chainCaller(
    {
      clock: systemClock,
      cniPath: ground.bin,
      env: { PATH: process.env["PATH"] ?? "" },
      folder: ground.runFolder(folder),
    },
    [delegate(first, "eth0"), delegate(second, "net1")],
  );
}

import { spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";

/** A bridge of the distribution's plugin with a name and subnets of its own; the device is removed at the end. */
export interface RealBridge extends AsyncDisposable {
  readonly device: string;
  /** First three numbers of its IPv4 subnet. */
  readonly subnet: string;
  /** Its IPv6 prefix, with the last `::`. */
  readonly subnet6: string;
  conf(name: string, options: BridgeOptions): Record<string, unknown>;
}

interface BridgeOptions {
  readonly dataDir: string;
  readonly cniVersion?: string;
  /** Whether the plugin makes a default route in both families. */
  readonly isDefaultRoute?: boolean;
  readonly withV6?: boolean;
}

export function realBridge(letter: string): RealBridge {
  const device = `lv${letter}${randomBytes(4).toString("hex")}`;
  const subnet = `10.${randomInt(64, 250)}.${randomInt(1, 250)}`;
  const subnet6 = `fd00:${randomInt(0x1000, 0xffff).toString(16)}:${randomInt(0x1000, 0xffff).toString(16)}::`;
  return {
    device,
    subnet,
    subnet6,
    conf: (name, options) => bridgeConf({ name, device, subnet, subnet6, ...options }),
    [Symbol.asyncDispose]: () => {
      spawnSync("ip", ["link", "delete", device]);
      return Promise.resolve();
    },
  };
}

function bridgeConf(
  options: BridgeOptions & {
    readonly name: string;
    readonly device: string;
    readonly subnet: string;
    readonly subnet6: string;
  },
): Record<string, unknown> {
  const { name, device, subnet, subnet6, dataDir, isDefaultRoute = false, withV6 = false } = options;
  const ranges = [[{ subnet: `${subnet}.0/24` }], ...(withV6 ? [[{ subnet: `${subnet6}/64` }]] : [])];
  const routes = isDefaultRoute ? [{ dst: "0.0.0.0/0" }, ...(withV6 ? [{ dst: "::/0" }] : [])] : [];
  return {
    cniVersion: options.cniVersion ?? "1.0.0",
    name,
    type: "bridge",
    bridge: device,
    isGateway: true,
    ipam: { type: "host-local", dataDir, ranges, routes },
  };
}

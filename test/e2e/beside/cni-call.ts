import { spawnSync } from "node:child_process";
import { join } from "node:path";

const binFolder = "/opt/cni/bin";

export interface CniCall {
  readonly command: "ADD" | "CHECK" | "DEL";
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  readonly args?: string;
}

/** Calls a plugin as a runtime does. Its complaint, or undefined when it succeeds. */
export function callPlugin(
  conf: { readonly type: string; readonly [key: string]: unknown },
  { command, containerId, netns, ifname, args = "" }: CniCall,
): string | undefined {
  const { status, stdout } = spawnSync(join(binFolder, conf.type), {
    input: JSON.stringify(conf),
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"] ?? "",
      CNI_COMMAND: command,
      CNI_CONTAINERID: containerId,
      CNI_NETNS: netns,
      CNI_IFNAME: ifname,
      CNI_PATH: binFolder,
      CNI_ARGS: args,
    },
  });
  if (status === 0 && (command === "ADD" || stdout === "")) return undefined;
  return (JSON.parse(stdout) as { msg: string }).msg;
}

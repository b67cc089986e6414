import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listing } from "./networks.ts";

const folder = "/var/lib/cni/recorded";
/** Programs behind a recorder, under their own names. */
const behindFolder = "/opt/cni/behind";

/** One call of a recorded plugin: what it was given, byte for byte. */
export interface RecordedCall {
  readonly plugin: string;
  readonly command: string;
  readonly containerId: string;
  readonly ifname: string;
  readonly stdin: string;
}

/** Plugins that write down what they are given and then are `bridge`; the slow one takes its time to add. */
export function installRecorders(): void {
  install("recorded-bridge", "", "/opt/cni/bin/bridge");
  install("slow-bridge", '[ "$CNI_COMMAND" = ADD ] && sleep 2', "/opt/cni/bin/bridge");
}

/** Installs a plugin of others with a recorder in its place, which becomes the plugin. */
export function installRecorded(name: string, program: string): void {
  mkdirSync(behindFolder, { recursive: true });
  const behind = join(behindFolder, name);
  rmSync(behind, { force: true });
  copyFileSync(program, behind);
  install(name, "", behind);
}

function install(name: string, first: string, behind: string): void {
  mkdirSync(folder, { recursive: true });
  const path = join("/opt/cni/bin", name);
  rmSync(path, { force: true });
  writeFileSync(
    path,
    `#!/bin/sh
call=${folder}/$(date +%s%N)_${name}_$CNI_COMMAND_"$CNI_CONTAINERID"_"$CNI_IFNAME"
cat > "$call.part" && mv "$call.part" "$call"
${first}
exec ${behind} < "$call"
`.replace("$CNI_COMMAND_", "${CNI_COMMAND}_"),
    { mode: 0o755 },
  );
}

export function forgetRecorded(): void {
  for (const name of listing(folder)) rmSync(join(folder, name));
}

/** The recorded calls, oldest first. */
export function recorded(): readonly RecordedCall[] {
  return listing(folder)
    .filter((name) => !name.endsWith(".part"))
    .toSorted()
    .map((name) => {
      const [, plugin = "", command = "", containerId = "", ifname = ""] = name.split("_");
      return { plugin, command, containerId, ifname, stdin: readFileSync(join(folder, name), "utf8") };
    });
}

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { netnsName } from "../node/names.ts";
import { netnsExists } from "../node/netns.ts";
import { requireRoot } from "../node/require-root.ts";
import { hasLink, makeBridges } from "./bridges.ts";
import { daemonConfig, networkYaml, sitePaths, type Site } from "./site.ts";

/** The plugins of the two networks. */
const pluginsNeeded = ["bridge", "host-local"] as const;

/** Throws if something is missing, before anything is made. Returns the folder that has the plugins. */
export function requireMachine(context: Context): string {
  const { shell, settings } = context;
  requireRoot(shell);
  if (!existsSync(settings.shim)) {
    throw new CommandFailure("shim-missing", `Cannot find the shim: there is no ${settings.shim}`, {
      remedy: "npm run build, or name it with --shim FILE",
    });
  }
  const folders = settings.cniPath.split(":").filter((folder) => folder !== "");
  const binDir = folders.find((folder) => pluginsNeeded.every((plugin) => existsSync(join(folder, plugin))));
  if (binDir === undefined) {
    throw new CommandFailure(
      "plugins-missing",
      `Cannot find the plugins ${pluginsNeeded.join(" and ")} in ${folders.join(", ") || "/opt/cni/bin, /usr/lib/cni"}`,
      {
        remedy: "apt-get install containernetworking-plugins, or name their folder with --cni-path",
      },
    );
  }
  return binDir;
}

/** No demo made an interface or namespace that has one of our names now, and the end of the demo would remove it. */
export function refuseTakenNames(site: Site): void {
  const bridge = site.networks.map((network) => network.bridge).find(hasLink);
  if (bridge !== undefined)
    throw new CommandFailure("name-taken", `Cannot start the demo: the interface ${bridge} already exists`, {
      remedy: `ip link del ${bridge}, if you do not need it`,
    });
  const netns = netnsName(site.pod);
  if (netnsExists(netns))
    throw new CommandFailure("name-taken", `Cannot start the demo: the network namespace ${netns} already exists`, {
      remedy: `levee detach ${site.pod.name}, or ip netns del ${netns}`,
    });
}

/** Makes folders, configuration, networks and bridges: everything the daemon needs. */
export async function prepareSite(context: Context, site: Site, binDir: string): Promise<void> {
  const paths = sitePaths(site);
  // A client of the socket can run plugins as root, so the daemon insists that only root may enter its folder.
  for (const folder of [site.runDir, site.stateDir]) await mkdir(folder, { mode: 0o700 });
  for (const folder of [paths.directory, paths.networks, paths.pods]) await mkdir(folder, { mode: 0o755 });
  const options = { mode: 0o644, sync: false };
  await writeFileAtomically(paths.config, daemonConfig(site, binDir), options);
  for (const network of site.networks)
    await writeFileAtomically(join(paths.networks, `${network.name}.yaml`), networkYaml(site, network), options);
  await makeBridges(context.shell, site);
}

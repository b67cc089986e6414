import type { Cluster } from "../cluster.ts";
import { say } from "../say.ts";
import { theNetworks } from "../the-levee.ts";
import { BuildOfLevee } from "./build-of-levee.ts";
import { InstalledLevee } from "./installed-levee.ts";

/** The cluster as people have it: controllers run, and Levee comes from its image and its manifests. */
export interface InstalledScene {
  readonly cluster: Cluster;
  readonly levee: InstalledLevee;
}

let made: Promise<InstalledScene> | undefined;

/** With Levee installed and serving; the first to ask installs it. */
export async function theInstalled(): Promise<InstalledScene> {
  made ??= make();
  const scene = await made;
  if (await scene.levee.isInstalled()) await scene.levee.start();
  else {
    await scene.levee.install();
    say("Levee is installed");
  }
  return scene;
}

/** Without Levee, which is uninstalled where a scenario before has left it. */
export async function theUninstalled(): Promise<InstalledScene> {
  made ??= make();
  const scene = await made;
  await scene.levee.uninstall();
  return scene;
}

/** What the node's runtime is given; nothing can be pulled in here. */
export function loadImages(): void {
  BuildOfLevee.current().load("levee");
}

async function make(): Promise<InstalledScene> {
  const cluster = await theNetworks();
  say("kube-controller-manager, kube-scheduler");
  await cluster.startControllers();
  loadImages();
  return { cluster, levee: new InstalledLevee(cluster) };
}

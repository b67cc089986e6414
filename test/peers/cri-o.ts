import { spawnSync } from "node:child_process";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { debianPrograms } from "./debian-programs.ts";
import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** The runtime CRI-O, of the cluster's Kubernetes version, with `pinns`, its helper in C that keeps namespaces. */
export async function criO(): Promise<Peer> {
  const built = await modulePrograms({
    name: "cri-o",
    module: "github.com/cri-o/cri-o",
    version: "v1.34.0",
    packages: ["cmd/crio"],
    files: ["pinns/src"],
    // Without the libraries for signatures and file systems that the tests have no use for.
    tags: ["containers_image_openpgp", "containers_image_ostree_stub", "exclude_graphdriver_btrfs", "btrfs_noversion"],
  });
  if ("missing" in built) return built;
  const complaint = compilePinns(built.folder);
  return complaint === undefined ? built : { missing: `pinns of CRI-O could not be compiled: ${complaint}` };
}

/** CRI-O starts each container through it. */
export async function conmon(): Promise<Peer> {
  return debianPrograms({ name: "conmon", packages: ["conmon"], without: [], proof: "usr/bin/conmon" });
}

function compilePinns(bin: string): string | undefined {
  const program = join(bin, "pinns");
  if (existsSync(program)) return undefined;
  const fresh = `${program}.${process.pid}`;
  const sources = ["pinns.c", "sysctl.c"].map((name) => join(bin, "src", name));
  const { status, stderr } = spawnSync("cc", ["-std=c99", "-Os", "-static", "-o", fresh, ...sources], {
    encoding: "utf8",
  });
  if (status !== 0) return stderr.trim().split("\n").slice(-3).join("\n");
  renameSync(fresh, program);
  return undefined;
}

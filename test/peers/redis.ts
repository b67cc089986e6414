import { existsSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { isBuilt, peerFolder, type Peer } from "./peer.ts";

/** The program of Debian's redis-tools, which is the server under another name. The package redis-server starts a service. */
const debianProgram = "/usr/bin/redis-check-rdb";

/** Redis' server, of Debian. */
export async function redis(): Promise<Peer> {
  if (!existsSync(debianProgram))
    return { missing: "redis-tools is not installed (on Debian, as root: apt-get install redis-tools)" };
  const bin = join(peerFolder("redis", "debian"), "bin");
  if (isBuilt(bin, ["redis-server"])) return { folder: bin };
  await mkdir(bin, { recursive: true });
  // A link whose program was removed since is in the way.
  await rm(join(bin, "redis-server"), { force: true });
  await symlink(debianProgram, join(bin, "redis-server"));
  return { folder: bin };
}

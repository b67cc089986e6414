import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";

const multusModule = "gopkg.in/k8snetworkplumbingwg/multus-cni.v4";
const cache = join(import.meta.dir, "../.cache/peers");

/** Builds a program of Multus from its Go module, once. Without Go, or without the module, the reason instead. */
export async function multusProgram(
  name: "multus-shim",
  version: string,
): Promise<{ path: string } | { missing: string }> {
  const path = join(cache, version, name);
  if (existsSync(path)) return { path };
  if (spawnSync("go", ["version"]).status !== 0)
    return { missing: "Go is not installed, so Multus could not be built" };
  process.stdout.write(`Building ${name} ${version} from its Go module (once, about a minute)…\n`);
  const download = spawnSync("go", ["mod", "download", "-json", `${multusModule}@${version}`], { encoding: "utf8" });
  const source = download.status === 0 ? (JSON.parse(download.stdout) as { Dir?: string }).Dir : undefined;
  if (source === undefined) return { missing: `the Go module ${multusModule} ${version} could not be fetched` };
  const copy = join(cache, version, "source");
  await mkdir(copy, { recursive: true });
  await cp(source, copy, { recursive: true });
  spawnSync("chmod", ["-R", "u+w", copy]);
  const build = spawnSync("go", ["build", "-o", path, `./cmd/${name}`], { cwd: copy, encoding: "utf8" });
  return build.status === 0
    ? { path }
    : { missing: `${name} ${version} could not be built: ${build.stderr.trim().split("\n").at(-1) ?? ""}` };
}

import { existsSync } from "node:fs";
import { copyFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findGo, moduleSource, runGo } from "./go-tool.ts";
import { buildInto, isBuilt, peerFolder, type Peer } from "./peer.ts";
import { stagingPicks, type StagingPick } from "./staging-modules.ts";

const version = "v1.34.5";
const module = "k8s.io/kubernetes";
const programs = ["kube-apiserver", "kube-controller-manager", "kubelet", "kubectl"];
const versionPackage = "k8s.io/component-base/version";

/** kube-apiserver, kube-controller-manager, kubelet and kubectl, built once: about ten minutes on two cores. */
export async function kubernetes(): Promise<Peer> {
  const folder = peerFolder("k8s", version);
  const bin = join(folder, "bin");
  if (isBuilt(bin, programs)) return { folder: bin };
  const go = findGo();
  if (go === undefined) return { missing: "Go is not installed, so Kubernetes could not be built" };
  process.stdout.write(`Building Kubernetes ${version} from its Go modules (once, about ten minutes)…\n`);
  const source = await moduleSource(go, module, version);
  if (source === undefined) return { missing: `the Go module ${module} ${version} could not be fetched` };
  await mkdir(folder, { recursive: true });
  await writeModule(folder, source, await rememberedPicks(folder, () => stagingPicks(go, source, version)));
  const tidy = await runGo(go, ["mod", "tidy"], { cwd: folder });
  if (!tidy.isDone) return { missing: `the modules of Kubernetes could not be put in order: ${tidy.complaint}` };
  const complaint = await buildInto(bin, {
    go,
    cwd: folder,
    packages: programs.map((program) => `${module}/cmd/${program}`),
    ldflags: `-X ${versionPackage}.gitVersion=${version} -X ${versionPackage}.gitMajor=1 -X ${versionPackage}.gitMinor=34`,
  });
  return complaint === undefined ? { folder: bin } : { missing: `Kubernetes could not be built: ${complaint}` };
}

/** Which versions were found is kept beside the build: asking again takes a minute and could find others. */
async function rememberedPicks(
  folder: string,
  find: () => Promise<readonly StagingPick[]>,
): Promise<readonly StagingPick[]> {
  const file = join(folder, "picks");
  if (existsSync(file)) return parsePicks(await readFile(file, "utf8"));
  const picks = await find();
  await writeFile(file, picks.map((pick) => `${pick.module} ${pick.version}\n`).join(""));
  return picks;
}

function parsePicks(text: string): readonly StagingPick[] {
  return text.split("\n").flatMap((line) => {
    const [name, picked] = line.split(" ");
    return name === undefined || picked === undefined ? [] : [{ module: name, version: picked }];
  });
}

/** A module of our own that requires Kubernetes: its `replace` lines count, those of a dependency do not. */
async function writeModule(folder: string, source: string, picks: readonly StagingPick[]): Promise<void> {
  const replaces = picks.map((pick) => `\t${pick.module} => ${pick.module} ${pick.version}\n`).join("");
  await writeFile(
    join(folder, "go.mod"),
    `module levee.test/peers\n\ngo 1.24.0\n\nrequire ${module} ${version}\n\nreplace (\n${replaces})\n`,
  );
  const imports = programs.map((program) => `import _ "${module}/cmd/${program}"\n`).join("");
  await writeFile(join(folder, "tools.go"), `//go:build tools\n\npackage tools\n\n${imports}`);
  await copyFile(join(source, "go.sum"), join(folder, "go.sum"));
  await chmod(join(folder, "go.sum"), 0o644);
}

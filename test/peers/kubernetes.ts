import { existsSync } from "node:fs";
import { copyFile, chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findGo, moduleSource, runGo } from "./go-tool.ts";
import { buildInto, isBuilt, peerFolder, type Peer } from "./peer.ts";
import { stagingPicks, type StagingPick } from "./staging-modules.ts";

const version = "v1.34.5";
const module = "k8s.io/kubernetes";
const programs = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"];
const versionPackage = "k8s.io/component-base/version";

/** The programs of Kubernetes, built once: about ten minutes on two cores. A cache that lacks some gets only those. */
export async function kubernetes(): Promise<Peer> {
  const folder = peerFolder("k8s", version);
  const bin = join(folder, "bin");
  const missing = programs.filter((program) => !isBuilt(bin, [program]));
  if (missing.length === 0) return { folder: bin };
  const go = findGo();
  if (go === undefined) return { missing: "Go is not installed, so Kubernetes could not be built" };
  const howLong = missing.length === programs.length ? "about ten minutes" : "a few minutes";
  process.stdout.write(`Building ${missing.join(", ")} ${version} from Go modules (once, ${howLong})…\n`);
  const source = await moduleSource(go, module, version);
  if (source === undefined) return { missing: `the Go module ${module} ${version} could not be fetched` };
  // Two builds may meet.
  const own = join(folder, `build.${process.pid}`);
  await mkdir(own, { recursive: true });
  try {
    await writeModule(own, source, await rememberedPicks(folder, () => stagingPicks(go, source, version)));
    const complaint = await build(go, own, { bin, missing });
    return complaint === undefined ? { folder: bin } : { missing: complaint };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** What went wrong, or nothing. */
async function build(
  go: string,
  cwd: string,
  { bin, missing }: { readonly bin: string; readonly missing: readonly string[] },
): Promise<string | undefined> {
  const tidy = await runGo(go, ["mod", "tidy"], { cwd });
  if (!tidy.isDone) return `the modules of Kubernetes could not be put in order: ${tidy.complaint}`;
  const [major = "", minor = ""] = version.slice(1).split(".");
  const stamps = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const complaint = await buildInto(bin, {
    go,
    cwd,
    packages: missing.map((program) => `${module}/cmd/${program}`),
    ldflags: Object.entries(stamps)
      .map(([name, value]) => `-X ${versionPackage}.${name}=${value}`)
      .join(" "),
  });
  return complaint === undefined ? undefined : `Kubernetes could not be built: ${complaint}`;
}

/** Which versions were found is kept beside the build: asking again takes a minute and could find others. */
async function rememberedPicks(
  folder: string,
  find: () => Promise<readonly StagingPick[]>,
): Promise<readonly StagingPick[]> {
  const file = join(folder, "picks");
  if (existsSync(file)) return parsePicks(await readFile(file, "utf8"));
  const picks = await find();
  await writeFile(`${file}.${process.pid}`, picks.map((pick) => `${pick.module} ${pick.version}\n`).join(""));
  await rename(`${file}.${process.pid}`, file);
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

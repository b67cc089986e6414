import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Architecture } from "../debian/pins.ts";
import type { Images } from "./made-images.ts";
import { sourceDate } from "./source-date.ts";

const root = resolve(import.meta.dirname, "../..");

/** Builds the images again from nothing, in two other folders of different length, and compares. Throws on a difference. */
export function verifyImages(images: Images, architectures: readonly Architecture[]): void {
  const folder = mkdtempSync(join(tmpdir(), "levee-verify-"));
  try {
    for (const name of ["a", "another-folder-with-a-longer-name"]) {
      console.log(`verify: building again in ${join(folder, name)}`);
      const again = buildIn(join(folder, name), architectures);
      const problems = differences(images, again);
      if (problems.length > 0) throw new Error(`The images are not reproducible:\n${problems.join("\n")}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log("verify: three builds in three folders have the same digests");
}

export function differences(first: Images, second: Images): readonly string[] {
  return first.images.flatMap(({ name, digest, platforms }) => {
    const other = second.images.find((image) => image.name === name);
    if (other?.digest === digest) return [];
    return Object.entries(platforms)
      .filter(([platform, manifest]) => other?.platforms[platform] !== manifest)
      .map(
        ([platform, manifest]) => `${name} for ${platform}: ${manifest} and ${other?.platforms[platform] ?? "none"}`,
      );
  });
}

function buildIn(folder: string, architectures: readonly Architecture[]): Images {
  copyTree(folder);
  const args = architectures.flatMap((architecture) => ["--arch", architecture]);
  const seconds = String(sourceDate(root, process.env).getTime() / 1_000);
  const { status } = spawnSync(process.execPath, ["scripts/image.ts", ...args, "--out", join(folder, "out")], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, SOURCE_DATE_EPOCH: seconds },
  });
  if (status !== 0)
    throw new Error(`Cannot verify the images: the build in ${folder} ended with ${status ?? "a signal"}`);
  return JSON.parse(readFileSync(join(folder, "out/images.json"), "utf8")) as Images; // as buildImages writes it
}

/** The files of the checkout, changed ones as they are, and the packages that the program contains. */
export function copyTree(folder: string): void {
  const list = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
  });
  if (list.status !== 0) throw new Error(`Cannot verify the images: git ls-files failed: ${list.stderr.trim()}`);
  copyAll(
    list.stdout.split("\0").filter((name) => name !== "" && existsSync(join(root, name))),
    folder,
  );
  copyPackages(folder);
}

/** Copies the packages that the program contains, with those that these need. */
export function copyPackages(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
  }; // as npm writes it
  copyAll(
    Object.entries(packages).flatMap(([path, { dev, optional }]) =>
      path === "" || dev === true || optional === true ? [] : [path],
    ),
    folder,
  );
}

function copyAll(paths: readonly string[], folder: string): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
}

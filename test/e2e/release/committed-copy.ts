import { spawnSync } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pinsFile } from "../../../scripts/debian/pins.ts";
import { testPins } from "../../../scripts/e2e/test-images.ts";
import { copyTree } from "../../../scripts/image/verify-images.ts";
import { sourceDate } from "../../../scripts/image/source-date.ts";

const root = resolve(import.meta.dirname, "../../..");
/** What is built here already, so that it is not built again. Each part is used only if its inputs are the same. */
const builtParts = [".build.json", "levee", "linux-amd64", "linux-arm64", "image"];

/** A copy of this tree with its changes, in a git repository of one commit. Its path. */
export function committedCopy(folder: string): string {
  copyTree(folder);
  for (const part of builtParts)
    if (existsSync(join(root, "dist", part)))
      cpSync(join(root, "dist", part), join(folder, "dist", part), { recursive: true });
  writeFileSync(join(folder, pinsFile), testPins().text);
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--message", "A copy");
  return folder;
}

/** The same date as here, because it is part of the images. */
function git(folder: string, ...args: readonly string[]): void {
  const date = sourceDate(root, process.env).toISOString();
  const who = ["-c", "user.name=levee", "-c", "user.email=levee@example.com"];
  const { status, stderr } = spawnSync("git", ["-C", folder, ...who, ...args], {
    encoding: "utf8",
    env: { ...process.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date },
  });
  if (status !== 0) throw new Error(`git ${args[0] ?? ""} failed in ${folder}: ${stderr}`);
}

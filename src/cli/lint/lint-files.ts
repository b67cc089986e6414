import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { usageFailure } from "../failure.ts";
import { fileFinding, joinSources, only, readLintSource, startOf, type LintSources } from "./lint-sources.ts";

/** A whole monorepo has fewer; more is a wrong folder, such as /. */
const filesMax = 100_000;
/** Larger files are no manifests that people write. */
const fileBytesMax = 64 * 1_024 * 1_024;

/** Files as given, and the YAML and JSON files of folders, each once. `-` is what standard input has. */
export async function lintFiles(paths: readonly string[], input?: () => Promise<string>): Promise<LintSources> {
  const sources: LintSources[] = [];
  const seen = new Set<string>();
  for (const path of new Set(paths)) {
    if (path === "-") sources.push(await fromInput(input));
    else for (const file of unseen(await filesAt(path), seen)) sources.push(await readFileSource(file));
  }
  return joinSources(sources);
}

/** A file may be named beside its folder. */
function unseen(files: readonly string[], seen: Set<string>): readonly string[] {
  return files.filter((file) => {
    const whole = resolve(file);
    const isNew = !seen.has(whole);
    seen.add(whole);
    return isNew;
  });
}

async function fromInput(input: (() => Promise<string>) | undefined): Promise<LintSources> {
  if (input === undefined) throw usageFailure("Cannot read standard input here", "levee lint FILE");
  return readLintSource("<stdin>", await input());
}

async function filesAt(path: string): Promise<readonly string[]> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) throw usageFailure(`Cannot read ${path}: there is no such file or folder`, "give its path");
  if (facts.isDirectory()) return await manifestsBelow(path);
  // A pipe may have no end, and its reader cannot be interrupted.
  if (!facts.isFile())
    throw usageFailure(`Cannot read ${path}: it is neither a file nor a folder`, `levee lint - < ${path}`);
  return [path];
}

/** Symbolic links are not followed, so a folder that contains itself ends. */
async function manifestsBelow(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path);
      else if (entry.isFile() && /\.(?:ya?ml|json)$/u.test(entry.name)) files.push(path);
    }
    if (files.length > filesMax)
      throw usageFailure(`Cannot lint ${folder}: it has more than ${filesMax} YAML files`, "name a smaller folder");
  }
  return files.toSorted();
}

const skipped: ReadonlySet<string> = new Set([".git", "node_modules"]);

export async function readFileSource(file: string, namespace?: string): Promise<LintSources> {
  const text = await manifestText(file);
  return typeof text === "string" ? readLintSource(file, text, namespace) : text;
}

/** The text of a file, or the finding that it has none: repositories of others may link to a device. */
export async function manifestText(file: string): Promise<string | LintSources> {
  try {
    const bytes = await readRegularFile(file, { bytesMax: fileBytesMax, followLinks: true });
    return bytes.toString("utf8");
  } catch (thrown) {
    if (!(thrown instanceof LeveeError)) throw thrown;
    return only(fileFinding("LVN0101", startOf(file), thrown.message));
  }
}

import type { Clock } from "../base/clock.ts";
import { errnoOf } from "../base/errors.ts";
import { limits } from "./limits.ts";
import { compareNames, listFiles, type ListedFile, type Listing, type OnFolder } from "./listing.ts";
import { emptyManifest, type Manifest } from "./manifest.ts";
import type { ParseFile } from "./parse-file.ts";
import { markOf, readSourceFile, type FileContent, type FileMark } from "./source-file.ts";
import type { DirectoryProblem, FileProblem } from "./directory-problem.ts";

/** A file's last good content, and the problems of its present content. */
export interface KeptFile {
  readonly mark: FileMark | undefined;
  readonly digest: string;
  readonly manifest: Manifest;
  readonly problems: readonly FileProblem[];
}

interface ContentsOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly parse: ParseFile;
  /** Called for each folder before it is read. */
  readonly onFolder: OnFolder;
}

/** The files of the folder, by name. A refresh reads only the files that changed since the last one. */
export class Contents {
  readonly #options: ContentsOptions;
  #files: ReadonlyMap<string, KeptFile> = new Map();
  #listingProblems: readonly DirectoryProblem[] = [];

  constructor(options: ContentsOptions) {
    this.#options = options;
  }

  get files(): ReadonlyMap<string, KeptFile> {
    return this.#files;
  }

  problems(): DirectoryProblem[] {
    const ofFiles = [...this.#files].flatMap(([file, kept]) => kept.problems.map((problem) => ({ file, ...problem })));
    return [...this.#listingProblems, ...ofFiles];
  }

  /** Reads the changed files. Returns whether any object may have changed. A folder that cannot be read keeps its files. */
  async refresh(): Promise<boolean> {
    const listing = await this.#list();
    if (listing === undefined) return false;
    const before = this.#files;
    const files = new Map<string, KeptFile>();
    let roomBytes: number = limits.totalBytesMax;
    for (const file of listing.files) {
      const kept = await this.#refreshFile(file, before.get(file.name), roomBytes);
      if (kept !== undefined) files.set(file.name, kept);
      roomBytes -= kept?.mark?.sizeBytes ?? 0;
    }
    for (const [name, kept] of before)
      if (listing.unreadable.some((folder) => name.startsWith(`${folder}/`))) files.set(name, kept);
    this.#files = new Map([...files].toSorted(([left], [right]) => compareNames(left, right)));
    this.#listingProblems = listing.problems;
    return (
      files.size !== before.size || [...files].some(([name, kept]) => kept.manifest !== before.get(name)?.manifest)
    );
  }

  async #list(): Promise<Listing | undefined> {
    try {
      return await listFiles(this.#options.folder, this.#options.onFolder);
    } catch (thrown) {
      this.#listingProblems = [
        {
          file: "",
          line: undefined,
          reason: `Cannot read the folder, so its earlier content is served: ${describe(thrown)}`,
        },
      ];
      return undefined;
    }
  }

  /** Undefined when the file is gone. */
  async #refreshFile(file: ListedFile, before: KeptFile | undefined, roomBytes: number): Promise<KeptFile | undefined> {
    try {
      return await this.#readFile(file, before, roomBytes);
    } catch (thrown) {
      if (["ENOENT", "ENOTDIR"].includes(errnoOf(thrown) ?? "")) return undefined;
      return broken(before, describe(thrown));
    }
  }

  async #readFile(file: ListedFile, before: KeptFile | undefined, roomBytes: number): Promise<KeptFile> {
    const wallMs = this.#options.clock.wallMs();
    const mark = await markOf(file.real, wallMs);
    if (before?.mark?.identity === mark.identity && !before.mark.isFresh) return before;
    if (mark.sizeBytes > roomBytes) {
      return broken(
        before,
        `Cannot read the file as all files together may have at most ${limits.totalBytesMax} bytes: with this file they have more`,
      );
    }
    const content = await readSourceFile(file.real, wallMs);
    return content.digest === before?.digest ? { ...before, mark: content.mark } : this.#parse(content, before);
  }

  #parse({ bytes, mark, digest }: FileContent, before: KeptFile | undefined): KeptFile {
    const parsed = this.#options.parse(bytes);
    if ("manifest" in parsed) return { mark, digest, manifest: parsed.manifest, problems: [] };
    return { mark, digest, manifest: before?.manifest ?? emptyManifest, problems: parsed.problems };
  }
}

/** Without mark and digest, so that the next refresh tries again. */
function broken(before: KeptFile | undefined, reason: string): KeptFile {
  return {
    mark: undefined,
    digest: "",
    manifest: before?.manifest ?? emptyManifest,
    problems: [{ line: undefined, reason }],
  };
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

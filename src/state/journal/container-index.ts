import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { ContainerId } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { encodeLine, endsCleanly, lineVersion, type DamagedBytes, type GoodLine } from "../files/checked-line.ts";
import { LineFile } from "../files/line-file.ts";
import { LogFile, type OpenLog } from "../files/log-file.ts";

/**
 * The containers with a record, in a file of their own: if the journal is lost or cut short, the index still shows that
 * a container belongs to Levee. It is written before each intent and not synced.
 */
export class ContainerIndex {
  readonly #file: LogFile;
  readonly #ids: Set<ContainerId>;

  constructor(path: string, loaded: LoadedIndex, openLog?: OpenLog) {
    this.#file = new LogFile(path, loaded.goodBytes, { openLog });
    this.#ids = new Set(loaded.ids);
    if (!loaded.sound) this.#file.distrust();
  }

  has(containerId: ContainerId): boolean {
    return this.#ids.has(containerId);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Writes all new IDs, or none. */
  async add(ids: Iterable<ContainerId>): Promise<void> {
    const fresh = [...new Set(ids)].filter((id) => !this.#ids.has(id));
    await this.#append(fresh, "+");
    for (const id of fresh) this.#ids.add(id);
  }

  async drop(ids: Iterable<ContainerId>): Promise<void> {
    const known = [...new Set(ids)].filter((id) => this.#ids.delete(id));
    try {
      await this.#append(known, "-");
    } catch (cause) {
      // Memory no longer has them, so no later call drops them. The next write rewrites the file without them.
      this.#file.distrust();
      throw cause;
    }
  }

  /** Rewrites the file without the removed IDs. */
  async rewrite(): Promise<void> {
    const content = Array.from(this.#ids, (id) => indexLine("+", id)).join("");
    await writeFileAtomically(this.#file.path, content, { mode: 0o600, sync: true });
    await this.#file.replaced(Buffer.byteLength(content));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #append(ids: readonly ContainerId[], sign: Sign): Promise<void> {
    if (ids.length === 0) return;
    if (this.#file.unsound) await this.rewrite();
    await this.#file.append(Buffer.from(ids.map((id) => indexLine(sign, id)).join("")), false);
  }
}

export interface LoadedIndex {
  readonly exists: boolean;
  readonly ids: ReadonlySet<ContainerId>;
  /** The offset of the next line. */
  readonly goodBytes: number;
  readonly damaged: readonly DamagedBytes[];
  /** Whether lines can be appended without a rewrite. */
  readonly sound: boolean;
}

export async function loadIndex(path: string): Promise<LoadedIndex> {
  using file = LineFile.open(path);
  if (file === undefined) return { exists: false, ids: new Set(), goodBytes: 0, damaged: [], sound: false };
  const ids = new Set<ContainerId>();
  const damaged: DamagedBytes[] = [];
  let goodBytes = 0;
  for (const segment of file.segments("C", file.fileBytes)) {
    if (segment.kind === "torn") continue;
    if (segment.kind === "damaged") damaged.push(segment);
    else applyLine(segment, ids, path);
    if (segment.kind === "line") goodBytes = segment.offset + segment.bytes;
  }
  const isWhole = goodBytes === file.fileBytes && (goodBytes === 0 || endsCleanly(file.read(goodBytes - 1, 1)));
  return { exists: true, ids, goodBytes, damaged, sound: damaged.length === 0 && isWhole };
}

type Sign = "+" | "-";

function indexLine(sign: Sign, id: ContainerId): string {
  return encodeLine("C", sign + JSON.stringify(id));
}

function applyLine(line: GoodLine, ids: Set<ContainerId>, path: string): void {
  const sign = line.body[0];
  if (line.version !== lineVersion || (sign !== "+" && sign !== "-")) {
    throw new LeveeError(
      "state-newer",
      `Cannot open ${path} as a newer Levee wrote it: the line at byte ${line.offset} has version ${line.version}, this build reads ${lineVersion}; install the newer version again`,
    );
  }
  // The checksum is right, so this is a JSON string that Levee wrote.
  const id = JSON.parse(line.body.slice(1)) as ContainerId;
  if (sign === "+") ids.add(id);
  else ids.delete(id);
}

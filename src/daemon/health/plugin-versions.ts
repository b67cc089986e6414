import type { PluginType } from "../../base/brand.ts";
import type { Hand } from "../../hands/hand.ts";
import type { ProgramFacts } from "../../readiness/network-rules.ts";
import type { FoundFile } from "../../wire/outcome.ts";

/** VERSION only prints; a longer run is stuck. */
const runMsMax = 5_000;
/** The most that a resident hand runs at once; a question must not displace real work. */
const runsMax = 8;
/** An answer has seven versions. */
const answerBytesMax = 4_096;

interface Asked {
  readonly device: bigint;
  readonly inode: bigint;
  readonly facts: ProgramFacts;
}

/** Which CNI versions each plugin supports, asked once per program file: a file that was replaced is asked again. */
export class PluginVersions {
  readonly #asked = new Map<string, Asked>();

  of(program: string): ProgramFacts | undefined {
    return this.#asked.get(program)?.facts;
  }

  async ask(hand: Hand, programs: ReadonlyMap<string, FoundFile>, folders: readonly string[]): Promise<void> {
    for (const name of this.#asked.keys()) if (!programs.has(name)) this.#asked.delete(name);
    for (const [name, { device, inode }] of programs) {
      const known = this.#asked.get(name);
      if ((known?.device === device && known.inode === inode) || hand.busy >= runsMax) continue;
      this.#asked.set(name, { device, inode, facts: await askOne(hand, name as PluginType, folders) });
    }
  }
}

/** A program that answers otherwise is left to judge for itself: nothing is known about it. */
async function askOne(hand: Hand, plugin: PluginType, folders: readonly string[]): Promise<ProgramFacts> {
  const env = { CNI_COMMAND: "VERSION", CNI_PATH: folders.join(":") };
  const outcome = await hand.run({ plugin, env, stdin: '{"cniVersion":"1.0.0"}', timeoutMs: runMsMax });
  if (outcome.failure === "exec") return { problem: outcome.message };
  if (outcome.exitCode !== 0 || outcome.stdout.length > answerBytesMax) return {};
  return versionsIn(Buffer.from(outcome.stdout).toString("utf8"));
}

function versionsIn(text: string): ProgramFacts {
  try {
    const { supportedVersions } = JSON.parse(text) as { readonly supportedVersions?: unknown }; // looked at below
    const isList = Array.isArray(supportedVersions) && supportedVersions.every((entry) => typeof entry === "string");
    return isList ? { versions: supportedVersions } : {};
  } catch {
    // Not an answer to VERSION.
    return {};
  }
}

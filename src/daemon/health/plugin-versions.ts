import type { PluginType } from "../../base/brand.ts";
import { isBuiltinPlugin } from "../../cni/builtin/builtin-plugins.ts";
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
  readonly file: FoundFile | undefined;
  readonly facts: ProgramFacts & { readonly isBuiltIn?: boolean };
}

/** Which CNI versions each plugin supports, asked once per program file: a file that was replaced is asked again. */
export class PluginVersions {
  readonly #asked = new Map<string, Asked>();

  of(program: string): ProgramFacts | undefined {
    return this.#asked.get(program)?.facts;
  }

  /** Whether the hand has the plugin built in and no program is there. */
  isBuiltIn(name: string): boolean {
    return this.#asked.get(name)?.facts.isBuiltIn === true;
  }

  /** Programs by name; undefined for one that is missing. */
  async ask(
    hand: Hand,
    programs: ReadonlyMap<string, FoundFile | undefined>,
    folders: readonly string[],
  ): Promise<void> {
    for (const name of this.#asked.keys()) if (!programs.has(name)) this.#asked.delete(name);
    for (const [name, file] of programs) {
      if (this.#isKnown(name, file) || hand.busy >= runsMax) continue;
      this.#asked.delete(name);
      if (file === undefined && !isBuiltinPlugin(name)) continue;
      const facts = await askOne(hand, name as PluginType, folders);
      // The next hand may have it built in.
      if (file !== undefined || facts.isBuiltIn === true) this.#asked.set(name, { file, facts });
    }
  }

  #isKnown(name: string, file: FoundFile | undefined): boolean {
    const known = this.#asked.get(name);
    return known !== undefined && known.file?.device === file?.device && known.file?.inode === file?.inode;
  }
}

/** A program that answers otherwise is left to judge for itself: nothing is known about it. */
async function askOne(hand: Hand, plugin: PluginType, folders: readonly string[]): Promise<Asked["facts"]> {
  const env = { CNI_COMMAND: "VERSION", CNI_PATH: folders.join(":") };
  const outcome = await hand.run({
    plugin,
    env,
    stdin: '{"cniVersion":"1.0.0"}',
    timeoutMs: runMsMax,
    asksProgram: true,
  });
  if (outcome.failure === "exec") return { problem: outcome.message };
  if (outcome.exitCode !== 0 || outcome.stdout.length > answerBytesMax) return {};
  const versions = versionsIn(Buffer.from(outcome.stdout).toString("utf8"));
  return outcome.builtIn === undefined ? versions : { ...versions, isBuiltIn: true };
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

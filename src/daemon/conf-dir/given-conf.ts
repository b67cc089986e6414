import { basename, dirname, join } from "node:path";
import type { JsonText } from "../../base/brand.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { asJsonText, jsonBytesMax } from "../../cni/json-text.ts";
import { parseNetworkConf } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { shimType } from "../../config/shim-conf.ts";
import { warning, type ConfDirProblem } from "./conf-dir-facts.ts";
import type { ConfOrigin, WantedConf } from "./conf-origin.ts";
import { isConfName } from "./primary-conf.ts";

/** `multusConfigFile: <path>`: installs that file byte by byte and follows its changes. */
export class GivenConf implements ConfOrigin {
  readonly fileName: string;
  readonly folder: string;
  readonly #path: string;
  /** The file is already in the conf directory, so the program that put it there keeps it. */
  readonly #isInPlace: boolean;
  #good: JsonText | undefined;

  constructor({ multusConfigFile, cniConfigDir }: Pick<DaemonConfig, "multusConfigFile" | "cniConfigDir">) {
    this.#path = multusConfigFile;
    this.fileName = basename(multusConfigFile);
    this.folder = dirname(multusConfigFile);
    this.#isInPlace = join(cniConfigDir, this.fileName) === multusConfigFile;
  }

  async look(): Promise<WantedConf> {
    const problems: ConfDirProblem[] = [];
    try {
      const bytes = await readRegularFile(this.#path, { bytesMax: jsonBytesMax, followLinks: true });
      const text = asJsonText(bytes, this.#path);
      problems.push(...judge(text, this.#path));
      this.#good = text;
    } catch (thrown) {
      const stays = this.#good === undefined ? "nothing is installed" : "the last good one stays";
      const message = `multusConfigFile cannot be used, so ${stays}: ${this.#reasonOf(thrown)}`;
      problems.push(warning("given-unusable", message, 'mend it, or set multusConfigFile to "auto"'));
    }
    return { text: this.#isInPlace ? undefined : this.#good, primary: undefined, pluginTypes: [], problems };
  }

  #reasonOf(thrown: unknown): string {
    if (thrown instanceof LeveeError) return thrown.message;
    return `${this.#path} cannot be read (${errnoOf(thrown) ?? String(thrown)})`;
  }
}

/** Throws when the text is not a conf; returns what is merely odd. */
function judge(text: JsonText, path: string): readonly ConfDirProblem[] {
  const conf = parseNetworkConf(text, { what: path });
  const first = conf.plugins[0]?.type ?? "";
  const problems: ConfDirProblem[] = [];
  if (first !== shimType) {
    const message = `${path} has the type ${JSON.stringify(first)}, so it does not make the runtime call Levee`;
    problems.push(
      warning("foreign-shim", message, `set its type to ${JSON.stringify(shimType)}, or multusConfigFile to "auto"`),
    );
  }
  if (!isConfName(path)) {
    const message = `Runtimes read only .conf, .conflist and .json files: current name is ${basename(path)}`;
    problems.push(warning("given-unusable", message, "rename it"));
  }
  return problems;
}

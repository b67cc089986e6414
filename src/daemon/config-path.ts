/** Multus' own place for it, so that an existing ConfigMap serves. */
const defaultConfigPath = "/etc/cni/net.d/multus.d/daemon-config.json";

export const daemonUsage = "levee daemon --config FILE";

/** The daemon's command line: which file to read, or what is wrong with it. */
export type CommandLine = { readonly path: string } | { readonly wrong: string };

/** Takes `--config FILE` and `--config=FILE`, with one dash too, as Multus does; of several the last counts. */
export function configPath(argv: readonly string[]): CommandLine {
  let path = defaultConfigPath;
  const words = argv.values();
  for (const word of words) {
    const match = /^--?config(?:=(.*))?$/su.exec(word);
    if (match === null) return { wrong: stranger(word) };
    const value = match[1] ?? words.next().value ?? "";
    // A flag in the place of a value is a value that was forgotten; a file with such a name can be given as ./-name.
    if (value === "" || value.startsWith("-"))
      return { wrong: `Cannot use ${flagOf(word)} without the name of a file` };
    path = value;
  }
  return { path };
}

function stranger(word: string): string {
  return word.startsWith("-") ? `Cannot understand the flag ${flagOf(word)}` : `Cannot understand the word "${word}"`;
}

function flagOf(word: string): string {
  return word.split("=", 1)[0] ?? word;
}

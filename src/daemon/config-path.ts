/** Multus' own place for it, so that an existing ConfigMap serves. */
const defaultConfigPath = "/etc/cni/net.d/multus.d/daemon-config.json";

export const daemonUsage = "levee daemon --config FILE [--health-port PORT]";

/** The daemon's command line: which file to read, or what is wrong with it. */
export type CommandLine = ReadCommandLine | { readonly wrong: string };

export interface ReadCommandLine {
  readonly path: string;
  /** For a configuration that names none. The manifest gives it, since its probes must meet a Multus ConfigMap too. */
  readonly healthPort?: number;
}

/** Takes `--config FILE` and `--config=FILE`, with one dash too, as Multus does; of several the last counts. `--health-port` likewise. */
export function configPath(argv: readonly string[]): CommandLine {
  const given = { path: defaultConfigPath } as { path: string; healthPort?: number }; // the port is set below
  const words = argv.values();
  for (const word of words) {
    const match = /^--?(config|health-port)(?:=(.*))?$/su.exec(word);
    if (match === null) return { wrong: stranger(word) };
    const value = match[2] ?? words.next().value ?? "";
    const isPort = match[1] === "health-port";
    if (!(isPort ? isPortNumber(value) : isFileName(value)))
      return {
        wrong: `Cannot use ${flagOf(word)} without ${isPort ? "a port from 1 to 65535" : "the name of a file"}`,
      };
    if (isPort) given.healthPort = Number(value);
    else given.path = value;
  }
  return given;
}

/** A flag in the place of a value is a value that was forgotten; a file with such a name can be given as ./-name. */
function isFileName(text: string): boolean {
  return text !== "" && !text.startsWith("-");
}

function isPortNumber(text: string): boolean {
  return /^[1-9]\d{0,4}$/u.test(text) && Number(text) <= 65_535;
}

function stranger(word: string): string {
  return word.startsWith("-") ? `Cannot understand the flag ${flagOf(word)}` : `Cannot understand the word "${word}"`;
}

function flagOf(word: string): string {
  return word.split("=", 1)[0] ?? word;
}

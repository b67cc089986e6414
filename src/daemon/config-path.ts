/** Multus' own path, so that an existing ConfigMap works. */
const defaultConfigPath = "/etc/cni/net.d/multus.d/daemon-config.json";

export const daemonUsage = "levee daemon --config FILE [--health-port PORT] [--metrics-port PORT]";

type CommandLine = ReadCommandLine | { readonly wrong: string };

/** Ports for a configuration that names none. The manifest sets them, so that a Multus ConfigMap needs no change. */
interface GivenPorts {
  readonly healthPort?: number;
  readonly metricsPort?: number;
}

interface ReadCommandLine extends GivenPorts {
  readonly path: string;
}

/** Accepts `--config FILE` and `--config=FILE`, also with one dash as Multus does; the last one wins. Ports work alike. */
export function configPath(argv: readonly string[]): CommandLine {
  let given: ReadCommandLine = { path: defaultConfigPath };
  const words = argv.values();
  for (const word of words) {
    const match = /^--?(config|health-port|metrics-port)(?:=(.*))?$/su.exec(word);
    if (match === null) return { wrong: unknownWord(word) };
    const value = match[2] ?? words.next().value ?? "";
    const isPort = match[1] !== "config";
    if (!(isPort ? isPortNumber(value) : isFileName(value)))
      return {
        wrong: `Cannot use ${flagOf(word)} without ${isPort ? "a port from 1 to 65535" : "the name of a file"}`,
      };
    given = { ...given, ...settingOf(match[1] ?? "", value) };
  }
  return given;
}

function settingOf(flag: string, value: string): Partial<ReadCommandLine> {
  if (flag === "config") return { path: value };
  return flag === "health-port" ? { healthPort: Number(value) } : { metricsPort: Number(value) };
}

/** The configuration wins; a port that it uses for the other purpose is not used twice. */
export function withPorts<C extends { readonly [port in keyof GivenPorts]: number | undefined }>(
  config: C,
  given: GivenPorts,
): C {
  const metricsPort = config.metricsPort ?? (given.metricsPort === config.healthPort ? undefined : given.metricsPort);
  const healthPort = config.healthPort ?? (given.healthPort === metricsPort ? undefined : given.healthPort);
  return { ...config, healthPort, metricsPort };
}

/** A flag in place of a value means a forgotten value; a file of such a name can be given as ./-name. */
function isFileName(text: string): boolean {
  return text !== "" && !text.startsWith("-");
}

function isPortNumber(text: string): boolean {
  return /^[1-9]\d{0,4}$/u.test(text) && Number(text) <= 65_535;
}

function unknownWord(word: string): string {
  return word.startsWith("-") ? `Cannot understand the flag ${flagOf(word)}` : `Cannot understand the word "${word}"`;
}

function flagOf(word: string): string {
  return word.split("=", 1)[0] ?? word;
}

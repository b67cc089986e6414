/** A script that a person runs with options. */
interface CommandLine<Asked> {
  readonly usage: () => string;
  /** What was asked for, or what is wrong with it. May throw what parseArgs throws. */
  readonly read: (args: readonly string[]) => Asked | string;
  readonly run: (asked: Asked) => void;
}

/** The exit code: 0, 1 when the work fails, 2 when the arguments are wrong. */
export function runCommandLine<Asked extends object>(args: readonly string[], line: CommandLine<Asked>): number {
  if (args.includes("-h") || args.includes("--help")) {
    console.log(line.usage());
    return 0;
  }
  const asked = readOrSay(args, line);
  if (typeof asked === "string") {
    console.error(`${asked}\n\n${line.usage()}`);
    return 2;
  }
  try {
    line.run(asked);
    return 0;
  } catch (thrown) {
    console.error(messageOf(thrown));
    return 1;
  }
}

function readOrSay<Asked extends object>(args: readonly string[], { read }: CommandLine<Asked>): Asked | string {
  try {
    return read(args);
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

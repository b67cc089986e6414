import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { askDaemon, runTool, type Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import { oneLine } from "../../base/plain-text.ts";
import { print } from "../terminal/print.ts";
import { isSuccess } from "../run-program.ts";
import { isShimVersion } from "../node/shim-options.ts";
import { version } from "../../base/version.ts";
import { renderTable } from "../terminal/table.ts";
import { protocolVersion } from "../../wire/frame.ts";
import type { Shell } from "../shell.ts";

interface Versions {
  readonly cli: { readonly version: string; readonly protocol: number };
  readonly daemon: Part;
  readonly shim: Part;
}

/** A part's version, or why it is not known. */
type Part = { readonly software: string; readonly protocol?: number } | { readonly unavailable: string };

export function addVersion(program: Command, shell: Shell): void {
  const command = program
    .command("version")
    .description("Show the versions of this program, the running daemon and the shim")
    .option("--shim <file>", "the shim to ask (LEVEE_SHIM; default: levee-shim beside this program)")
    .addHelpText("after", examples("levee version", "levee version -o json"));
  command.action(async () => {
    const context = contextOf(command, shell);
    const [daemon, shim] = await Promise.all([daemonVersion(context), shimVersion(context)]);
    const versions: Versions = { cli: { version, protocol: protocolVersion }, daemon, shim };
    print(shell.stdout, context.settings.output, { value: versions, text: () => versionText(versions) });
  });
}

function versionText(versions: Versions): string {
  const cli: Part = { software: `levee ${versions.cli.version}`, protocol: versions.cli.protocol };
  const rows = Object.entries({ cli, daemon: versions.daemon, shim: versions.shim }).map(([part, facts]) =>
    "unavailable" in facts
      ? [part, "not available", "", facts.unavailable]
      : [part, facts.software, facts.protocol === undefined ? "" : String(facts.protocol), ""],
  );
  return renderTable(["PART", "SOFTWARE", "PROTOCOL", "NOTE"], rows).replaceAll(/ +-$/gmu, "");
}

async function daemonVersion(context: Context): Promise<Part> {
  try {
    const node = await askDaemon(context, { ask: "node" });
    return { software: node.software, protocol: node.protocol };
  } catch (error) {
    return { unavailable: toFailure(error).message };
  }
}

async function shimVersion(context: Context): Promise<Part> {
  const end = await runTool(context.shell, context.settings.shim, ["--version"]);
  const software = oneLine(end.stdout.split("\n")[0] ?? "");
  if (isSuccess(end) && isShimVersion(software)) return { software };
  const says =
    software === "" ? "it prints no version" : `it is not Levee's shim: it prints ${JSON.stringify(software)}`;
  return { unavailable: `${context.settings.shim}: ${end.startError ?? says}` };
}

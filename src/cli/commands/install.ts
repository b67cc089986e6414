import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { installPassthru, passthruName, type InstalledPassthru } from "../move-in/install-passthru.ts";
import { installShim, shimName, type InstalledShim } from "../move-in/install.ts";
import { print } from "../terminal/print.ts";
import type { Shell } from "../shell.ts";

interface InstallCommandOptions {
  readonly dest: string;
  readonly source?: string;
}

export function addInstall(program: Command, shell: Shell): void {
  const command = program
    .command("install")
    .description("Install the shim in a node's plugin folder, as the init container does")
    .requiredOption("--dest <folder>", "the runtime's plugin folder, such as /host/opt/cni/bin")
    .option("--source <file>", "the shim to install (default: levee-shim beside this program)")
    .addHelpText(
      "after",
      [
        "\nThe old shim may be running, so the new one is written beside it, checked, tried out and then renamed.",
        "The plugin passthru, which starts auxiliary chains, is installed too, unless another program has that name.",
        examples("levee install --dest /host/opt/cni/bin", "levee install --dest /opt/cni/bin --source ./levee-shim"),
      ].join("\n"),
    );
  command.action(async (options: InstallCommandOptions) => {
    const { settings } = contextOf(command, shell);
    const dest = resolve(options.dest);
    const source = resolve(options.source ?? join(dirname(shell.self[0]), shimName));
    const { shim, content } = await installShim(shell, { source, dest });
    const passthru = await installPassthru(shell, dest, content);
    print(shell.stdout, settings.output, { value: { shim, passthru }, text: () => installedText(shim, passthru) });
  });
}

function installedText(shim: InstalledShim, passthru: InstalledPassthru): string {
  const what = `${shim.software ?? shimName} is ${shim.isNew ? "" : "already "}installed: ${shim.file}`;
  const untried =
    shim.software === undefined ? "It was not tried out, because files in that folder cannot be executed here\n" : "";
  return `${what}, ${shim.bytes} bytes\n${untried}${passthruText(passthru)}`;
}

function passthruText({ file, state }: InstalledPassthru): string {
  switch (state) {
    case "installed":
      return `${passthruName} is installed: ${file}\n`;
    case "already-installed":
      return `${passthruName} is already installed: ${file}\n`;
    case "left-alone":
      return `${passthruName} is left alone, because another program has that name: ${file}\n`;
  }
}

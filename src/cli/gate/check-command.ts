import type { Command } from "commander";
import { oneLine } from "../../base/plain-text.ts";
import { contextOf, examples } from "../command-line.ts";
import { runTool } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** `levee gate check`: asks the shim, whose own `gate check` needs nothing else on a node. */
export function addGateCheck(gate: Command, shell: Shell): void {
  const check = gate
    .command("check")
    .description("Say whether this node may be rebooted now, as levee-shim gate check does for kured and scripts")
    .option("--file <file>", "the daemon's gateFile on the host (default: /run/levee/gate)")
    .option("--shim <file>", "the shim to run (LEVEE_SHIM; default: levee-shim beside this program)")
    .addHelpText(
      "after",
      `${examples("levee gate check && systemctl reboot", "/opt/cni/bin/levee-shim gate check --file /run/levee/gate")}\nExit status: 0 it may, 1 it may not, or anything is wrong.`,
    );
  check.action(async ({ file }: { readonly file?: string }) => {
    const { settings } = contextOf(check, shell, ["table"]);
    const args = ["gate", "check", ...(file === undefined ? [] : ["--file", file])];
    const end = await runTool(shell, settings.shim, args);
    const line = oneLine(end.stdout);
    if (line !== "") shell.stdout.write(`${line}\n`);
    if (end.exitCode === 0 && line.startsWith("Allow: ")) return;
    if (line.startsWith("Deny: "))
      throw new CommandFailure("gate-denies", "This node may not be rebooted now", { isTold: true });
    const why = end.startError ?? end.stopped ?? `it ended with ${end.exitCode ?? end.signal ?? "nothing"}`;
    throw new CommandFailure("gate-denies", `This node may not be rebooted: ${settings.shim} did not answer: ${why}`, {
      remedy: "--shim FILE with the levee-shim that came with this program",
    });
  });
}

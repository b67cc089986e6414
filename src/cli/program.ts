import { Command } from "commander";
import { addAttach } from "./commands/attach.ts";
import { addCheck } from "./commands/check.ts";
import { addCompletion } from "./commands/completion.ts";
import { addConsole } from "./console/console-command.ts";
import { addDaemon } from "./commands/daemon.ts";
import { addDecisions } from "./commands/decisions.ts";
import { addDemo } from "./commands/demo.ts";
import { addDetach } from "./commands/detach.ts";
import { addExplain } from "./commands/explain.ts";
import { addGate } from "./gate/gate-command.ts";
import { addGc } from "./commands/gc.ts";
import { addGitGuard } from "./commands/git-guard.ts";
import { addGuard } from "./commands/guard.ts";
import { addInstall } from "./commands/install.ts";
import { addLeaks } from "./commands/leaks.ts";
import { addLs } from "./commands/ls.ts";
import { addLint } from "./lint/lint-command.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addManifests, addMirrorList } from "./commands/registry.ts";
import { addPlug } from "./plug/plug-command.ts";
import { addReport } from "./commands/report.ts";
import { addSim } from "./sim/sim-command.ts";
import { addStatus } from "./commands/status.ts";
import { addStorm } from "./commands/storm.ts";
import { addTop } from "./commands/top.ts";
import { addUninstall } from "./commands/uninstall.ts";
import { addVendor } from "./commands/vendor.ts";
import { addVersion } from "./commands/version.ts";
import { addWhy } from "./commands/why.ts";
import { examples } from "./command-line.ts";
import { helpForm } from "./help-form.ts";
import { software } from "../base/version.ts";
import type { Shell } from "./shell.ts";

/** The whole command line: the global options, and one file per command. */
export function buildProgram(shell: Shell): Command {
  const program = new Command("levee")
    .description("Levee attaches pods to several networks, and explains why when it cannot.")
    .version(software, "--version", "print this program's version")
    .option(
      "-o, --output <format>",
      "table, wide, json or yaml; some commands also have name or short (default: table)",
    )
    .option("--socket-dir <folder>", "folder of the daemon's socket (LEVEE_SOCKET_DIR; default: /run/levee)")
    .option("--state-dir <folder>", "folder of the daemon's journal (LEVEE_STATE_DIR; default: /var/lib/levee)")
    .option(
      "--directory <folder>",
      "folder of networks and pods as YAML (LEVEE_DIRECTORY; default: STATE-DIR/directory)",
    )
    .helpOption("-h, --help", "show this help")
    .helpCommand("help [command]", "Show the help of a command")
    .configureHelp(helpForm)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
      // Errors are written once, in our own form, by runCli.
      outputError: () => undefined,
      getOutHelpWidth: () => helpColumns,
      getErrHelpWidth: () => helpColumns,
    })
    .addHelpText(
      "after",
      `${examples(
        "levee attach web --networks lan,dmz",
        "levee ls -o wide",
        "levee why web",
        "levee top",
        "levee demo",
      )}\nExit status: 0 done, 1 failed, 2 wrong command line, 130 interrupted. Commands on a whole cluster also use 3 (the cluster\ncannot be reached or refuses) and 4 (an approval is missing). A command's own help says more.`,
    );
  for (const add of commandsInOrder) add(program, shell);
  return program;
}

/** Help texts wrap at the same column everywhere, so tests and pages can quote them. */
const helpColumns = 100;

/** As `--help` lists them. */
const commandsInOrder = [
  addAttach,
  addDetach,
  addPlug,
  addLs,
  addWhy,
  addTop,
  addLeaks,
  addCheck,
  addLint,
  addStatus,
  addConsole,
  addDecisions,
  addGate,
  addReport,
  addExplain,
  addGc,
  addMigrate,
  addManifests,
  addMirrorList,
  addInstall,
  addUninstall,
  addVersion,
  addCompletion,
  addDemo,
  addStorm,
  addSim,
  addDaemon,
  addGuard,
  addGitGuard,
  addVendor,
] as const;

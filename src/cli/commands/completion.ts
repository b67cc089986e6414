import type { Command } from "commander";
import { examples } from "../command-line.ts";
import { candidates } from "../completion/candidates.ts";
import { bashScript } from "../completion/bash-script.ts";
import { usageFailure } from "../failure.ts";
import type { World } from "../world.ts";

/** As kubectl reads it from a plugin's completion: no files besides. */
const noFiles = ":4";

export function addCompletion(program: Command, world: World): void {
  const completion = program
    .command("completion")
    .configureHelp({ showGlobalOptions: false })
    .description("Print what makes a shell complete commands, options and names of Decisions")
    .argument("<shell>", "bash")
    .addHelpText(
      "after",
      `\nFor kubectl levee put kubectl_complete-levee beside kubectl-levee on the PATH.\n${examples(
        "levee completion bash > /etc/bash_completion.d/levee",
        "source <(levee completion bash)",
      )}`,
    )
    .action((shell: string) => {
      if (shell !== "bash")
        throw usageFailure(`Cannot complete for ${JSON.stringify(shell)}: only bash is known`, "levee completion bash");
      world.stdout.write(bashScript);
    });
  completion
    .command("words", { hidden: true })
    .argument("[words...]")
    .option("--kubectl", "end with the word that kubectl wants")
    .action(async (words: readonly string[], options: { readonly kubectl?: boolean }) => {
      const found = await candidates(program, words, world);
      const end = options.kubectl === true ? [noFiles] : [];
      world.stdout.write([...found, ...end].map((word) => `${word}\n`).join(""));
    });
}

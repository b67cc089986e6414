import type { Command } from "commander";
import { examples } from "../command-line.ts";
import { candidates } from "../completion/candidates.ts";
import { usageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** kubectl reads this from a plugin's completion as: offer no files. */
const noFiles = ":4";

export function addCompletion(program: Command, shell: Shell): void {
  const completion = program
    .command("completion")
    .configureHelp({ showGlobalOptions: false })
    .description("Print a shell script that completes commands, options and names of Decisions")
    .argument("<shell>", "bash")
    .addHelpText(
      "after",
      `\nFor kubectl levee, put kubectl_complete-levee beside kubectl-levee on the PATH.\n${examples(
        "levee completion bash > /etc/bash_completion.d/levee",
        "source <(levee completion bash)",
      )}`,
    )
    .action((name: string) => {
      if (name !== "bash")
        throw usageFailure(
          `Cannot complete for ${JSON.stringify(name)}: only bash is supported`,
          "levee completion bash",
        );
      shell.stdout.write(bashScript);
    });
  completion
    .command("words", { hidden: true })
    .argument("[words...]")
    .option("--kubectl", "end with the word that kubectl expects")
    .action(async (words: readonly string[], options: { readonly kubectl?: boolean }) => {
      const found = await candidates(program, words, shell);
      const end = options.kubectl === true ? [noFiles] : [];
      shell.stdout.write([...found, ...end].map((word) => `${word}\n`).join(""));
    });
}

/** The script asks the program itself, so it is never out of date. Without an answer bash offers files. */
const bashScript = `# bash completion of levee: source it, or put it into /etc/bash_completion.d
_levee() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion words -- "\${words[@]}" 2>/dev/null))
}
complete -o default -F _levee levee
`;

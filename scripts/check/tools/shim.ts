import type { Problem, Rule, RuleOutcome } from "../rule.ts";
import { capture } from "./tools.ts";
import type { Tree } from "../tree.ts";

const manifest = "shim/Cargo.toml";
/** Enough for the first findings. Run the tool by hand for the rest. */
const outputLinesMax = 40;

/** The shim has no crates, rustfmt and clippy accept it. Debian's cargo has neither tool, so the rule reports a skip. */
export const shimRule: Rule = {
  name: "shim",
  async run(tree): Promise<RuleOutcome> {
    const problems = [...manifestProblems(tree)];
    const skipped: string[] = [];
    for (const tool of cargoTools) {
      const isThere = (await capture(tree.root, "cargo", [tool.name, "--version"])).exitCode === 0;
      if (isThere) problems.push(...(await toolProblems(tree, tool)));
      else skipped.push(`cargo ${tool.name} is not installed`);
    }
    return skipped.length === 0 ? { problems } : { problems, skipped: skipped.join(", ") };
  },
};

interface CargoTool {
  readonly name: string;
  readonly args: readonly string[];
  readonly remedy: string;
}

const cargoTools: readonly CargoTool[] = [
  { name: "fmt", args: ["--check", "--manifest-path", manifest], remedy: "cargo fmt --manifest-path shim/Cargo.toml" },
  {
    name: "clippy",
    args: ["--offline", "--quiet", "--all-targets", "--manifest-path", manifest, "--", "-D", "warnings"],
    remedy: "Follow clippy's advice",
  },
];

async function toolProblems(tree: Tree, tool: CargoTool): Promise<readonly Problem[]> {
  const { exitCode, output } = await capture(tree.root, "cargo", [tool.name, ...tool.args]);
  if (exitCode === 0) return [];
  const start = output.trim().split("\n").slice(0, outputLinesMax).join("\n");
  return [{ file: manifest, line: 0, message: `cargo ${tool.name}:\n${start}`, remedy: tool.remedy }];
}

/** Sections of a Cargo manifest that would bring in crates must be absent or empty. */
export function manifestProblems(tree: Tree): readonly Problem[] {
  const text = tree.read(manifest);
  if (text === undefined)
    return [{ file: manifest, line: 0, message: "there is no shim", remedy: "Restore shim/Cargo.toml" }];
  const problems: Problem[] = [];
  let isInDependencies = false;
  for (const [index, line] of text.split("\n").entries()) {
    const section = /^\s*\[+([^\]]+)\]+/.exec(line)?.[1];
    if (section !== undefined) isInDependencies = /(?:^|\.)(?:dev-|build-)?dependencies(?:\.|$)/.test(section);
    const isEntry = isInDependencies && /^\s*[\w"'-]+(?:\.\w+)*\s*=/.test(line);
    const isTable = section !== undefined && /dependencies\./.test(section);
    if (isEntry || isTable) {
      problems.push({
        file: manifest,
        line: index + 1,
        message: `the shim gets a crate: ${line.trim()}`,
        remedy: "Standard library only (docs/adr/0002)",
      });
    }
  }
  return problems;
}

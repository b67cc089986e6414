import { toLeveeError } from "../../base/errors.ts";
import { readJournalOnly } from "../../state/journal/read-only.ts";
import type { ChecksAnswer } from "../../wire/node-view.ts";
import { askDaemon, runTool, type Context } from "../context.ts";
import { CommandFailure, toFailure } from "../failure.ts";
import { oneLine } from "../../base/plain-text.ts";
import { isSuccess } from "../run-program.ts";
import { isShimVersion } from "../node/shim-options.ts";
import type { CheckLine } from "./check-line.ts";
import { plural } from "../terminal/plural.ts";
import { nodeReport, type NodeReport, type NodeSaid } from "./node-report.ts";

/** Checks this machine: its daemon over the socket, or without a daemon the journal on disk. */
export async function thisNode(context: Context): Promise<NodeReport> {
  const [said, shim] = await Promise.all([whatDaemonSays(context), shimSoftware(context)]);
  if ("away" in said) {
    const more = [await journalOnDisk(context)];
    return nodeReport({ node: "this node", said, shim, more });
  }
  return nodeReport({ node: said.checks?.nodeName ?? "this node", said, shim });
}

async function whatDaemonSays(context: Context): Promise<NodeSaid> {
  try {
    const node = await askDaemon(context, { ask: "node" });
    return { node, checks: await checksOf(context) };
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code === "interrupted") throw failure;
    return { away: failure.message, hint: failure.remedy };
  }
}

/** An old daemon does not know this question. */
async function checksOf(context: Context): Promise<ChecksAnswer | undefined> {
  try {
    return await askDaemon(context, { ask: "checks" });
  } catch (thrown) {
    if (thrown instanceof CommandFailure && thrown.code === "decode-failed") return undefined;
    throw thrown;
  }
}

async function shimSoftware({ shell, settings }: Context): Promise<string> {
  const end = await runTool(shell, settings.shim, ["--version"]);
  const software = oneLine(end.stdout.split("\n")[0] ?? "");
  return isSuccess(end) && isShimVersion(software) ? software : "";
}

async function journalOnDisk({ settings }: Context): Promise<CheckLine> {
  const { stateDir } = settings;
  try {
    const journal = await readJournalOnly(stateDir);
    if (!journal.exists)
      return {
        state: "warning",
        name: "journal",
        detail: `there is none in ${stateDir}: no daemon has run with that folder`,
        hint: "",
      };
    const detail = `${plural(journal.records.length, "attachment")} and ${plural(journal.leaks.length, "leak")} in ${stateDir}; they wait for the daemon`;
    return { state: journal.leaks.length === 0 ? "ok" : "warning", name: "journal", detail, hint: "levee leaks" };
  } catch (thrown) {
    const reason = toLeveeError(thrown, "Cannot read the journal").message;
    return { state: "failed", name: "journal", detail: reason, hint: "run the command as root" };
  }
}

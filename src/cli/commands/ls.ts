import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import type { AttachmentView, AttachedNetworkView } from "../../wire/node-view.ts";
import { readAttachments } from "../node/node-source.ts";
import { withoutPrefix } from "../node/interfaces.ts";
import { paintFor, type Paint } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { ageText } from "../terminal/span.ts";
import { renderTable } from "../terminal/table.ts";
import type { Shell } from "../shell.ts";

export function addLs(program: Command, shell: Shell): void {
  const command = program
    .command("ls")
    .alias("list")
    .description("List this node's pods with phase and networks")
    .option("-n, --namespace <name>", "only pods of this namespace")
    .addHelpText(
      "after",
      [
        "\nPhases: attaching, attached, detaching, undoing (a failed attach is being undone), lost (its shim is gone, undo is due).",
        "Without a daemon the list comes from the journal on disk, and a note on stderr says so.",
        examples("levee ls", "levee ls -o wide", "levee ls -o json | jq -r '.attachments[].pod'"),
      ].join("\n"),
    );
  command.action(async (options: { readonly namespace?: string }) => {
    const context = contextOf(command, shell);
    const read = await readAttachments(context);
    const attachments = read.answer.attachments
      .filter((view) => options.namespace === undefined || view.namespace === options.namespace)
      .toSorted((left, right) => podOf(left).localeCompare(podOf(right), "en"));
    const view = { nowMs: shell.clock.wallMs(), paint: paintFor(shell.stdout, shell.env) };
    print(shell.stdout, context.settings.output, {
      value: { source: read.source, attachments },
      text: () => attachmentTable(attachments, view),
      wide: () => wideTable(attachments, view),
    });
  });
}

interface View {
  readonly nowMs: number;
  readonly paint: Paint;
}

const phaseColour = {
  attached: "green",
  attaching: "yellow",
  detaching: "yellow",
  undoing: "yellow",
  lost: "red",
} as const;

function attachmentTable(attachments: readonly AttachmentView[], view: View): string {
  if (attachments.length === 0) return "No attachments\n";
  return painted(
    renderTable(
      ["POD", "PHASE", "NETWORKS", "AGE"],
      attachments.map((one) => row(one, view.nowMs)),
    ),
    attachments,
    view.paint,
  );
}

function wideTable(attachments: readonly AttachmentView[], view: View): string {
  if (attachments.length === 0) return "No attachments\n";
  const rows = attachments.map((one) => [
    ...row(one, view.nowMs),
    one.containerId.slice(0, 13),
    one.netns,
    one.networks.map(({ plugins }) => plugins.join("+")).join(" "),
  ]);
  return painted(
    renderTable(["POD", "PHASE", "NETWORKS", "AGE", "CONTAINER", "NETNS", "PLUGINS"], rows),
    attachments,
    view.paint,
  );
}

function networkPhrase(network: AttachedNetworkView): string {
  return `${network.network}→${[network.ifname, ...network.ips.map(withoutPrefix)].join(" ")}`;
}

function row(one: AttachmentView, nowMs: number): readonly string[] {
  return [podOf(one), one.phase, one.networks.map(networkPhrase).join(", "), ageText(nowMs - one.sinceWallMs)];
}

/** Colours are added after the columns are aligned, because their codes have no width. */
function painted(table: string, attachments: readonly AttachmentView[], paint: Paint): string {
  const [heading = "", ...lines] = table.split("\n");
  const coloured = lines.map((line, at) => {
    const phase = attachments[at]?.phase;
    return phase === undefined ? line : line.replace(` ${phase} `, () => ` ${paint(phaseColour[phase], phase)} `);
  });
  return [paint("bold", heading), ...coloured].join("\n");
}

/** Some runtimes send no pod name; the container still gets a line. */
function podOf(one: AttachmentView): string {
  return one.pod === "" ? `container ${one.containerId.slice(0, 13)}` : `${one.namespace}/${one.pod}`;
}

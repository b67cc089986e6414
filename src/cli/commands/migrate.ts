import { existsSync } from "node:fs";
import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { openKubeApi, type KubeOptions } from "../cluster/kube-access.ts";
import { placeholders } from "../move-in/migrate/check-levee.ts";
import { checkMigration } from "../move-in/migrate/check-migration.ts";
import type { Finding } from "../move-in/migrate/finding.ts";
import type { KubeObject } from "../kube-object.ts";
import { readCluster } from "../move-in/migrate/read-cluster.ts";
import { readManifests } from "../move-in/migrate/read-manifests.ts";
import { findingsText } from "../move-in/migrate/findings-text.ts";
import { paintFor } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import type { Shell } from "../shell.ts";

interface MigrateOptions extends KubeOptions {
  readonly check?: boolean;
  readonly dropIn?: string;
}

export function addMigrate(program: Command, shell: Shell): void {
  const command = program
    .command("migrate")
    .description("Show what differs once Levee replaces Multus, and what blocks the move")
    .argument("[paths...]", "files and folders of YAML or JSON to read instead of the cluster")
    .option("--check", "only look; change nothing (required, there is no other mode)")
    .option("--drop-in <file>", "the file you are going to apply (default: multus-drop-in.yaml here, if it exists)")
    .option("--kubeconfig <file>", "kubeconfig of the cluster to read (default: as kubectl)")
    .option("--context <name>", "context in the kubeconfig")
    .addHelpText(
      "after",
      [
        "\nExit status: 0 nothing blocks, 1 something blocks, 2 wrong command line.",
        examples(
          "levee migrate --check",
          "levee migrate --check apps/multus apps/kubevirt-vms",
          "levee migrate --check -o json | jq '.findings[] | select(.level == \"blocks\")'",
        ),
      ].join("\n"),
    );
  command.action(async (paths: string[], options: MigrateOptions) => {
    if (options.check !== true)
      throw usageFailure(
        "Cannot migrate: levee migrate only checks, and kubectl apply makes the move",
        "levee migrate --check",
      );
    const { settings } = contextOf(command, shell);
    const objects = paths.length > 0 ? await readManifests(paths) : await fromCluster(shell, options);
    const findings = [...checkMigration(objects), ...(await checkDropIn(options.dropIn))];
    print(shell.stdout, settings.output, {
      value: { findings },
      text: () => findingsText(findings, paintFor(shell.stdout, shell.env)),
    });
    const blocking = findings.filter((finding) => finding.level === "blocks").length;
    if (blocking > 0)
      throw new CommandFailure("migration-blocked", `Cannot move yet: ${blocking} of the findings block the move`, {
        remedy: "do what the arrows say, then check again",
      });
  });
}

async function fromCluster(shell: Shell, options: KubeOptions): Promise<readonly KubeObject[]> {
  const api = await openKubeApi(shell, options);
  try {
    return await readCluster(api, shell.interrupted);
  } finally {
    api.close();
  }
}

/** The name in a release, in whose folder the commands of docs/migrate.md run. */
const usualPath = "multus-drop-in.yaml";

/** Checks the file that the person is going to apply, if there is one. */
async function checkDropIn(given: string | undefined): Promise<readonly Finding[]> {
  if (given === undefined && !existsSync(usualPath)) return [];
  const file = given ?? usualPath;
  const [finding] = placeholders(await readManifests([file]));
  return finding === undefined ? [] : [{ ...finding, object: file }];
}

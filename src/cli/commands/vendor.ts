import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { plural } from "../terminal/plural.ts";
import { print } from "../terminal/print.ts";
import { renderTable } from "../terminal/table.ts";
import { addFile, type VendorChange } from "../vendor/add-file.ts";
import { bumpFiles } from "../vendor/bump-files.ts";
import type { SourceOptions } from "../vendor/fetch-source.ts";
import { pinImage } from "../vendor/pin-image.ts";
import { chooseLocked, readVendorLock } from "../vendor/vendor-lock.ts";
import { findVendorRoot } from "../vendor/vendor-root.ts";
import { unlockedFiles } from "../vendor/unlocked-files.ts";
import { verifyFiles, type VerifiedFile } from "../vendor/verify-files.ts";

interface VendorOptions extends SourceOptions {
  readonly repository?: string;
}

const exitText =
  "\nExit status: 0 done, 1 refused or changed, 2 wrong command line, 130 interrupted. The lock file: docs/gitops.md.";

export function addVendor(program: Command, shell: Shell): void {
  const group = program
    .command("vendor")
    .description("Keep manifests of others verbatim in your repository, with their source, and verify them offline")
    .addHelpText(
      "after",
      `${examples(
        "levee vendor add https://github.com/kubevirt/containerized-data-importer/releases/download/v1.65.0/cdi-operator.yaml --as apps/cdi/cdi-operator.yaml",
        "levee vendor verify",
        "levee vendor bump apps/cdi --to v1.66.0",
        "levee mirror-list apps/cdi --registry registry.example.com",
      )}${exitText}`,
    );
  addAdd(group, shell);
  addVerify(group, shell);
  addBump(group, shell);
  addPin(group, shell);
}

function addAdd(group: Command, shell: Shell): void {
  const command = sourceOptions(
    subcommand(group, "add", "Fetch a manifest, judge it, and keep it with a line in the lock file")
      .argument("<url>", "its address, https:// (http:// for this machine only)")
      .requiredOption("--as <path>", "where to keep it, relative to the repository"),
  ).addHelpText(
    "after",
    `${examples("levee vendor add https://example.com/v1.2.3/operator.yaml --as apps/operator/operator.yaml")}${exitText}`,
  );
  command.action(async (address: string, options: VendorOptions & { as: string }) => {
    const context = contextOf(command, shell);
    const root = await findVendorRoot(options.repository);
    printChanges(context, [await addFile(shell, { ...options, root, path: options.as, address })]);
  });
}

function addVerify(group: Command, shell: Shell): void {
  const command = subcommand(group, "verify", "Compare the vendored files with the lock file; needs no network")
    .argument(
      "[paths...]",
      "files or folders (default: everything in the lock file, and files with its header that it lacks)",
    )
    .addHelpText("after", `${examples("levee vendor verify", "levee vendor verify apps/cdi -o json")}${exitText}`);
  command.action(async (paths: string[], options: VendorOptions) => {
    const context = contextOf(command, shell);
    const root = await findVendorRoot(options.repository);
    const lock = await readVendorLock(root);
    const unlocked = paths.length > 0 ? [] : await unlockedFiles(root, new Set(lock.map(({ path }) => path)));
    const files = [...(await verifyFiles(root, chooseLocked(lock, paths))), ...unlocked];
    const bad = files.filter(({ result }) => result !== "ok");
    print(shell.stdout, context.settings.output, {
      value: { success: bad.length === 0, files },
      text: () => verifiedText(files),
    });
    if (bad.length === 0) return;
    throw new CommandFailure(
      "vendor-changed",
      `${bad.length} of ${plural(files.length, "vendored file")} must not be applied as it is`,
      {
        details: bad.map(({ message, remedy }) => `${message}\n  try: ${remedy}`).join("\n"),
      },
    );
  });
}

function addBump(group: Command, shell: Shell): void {
  const command = sourceOptions(
    subcommand(group, "bump", "Fetch another version of vendored files: all of them, or none")
      .argument("<paths...>", "files, or folders for all vendored files below them")
      .option("--to <version>", "the new version, where the address has the old one")
      .option("--url <url>", "the new address, for one file"),
  ).addHelpText(
    "after",
    `${examples("levee vendor bump apps/cdi --to v1.66.0", "levee vendor bump apps/x/x.yaml --url https://example.com/x-2.yaml")}${exitText}`,
  );
  command.action(async (paths: string[], options: VendorOptions & { to?: string; url?: string }) => {
    const context = contextOf(command, shell);
    const root = await findVendorRoot(options.repository);
    printChanges(context, await bumpFiles(shell, { ...options, root, paths }));
  });
}

function addPin(group: Command, shell: Shell): void {
  const command = subcommand(group, "pin", "Write down the digest that an image's tag meant when you mirrored it")
    .argument("<image>", "the image as the vendored file has it")
    .argument("<digest>", "sha256:…")
    .addHelpText("after", `${examples("levee vendor pin quay.io/kubevirt/cdi-operator:v1.65.0 sha256:…")}${exitText}`);
  command.action(async (image: string, digest: string, options: VendorOptions) => {
    const { settings } = contextOf(command, shell);
    const files = await pinImage(await findVendorRoot(options.repository), image, digest);
    print(shell.stdout, settings.output, {
      value: { image, digest, files },
      text: () => `${image} is ${digest} in ${files.join(", ")}\n`,
    });
  });
}

function subcommand(group: Command, name: string, description: string): Command {
  return group
    .command(name)
    .description(description)
    .option(
      "-C, --repository <folder>",
      "the top of your repository (default: the nearest with vendor.lock.yaml or .git)",
    );
}

function sourceOptions(command: Command): Command {
  return command
    .option("--sha256 <hex>", "refuse other bytes than those that its authors publish")
    .option("--from <file>", "take the bytes from this file instead of the network; needs --sha256")
    .option("--ca <file>", "authorities that may have signed the server's certificate, as PEM");
}

function printChanges({ shell, settings }: Context, changes: readonly VendorChange[]): void {
  print(shell.stdout, settings.output, {
    value: { files: changes },
    text: () =>
      changes
        .map(
          (change) =>
            `${change.path} ${change.result}: ${change.bytes} bytes, ${plural(change.objects, "object")}, ${plural(change.images.length, "image")}, sha256:${change.sha256}\n`,
        )
        .join(""),
  });
}

function verifiedText(files: readonly VerifiedFile[]): string {
  if (files.length === 0) return "No vendored files\n";
  const rows = files.map(({ path, result, images, url }) => {
    const count = (by: string): number => images.filter((image) => image.by === by).length;
    return [path, result, `${count("digest")} by digest, ${count("pinned")} pinned, ${count("tag")} by tag`, url];
  });
  return renderTable(["PATH", "RESULT", "IMAGES", "SOURCE"], rows);
}

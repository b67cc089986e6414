import { stringify } from "yaml";
import type { Architecture } from "../debian/pins.ts";

export interface ProgramArchive {
  readonly architecture: Architecture;
  /** The file in the release. */
  readonly file: string;
  readonly sha256: string;
}

/** The manifest by which krew installs `kubectl levee`. krew links `kubectl-levee` to the program itself. */
export function krewManifest(version: string, url: string, archives: readonly ProgramArchive[]): string {
  const plugin = {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "levee" },
    spec: {
      version: `v${version}`,
      shortDescription: "Look after pods with more than one network",
      description:
        "Levee is a meta-CNI and a drop-in for Multus. The plugin shows what each node attached and why it did not,\nchecks the whole cluster, and shows the guard's Decisions, which a person approves.\n",
      platforms: archives.map(({ architecture, file, sha256 }) => ({
        selector: { matchLabels: { os: "linux", arch: architecture } },
        uri: `${url}/${file}`,
        sha256,
        bin: "levee",
      })),
    },
  };
  const [first] = archives;
  const note = `# Without a server: kubectl krew install --manifest=krew/levee.yaml --archive=${first?.file ?? ""}\n`;
  return note + stringify(plugin, { lineWidth: 0 });
}

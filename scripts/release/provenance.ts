import { architectures, type Architecture, type Pin, type Pins, type SetName } from "../debian/pins.ts";
import type { Commit } from "./clean-commit.ts";

/** A thing with its hash, as in-toto names it. */
interface Descriptor {
  readonly name?: string;
  readonly uri?: string;
  readonly digest: Readonly<Record<string, string>>;
}

export interface Built {
  readonly commit: Commit;
  /** Where the release will be served from. */
  readonly url: string;
  /** Names and SHA-256 of the files and images of the release. */
  readonly subjects: ReadonlyMap<string, string>;
  readonly pins: Pins;
  /** package-lock.json, parsed. */
  readonly lock: unknown;
  /** The architecture of the machine that built it: the shim's compiler is a program for it. */
  readonly host: Architecture;
}

/** Names, not addresses: docs/release.md says what they stand for. */
const buildType = "https://levee.example/npm-run-release/v1";
const builder = "https://levee.example/a-checkout-and-npm";

/**
 * How a release was made: an in-toto statement with SLSA's provenance. It has no times and nothing of the machine, so that
 * everybody who builds the commit again gets the same file.
 */
export function provenance({ commit, url, subjects, pins, lock, host }: Built): Readonly<Record<string, unknown>> {
  const source: Descriptor = { name: "source", digest: { gitCommit: commit.id } };
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...subjects].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: { source, command: ["npm", "run", "release", "--", "--url", url] },
        internalParameters: { SOURCE_DATE_EPOCH: String(commit.date.getTime() / 1_000), host },
        resolvedDependencies: [source, ...npmDependencies(lock), ...debianDependencies(pins, host)],
      },
      runDetails: { builder: { id: builder, version: { bun: Bun.version } } },
    },
  };
}

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
}

/** Every package that npm installs, by the hash in package-lock.json. */
function npmDependencies(lock: unknown): readonly Descriptor[] {
  const { packages = {} } = lock as { packages?: Readonly<Record<string, Locked>> }; // npm's own format
  return Object.entries(packages).flatMap(([path, { version = "", integrity = "" }]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const sha512 = /^sha512-(.+)$/u.exec(integrity)?.[1];
    if (sha512 === undefined) return [];
    const uri = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return [{ uri, digest: { sha512: Buffer.from(sha512, "base64").toString("hex") } }];
  });
}

/** Every package of Debian that is in an image, compiles the shim or is linked into it. */
function debianDependencies(pins: Pins, host: Architecture): readonly Descriptor[] {
  const shipped: readonly SetName[] = ["base", "guard", "shim-target"];
  const used = [
    ...shipped.flatMap((set) => architectures.flatMap((architecture) => pins.of(set, architecture))),
    ...pins.of("shim-host", host),
  ];
  const byHash = new Map(used.map((pin) => [pin.sha256, pin]));
  return [...byHash.values()].map(debianDependency);
}

function debianDependency({ name, version, architecture, sha256 }: Pin): Descriptor {
  const uri = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`;
  return { uri, digest: { sha256 } };
}

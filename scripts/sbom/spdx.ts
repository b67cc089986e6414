/** The input of an SPDX document. Everything is passed in, so that the same input gives the same bytes. */
export interface SbomInput {
  readonly version: string;
  /** package-lock.json, parsed. */
  readonly lock: unknown;
  /** The compiler whose standard library is linked into the shim: `1.63.0`; empty when it is not installed. */
  readonly rust: string;
  readonly createdAt: Date;
  /** The built programs: name and SHA-256. */
  readonly programs: readonly { readonly name: string; readonly sha256: string }[];
  /** The image that has the programs; without it the document is about the programs alone. */
  readonly image?: { readonly name: string; readonly packages: readonly DebianItem[] };
  /** Packages of Debian that are linked into the shim, if they are known. */
  readonly linked?: readonly DebianItem[];
}

/** A package of Debian. */
interface DebianItem {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
}

export interface SpdxPackage {
  readonly SPDXID: string;
  readonly name: string;
  readonly versionInfo: string;
  readonly downloadLocation: "NOASSERTION";
  readonly filesAnalyzed: false;
  readonly licenseDeclared: string;
  readonly checksums?: readonly { readonly algorithm: "SHA256" | "SHA512"; readonly checksumValue: string }[];
  readonly externalRefs?: readonly unknown[];
}

interface Relationship {
  readonly spdxElementId: string;
  readonly relationshipType: string;
  readonly relatedSpdxElement: string;
}

/** SPDX 2.3: the programs, their contents, the tools that built them, and the image around them. */
export function spdxDocument(input: SbomInput): Readonly<Record<string, unknown>> {
  const programs = input.programs.map((program) => programPackage(program, input.version));
  const idOf = (name: string): readonly string[] =>
    programs.filter((each) => each.name === name).map((each) => each.SPDXID);
  const npm = npmPackages(input.lock);
  const inside = npm.filter(({ isShipped }) => isShipped).map(({ entry }) => entry);
  const tools = npm.filter(({ isShipped }) => !isShipped).map(({ entry }) => entry);
  const linked = linkedPackages(input, idOf("levee-shim").length > 0);
  const around = imagePackages(input);
  const relationships: Relationship[] = [
    ...(around.length === 0 ? programs : around.slice(0, 1)).map(({ SPDXID }) =>
      related(document, "DESCRIBES", SPDXID),
    ),
    ...around
      .slice(0, 1)
      .flatMap(({ SPDXID }) =>
        [...programs, ...around.slice(1)].map((each) => related(SPDXID, "CONTAINS", each.SPDXID)),
      ),
    ...idOf("levee").flatMap((levee) => inside.map(({ SPDXID }) => related(levee, "CONTAINS", SPDXID))),
    ...idOf("levee-shim").flatMap((shim) => linked.map(({ SPDXID }) => related(shim, "STATIC_LINK", SPDXID))),
    ...idOf("levee").flatMap((levee) => tools.map(({ SPDXID }) => related(SPDXID, "BUILD_TOOL_OF", levee))),
  ];
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: document,
    name: `${input.image?.name ?? "levee"}-${input.version}`,
    // The hash makes it unique. The host does not exist.
    documentNamespace: `https://levee.invalid/sbom/${input.version}/${namespaceOf(input)}`,
    creationInfo: { created: `${input.createdAt.toISOString().slice(0, 19)}Z`, creators: ["Tool: levee-sbom"] },
    packages: [...around, ...programs, ...inside, ...linked, ...tools],
    relationships,
  };
}

const document = "SPDXRef-DOCUMENT";

function namespaceOf({ image, programs }: SbomInput): string {
  const hash = programs[0]?.sha256.slice(0, 16) ?? "unbuilt";
  return image === undefined ? hash : `${image.name}-${hash}`;
}

function linkedPackages({ rust, linked = [] }: SbomInput, hasShim: boolean): readonly SpdxPackage[] {
  if (!hasShim) return [];
  const std = rust === "" ? [] : [plain("rust-std", rust, "MIT OR Apache-2.0")];
  return [...std, ...linked.map(debianPackage)];
}

/** The image first, then its packages. */
function imagePackages({ image, version }: SbomInput): readonly SpdxPackage[] {
  if (image === undefined) return [];
  return [plain(`${image.name}-image`, version, "Apache-2.0"), ...image.packages.map(debianPackage)];
}

function debianPackage({ name, version, architecture, sha256 }: DebianItem): SpdxPackage {
  const locator = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`;
  return {
    ...plain(`debian-${name}`, version, "NOASSERTION"),
    name,
    checksums: [{ algorithm: "SHA256", checksumValue: sha256 }],
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: locator }],
  };
}

function programPackage(program: SbomInput["programs"][number], version: string): SpdxPackage {
  const checksums = [{ algorithm: "SHA256" as const, checksumValue: program.sha256 }];
  return { ...plain(program.name, version, "Apache-2.0"), checksums };
}

function plain(name: string, versionInfo: string, licenseDeclared: string): SpdxPackage {
  const SPDXID = `SPDXRef-${`${name}-${versionInfo}`.replace(/[^A-Za-z0-9.]+/gu, "-").replace(/^-/u, "")}`;
  return { SPDXID, name, versionInfo, downloadLocation: "NOASSERTION", filesAnalyzed: false, licenseDeclared };
}

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** Bun is a development dependency for npm, but its runtime is most of the compiled program. */
function npmPackages(lock: unknown): readonly { readonly entry: SpdxPackage; readonly isShipped: boolean }[] {
  const { packages = {} } = lock as { packages?: Readonly<Record<string, LockEntry>> }; // npm's own format
  return Object.entries(packages)
    .filter(([path]) => path.startsWith("node_modules/"))
    .map(([path, found]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      const isShipped = (found.dev !== true && found.devOptional !== true) || name === "bun";
      return { entry: npmPackage(name, found), isShipped };
    });
}

function npmPackage(name: string, found: LockEntry): SpdxPackage {
  const version = found.version ?? "";
  const locator = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const sha512 = /^sha512-(.+)$/u.exec(found.integrity ?? "")?.[1];
  return {
    ...plain(name, version, found.license ?? "NOASSERTION"),
    ...(sha512 === undefined
      ? {}
      : { checksums: [{ algorithm: "SHA512", checksumValue: Buffer.from(sha512, "base64").toString("hex") }] }),
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: locator }],
  };
}

function related(spdxElementId: string, relationshipType: string, relatedSpdxElement: string): Relationship {
  return { spdxElementId, relationshipType, relatedSpdxElement };
}

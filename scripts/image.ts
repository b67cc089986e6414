/** Makes the container images, see usage(): `npm run image`. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runCommandLine } from "./command-line.ts";
import { bumpPins } from "./debian/bump-pins.ts";
import { architectures, pinsFile, type Architecture } from "./debian/pins.ts";
import { buildImages } from "./image/build-images.ts";
import { verifyImages } from "./image/verify-images.ts";

const root = resolve(import.meta.dirname, "..");

function usage(): string {
  return [
    "Usage: npm run image [-- [--arch amd64|arm64] [--out DIR] [--verify] | --bump]",
    "",
    "Makes levee.oci.tar and levee-guard.oci.tar (OCI layouts, amd64 and arm64) and images.json with their digests.",
    "Needs no rights, no container engine and no base image: only apt, dpkg-deb and npm. Packages of Debian are pinned in",
    `${pinsFile} and kept in ~/.cache/levee. When nothing has changed, nothing is done.`,
    "",
    "--arch    only one architecture; may be given twice (default: both)",
    "--out     the folder to write to (default: dist/image); it stays as it was when something fails",
    "--verify  builds two more times, in two other folders, and compares the digests",
    "--bump    pins the packages that the machine's Debian sources offer today",
    "",
    "Examples:",
    "  npm run image",
    "  npm run image -- --arch amd64 --out /tmp/images",
    "  npm run image -- --verify",
    "  skopeo copy --all oci-archive:dist/image/levee.oci.tar docker://registry.example.com/levee:0.1.0",
  ].join("\n");
}

const options = {
  arch: { type: "string", multiple: true },
  out: { type: "string" },
  verify: { type: "boolean" },
  bump: { type: "boolean" },
} as const;

interface Asked {
  readonly architectures: readonly Architecture[];
  readonly outDir: string;
  readonly isVerified: boolean;
  readonly isBump: boolean;
}

process.exitCode = runCommandLine(process.argv.slice(2), { usage, read: readArguments, run: runAsked });

function runAsked(asked: Asked): void {
  if (asked.isBump) return bumpPins(new Date());
  const images = buildImages(asked);
  if (asked.isVerified) verifyImages(images, asked.architectures);
}

/** What was asked for, or what is wrong with it. */
function readArguments(args: readonly string[]): Asked | string {
  const { values } = parseArgs({ args: [...args], options, allowPositionals: false });
  const unknown = (values.arch ?? []).find((name) => !architectures.some((each) => each === name));
  if (unknown !== undefined) return `--arch must be amd64 or arm64: current value is ${unknown}`;
  if (values.bump === true && Object.keys(values).length > 1)
    return "--bump makes no images: leave out the other options, and run npm run image afterwards";
  if (values.out === "") return "--out must be a folder: current value is empty";
  return {
    architectures: architectures.filter((each) => values.arch === undefined || values.arch.includes(each)),
    outDir: resolve(values.out ?? join(root, "dist/image")),
    isVerified: values.verify === true,
    isBump: values.bump === true,
  };
}

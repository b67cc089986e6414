import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Architecture, Pin, Pins } from "../debian/pins.ts";
import { spdxDocument } from "../sbom/spdx.ts";
import { digestOf } from "./oci.ts";

const root = resolve(import.meta.dirname, "../..");
/** Static parts of the shim. */
const linkedNames = ["libc6-dev", "libgcc-12-dev"];

export interface ImageContent {
  readonly image: string;
  readonly version: string;
  readonly architecture: Architecture;
  readonly programs: readonly { readonly name: string; readonly content: Uint8Array }[];
  readonly packages: readonly Pin[];
  readonly pins: Pins;
  readonly createdAt: Date;
}

/** The bill of materials of an image: its programs with their contents, and its packages. */
export function imageSbom({ image, version, architecture, programs, packages, pins, createdAt }: ImageContent): string {
  const rustc = pins.of("shim-host", architecture).find(({ name }) => name === "rustc");
  const document = spdxDocument({
    version,
    lock: JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as unknown,
    rust: /^[\d.]+/u.exec(rustc?.version ?? "")?.[0] ?? "",
    createdAt,
    programs: programs.map(({ name, content }) => ({ name, sha256: digestOf(content).slice("sha256:".length) })),
    image: { name: image, packages },
    linked: pins.of("shim-target", architecture).filter(({ name }) => linkedNames.includes(name)),
  });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Architecture, Pin, Pins } from "../debian/pins.ts";
import { spdxDocument } from "./spdx.ts";

const root = resolve(import.meta.dirname, "../..");
/** Static parts of the shim. */
const linkedNames = ["libc6-dev", "libgcc-12-dev"];

export interface Shipped {
  readonly version: string;
  readonly architecture: Architecture;
  readonly programs: readonly { readonly name: string; readonly content: Uint8Array }[];
  /** The image around the programs; none for the programs alone. */
  readonly image?: { readonly name: string; readonly packages: readonly Pin[] };
  readonly pins: Pins;
  readonly createdAt: Date;
}

/** The bill of materials of shipped programs with their contents, and of the packages in the image around them. */
export function shippedSbom({ programs, architecture, pins, ...about }: Shipped): string {
  const rustc = pins.of("shim-host", architecture).find(({ name }) => name === "rustc");
  const document = spdxDocument({
    ...about,
    lock: JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as unknown,
    rust: /^[\d.]+/u.exec(rustc?.version ?? "")?.[0] ?? "",
    programs: programs.map(({ name, content }) => ({ name, sha256: sha256(content) })),
    linked: pins.of("shim-target", architecture).filter(({ name }) => linkedNames.includes(name)),
  });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

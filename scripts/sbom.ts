/** Writes dist/sbom.spdx.json, the bill of materials of dist/levee and dist/levee-shim: `npm run sbom`, after the build. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { version } from "../src/base/version.ts";
import { spdxDocument } from "./sbom/spdx.ts";

const root = resolve(import.meta.dirname, "..");
const names = ["levee", "levee-shim"];
const missing = names.filter((name) => !existsSync(join(root, "dist", name)));
if (missing.length > 0) {
  console.error(`Cannot write the bill of materials: ${missing.join(", ")} not built; run npm run build first`);
  process.exit(1);
}

const document = spdxDocument({
  version,
  lock: JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as unknown,
  rust: /rustc ([\d.]+)/u.exec(spawnSync("rustc", ["--version"], { encoding: "utf8" }).stdout ?? "")?.[1] ?? "",
  createdAt: createdAt(),
  programs: names.map((name) => ({ name, sha256: sha256(join(root, "dist", name)) })),
});
const output = join(root, "dist/sbom.spdx.json");
writeFileSync(output, `${JSON.stringify(document, undefined, 2)}\n`);
console.log(`written: ${output}`);

/** With SOURCE_DATE_EPOCH two builds of the same sources are identical. */
function createdAt(): Date {
  const epoch = process.env["SOURCE_DATE_EPOCH"] ?? "";
  return /^\d+$/u.test(epoch) ? new Date(Number(epoch) * 1_000) : new Date();
}

function sha256(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dist, root, type Part } from "./part.ts";

/** Under this name src/console/ embeds it. */
export const consolePageFile = "dist/console/page.json.txt";
/** What the page is made of. */
const pageSources = ["console", "src/wire", "src/base", "package.json", "package-lock.json", "tsconfig.json"];
/** At 3 a.m. the page may come through a thin line. */
const scriptBytesMax = 120 * 1024;

/** The console's page as one file of text: what is served, by name. The same sources give the same bytes. */
export const consolePagePart: Part = {
  name: "console page",
  output: join(dist, "console", "page.json.txt"),
  inputs: pageSources,
  tool: () => Bun.version,
  build: (to) => bundlePage(root, to),
};

/** Bundles the page of a checkout. Throws when it cannot be bundled or is too large. */
export function bundlePage(checkout: string, to: string): void {
  const source = join(checkout, "console");
  const script = bundled(join(source, "main.tsx"), checkout);
  const bytes = compressedBytes(script);
  if (bytes > scriptBytesMax)
    throw new Error(
      `Cannot use the console's page: its script has ${bytes} bytes compressed, the limit is ${scriptBytesMax}`,
    );
  const page = {
    html: readFileSync(join(source, "index.html"), "utf8"),
    script,
    style: bundled(join(source, "style", "main.css"), checkout),
    icon: readFileSync(join(source, "icon.svg"), "utf8"),
  };
  writeFileSync(to, JSON.stringify(page));
}

export function compressedBytes(text: string): number {
  return Bun.gzipSync(Buffer.from(text), { level: 9 }).length;
}

function bundled(entry: string, checkout: string): string {
  // The bun that runs this script is the pinned one.
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, "build", entry, "--minify", "--target=browser", "--production"],
    { cwd: checkout },
  );
  if (exitCode !== 0) throw new Error(`Cannot bundle ${entry}: ${stderr.toString().trim().slice(-2_000)}`);
  return stdout.toString();
}

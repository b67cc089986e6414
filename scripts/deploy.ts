/** Renders the files of deploy/ that have sources: `npm run deploy:render`. `npm run check` finds outdated ones. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { renderedFiles } from "./deploy/rendered.ts";

const root = resolve(import.meta.dirname, "..");

for (const [path, text] of renderedFiles(read)) {
  if (read(path) === text) continue;
  writeFileSync(join(root, path), text);
  console.log(`written: ${path}`);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    // A missing file: a renderer that needs it throws.
    return undefined;
  }
}

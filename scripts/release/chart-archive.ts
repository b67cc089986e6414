import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseDocument } from "yaml";
import type { ReleaseImage } from "../../src/cli/registry/release-facts.ts";
import { FileTree } from "../image/file-tree.ts";
import { imageHost } from "../image/recipes.ts";
import { imageNamed } from "./images.ts";
import { packed } from "./packed.ts";

const folder = resolve(import.meta.dirname, "../../deploy/helm/levee");
/** Everything that a chart is made of. An editor's copy beside it is left out. */
const chartFile = /\.(?:yaml|json|txt|tpl)$/u;

/** The chart as `helm install` takes it, with the images of the release in its values. */
export function chartArchive(images: readonly ReleaseImage[], date: Date): Uint8Array {
  const tree = new FileTree();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !chartFile.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file, "utf8");
    const path = relative(folder, file);
    // Helm wants a folder with the name of the chart.
    tree.file(`levee/${path}`, path === "values.yaml" ? chartValues(text, images) : text);
  }
  return packed(tree.entries, date);
}

/** The chart's values with the images of the release. */
function chartValues(text: string, images: readonly ReleaseImage[]): string {
  const values = parseDocument(text);
  for (const [path, name] of [
    [["image"], "levee"],
    [["guard", "image"], "levee-guard"],
  ] as const) {
    if (!values.hasIn([...path, "digest"])) throw new Error(`Cannot pack the chart: its values lack ${path.join(".")}`);
    values.setIn([...path, "repository"], `${imageHost}/${name}`);
    values.setIn([...path, "digest"], imageNamed(images, name).digest);
  }
  return values.toString({ lineWidth: 0 });
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { builtHelm } from "../../../test/peers/helm.ts";
import { plantedTree } from "../tree.ts";
import { chartRule } from "./chart.ts";

const repository = resolve(import.meta.dirname, "../../..");
const chart = "deploy/helm/levee";
const isBuilt = builtHelm() !== undefined;
if (!isBuilt) console.warn("chart: helm lint is not tried, helm is not built (npm run e2e builds it)");
let root = "";

async function messages(): Promise<string> {
  const { problems, skipped } = await chartRule.run(plantedTree({}, root));
  expect(skipped === undefined).toBe(isBuilt);
  return problems.map(({ message }) => message).join("\n");
}

describe("chart", () => {
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "levee-chart-"));
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  function plant(change: (folder: string) => void): void {
    rmSync(join(root, chart), { recursive: true, force: true });
    cpSync(join(repository, chart), join(root, chart), { recursive: true });
    change(join(root, chart));
  }

  test("accepts the chart, and says when it could not look", async () => {
    plant(() => undefined);
    expect(await messages()).toBe("");
  });

  test.skipIf(!isBuilt).each([
    ["a template that does not end", "templates/config.yaml", "{{ if true }}", "unexpected EOF"],
    ["a value that the schema does not know", "values.yaml", "\nunheardOf: 1\n", "unheardOf"],
    ["a manifest that is no YAML", "templates/config.yaml", "\na: [\n", "YAML"],
  ])("finds %s", async (_what, file, text, found) => {
    plant((folder) => appendFileSync(join(folder, file), text));
    expect(await messages()).toContain(found);
  });

  test.skipIf(!isBuilt)("finds a chart without its version", async () => {
    plant((folder) => writeFileSync(join(folder, "Chart.yaml"), "apiVersion: v2\nname: levee\n"));
    expect(await messages()).toContain("version is required");
  });
});

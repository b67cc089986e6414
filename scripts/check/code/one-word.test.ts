import { expect, test } from "bun:test";
import { problemsIn } from "../planted.ts";
import { oneWord } from "./one-word.ts";

test("one-word finds a name that two files export, whatever it stands for", async () => {
  const texts = {
    "src/cni/chain.ts": "export interface Chain {\n  readonly links: number;\n}\nexport const links = 1;",
    "src/guard/chain.ts": "const links = 2;\nexport type Chain = string;\nexport { links };",
    "src/kube/chain.fixture.ts": "export class Chain {}",
  };
  expect(await problemsIn(oneWord, texts)).toEqual([
    "src/guard/chain.ts:2 Chain is exported by src/cni/chain.ts too",
    "src/kube/chain.fixture.ts:1 Chain is exported by src/cni/chain.ts too",
    "src/guard/chain.ts:3 links is exported by src/cni/chain.ts too",
  ]);
});

test("one-word lets a file export again what another one declares, and overload a name", async () => {
  const texts = {
    "src/cni/a.ts":
      "export function f(x: 1): 1;\nexport function f(x: 2): 2;\nexport function f(x: number) { return x; }",
    "src/cni/b.ts": `export { f } from "./a.ts";`,
    "src/cni/c.ts": `import { f } from "./a.ts";\nexport { f };`,
    "src/cni/d.ts": "const f = 1;\nexport const g = f;",
    "src/cni/a.test.ts": "export const g = 2;",
    "test/lab/e.ts": "export const g = 3;",
  };
  expect(await problemsIn(oneWord, texts)).toEqual([]);
});

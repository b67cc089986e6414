import { describe, expect, test } from "bun:test";
import { problemsIn } from "../planted.ts";
import { pageRule } from "./page.ts";

async function seen(path: string, source: string): Promise<readonly string[]> {
  return (await problemsIn(pageRule, { [path]: source })).map((line) => line.slice(path.length + 1));
}

describe("page", () => {
  test.each([
    ["const a = <p dangerouslySetInnerHTML={{ __html: name }} />;", "markup from text: dangerouslySetInnerHTML"],
    ["place.innerHTML = name;", "markup from text: innerHTML"],
    ["fetch(`x`);", "the network: fetch"],
    ["new EventSource(`x`);", "the network: new EventSource"],
    ["Math.random();", "time or randomness: Math.random"],
    ["localStorage;", "storage of the browser: localStorage"],
  ])("refuses %s", async (source, message) => {
    expect(await seen("console/a.tsx", `\n${source}`)).toEqual([`2 ${message}`]);
    expect(await seen("console/a.fixture.ts", `fetch("x");`)).toEqual([]);
  });

  test("lets the doors do what they are for", async () => {
    expect(await seen("console/stream/server.ts", "fetch(`x`);")).toEqual([]);
    expect(await seen("console/base/clock.ts", "Date.now();")).toEqual([]);
    expect(await seen("console/a.tsx", "const a = <p>fetch(x) with localStorage</p>; new Date(5);")).toEqual([]);
  });

  test("refuses packages and files of others, and values of the contract", async () => {
    const source = [
      `import { render } from "preact";`,
      `import type { NodeCell } from "../../src/wire/console-view.ts";`,
      `import "./b.ts";`,
      `import "lodash";`,
      `import { x } from "../../src/wire/console-view.ts";`,
      `import type { Y } from "../../src/guard/y.ts";`,
    ].join("\n");
    expect(await seen("console/now/a.ts", source)).toEqual([
      "4 the page imports lodash",
      "5 the page imports ../../src/wire/console-view.ts",
      "6 the page imports ../../src/guard/y.ts",
    ]);
  });
});

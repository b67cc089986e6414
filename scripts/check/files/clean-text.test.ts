import { describe, expect, test } from "bun:test";
import { cleanText } from "./clean-text.ts";
import { problemsIn } from "../planted.ts";

// Put together here so that the rule does not find them in its own test.
const slash = "/";
const link = ["https:", "", ""].join(slash);

describe("clean-text", () => {
  test.each(["work/main", "root/.npmrc", "home/ann", "tmp/bash_jobs.0"])(
    "refuses the machine's folder %s",
    async (path) => {
      const [problem] = await problemsIn(cleanText, { "a.md": `see\nthe file ${slash}${path} there` });
      expect(problem).toStartWith(`a.md:2 a path of one machine: ${slash}`);
    },
  );

  test.each(["the work/main folder", "--root DIR", "a/worker", "/host/root", "/proc/1/root", "network/workload"])(
    "accepts %s",
    async (text) => {
      expect(await problemsIn(cleanText, { "a.md": text })).toEqual([]);
    },
  );

  test("refuses a link to an unknown host", async () => {
    expect(await problemsIn(cleanText, { "a.ts": `fetch("${link}registry.mirror.lan/x")` })).toEqual([
      "a.ts:1 a link to the unknown host registry.mirror.lan",
    ]);
  });

  test("accepts public hosts", async () => {
    expect(
      await problemsIn(cleanText, { "a.md": `${link}github.com/x ${link}www.example.com ${link}api.test:6443` }),
    ).toEqual([]);
    expect(await problemsIn(cleanText, { "a.md": `${link}api.test:6443,token=x` })).toEqual([]);
  });

  test("refuses a lockfile that says where packages came from", async () => {
    const lock = `{\n  "resolved": "${link}registry.mirror.lan/bun.tgz"\n}`;
    expect(await problemsIn(cleanText, { "package-lock.json": lock })).toEqual([
      "package-lock.json:2 the lockfile names the host a package came from",
    ]);
  });
});

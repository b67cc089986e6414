import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { until } from "../../base/until.fixture.ts";
import { vendorLockText } from "../vendor/vendor-lock.ts";

let folder: string;
const vendored = mkdtempSync(join(tmpdir(), "levee-completion-vendored-"));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-completion-"));
  const program = join(import.meta.dir, "../../main.ts");
  const entry = { path: "apps/a.yaml", url: "https://example.com/a", sha256: "0".repeat(64), bytes: 1, images: [] };
  writeFileSync(join(vendored, "vendor.lock.yaml"), vendorLockText([entry]));
  writeFileSync(join(folder, "levee"), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, { mode: 0o755 });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(vendored, { recursive: true });
});

async function words(...typed: readonly string[]): Promise<readonly string[]> {
  const shell = fakeShell({ argv: ["completion", "words", "--", ...typed] });
  expect(await runCli(shell)).toBe(0);
  return shell.stdout.text.split("\n").slice(0, -1);
}

describe("levee completion words", () => {
  test.each([
    [["deci"], ["decisions"]],
    [
      ["decisions", "re"],
      ["reject", "reset-breaker", "resume"],
    ],
    [["decision", "sh"], ["show"]],
    [["check", "--fa"], ["--fail-on"]],
    [
      ["check", "--fail-on", ""],
      ["error", "warning"],
    ],
    [["check", "-o", "s"], ["short"]],
    [["decisions", "list", "-o", "n"], ["name"]],
    [["ls", "--out"], ["--output"]],
    [["-o", "json", "stat"], ["status"]],
    [
      ["explain", "LVE010"],
      ["LVE0101", "LVE0102", "LVE0103"],
    ],
    [["completion", ""], ["bash"]],
    [["vendor", "v"], ["verify"]],
    [["vendor", "verify", "-C", vendored, ""], ["apps/a.yaml"]],
    [["vendor", "bump", "-C", "/nowhere", ""], []],
    [["decisions", "approve", "--namespace", "x", "--pl"], ["--plan-hash"]],
    [["explain", "LVE0101", ""], []],
    [["nothing", ""], []],
    // No cluster: no names, and no error either.
    [["decisions", "show", ""], []],
  ])("completes %j", async (typed, expected) => {
    expect(await words(...typed)).toEqual(expected);
  });
});

function bash(script: string): { stdout: string; stderr: string } {
  const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder };
  return spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8", env });
}

describe("levee completion bash", () => {
  test("is a script that bash takes without a word", () => {
    expect(bash("set -u; source <(levee completion bash); complete -p levee")).toMatchObject({
      stdout: "complete -o default -F _levee levee\n",
      stderr: "",
    });
  });

  test("fills in what bash asks for", () => {
    const ask = 'COMP_WORDS=(levee check --fail-on ""); COMP_CWORD=3; _levee; echo "${COMPREPLY[*]}"';
    expect(bash(`source <(levee completion bash); ${ask}`).stdout).toBe("error warning\n");
  });

  test.skipIf(Bun.which("script") === null)(
    "completes at a real prompt when Tab is pressed",
    async () => {
      const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder, TERM: "dumb", PS1: "$ " };
      const shell = spawn("script", ["-qec", "bash --norc --noprofile -i", "/dev/null"], { env });
      let seen = "";
      shell.stdout.on("data", (chunk: Buffer) => (seen += chunk.toString()));
      const ended = new Promise((resolve) => shell.on("close", resolve));
      shell.stdin.write('source <(levee completion bash); echo rea""dy\n');
      await until("the shell is ready", () => seen.includes("ready\r\n"));
      shell.stdin.write("levee explai\t");
      await until("the names are shown", () => /levee explain /u.test(seen));
      shell.stdin.write("\u0015exit\n");
      await ended;
      expect(seen).toContain("levee explain ");
    },
    20_000,
  );

  test("refuses another shell", async () => {
    const shell = fakeShell({ argv: ["completion", "tcsh"] });
    expect(await runCli(shell)).toBe(2);
    expect(shell.stderr.text).toContain("only bash is supported");
  });
});

test("kubectl's plugin and its completion pass on what they are given", () => {
  const plugin = join(import.meta.dir, "../../../deploy/plugin");
  const { stdout } = bash(`${plugin}/kubectl-levee --version; ${plugin}/kubectl_complete-levee decisions li`);
  expect(stdout).toBe("levee 0.1.0\nlist\n:4\n");
});

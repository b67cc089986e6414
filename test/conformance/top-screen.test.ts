// levee top in a real terminal: a pty of script(1).
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { foldersOf, leveeProgram, run, type Said } from "../lab/levee.ts";
import { startNode } from "./node.ts";

const enter = "\u001b[?1049h";
const leave = "\u001b[?1049l";

/** Types `keys` once the screen has been drawn `draws` times. */
function inTerminal(lab: Lab, { size, keys, draws }: { size: string; keys: string; draws: number }): Promise<Said> {
  const command = `stty ${size}; ${[leveeProgram, "top", ...foldersOf(lab)].join(" ")}; echo "status=$?"; stty -a`;
  let isTyped = false;
  return run("script", ["-qec", command, "/dev/null"], {
    onOutput: (out, type) => {
      if (isTyped || out.split("\u001b[H").length - 1 < draws) return;
      isTyped = true;
      type(keys);
    },
  });
}

test.each([
  ["q", "q"],
  ["Ctrl-C", "\u0003"],
])("it refreshes, and %s leaves with the terminal as it was", async (_name, keys) => {
  await using lab = await startNode();
  const { out } = await inTerminal(lab, { size: "cols 100 rows 30", keys, draws: 3 });
  expect(out.indexOf(enter)).toBeGreaterThanOrEqual(0);
  expect(out.split(enter)).toHaveLength(2);
  const [, after = ""] = out.split(leave);
  expect(after).toContain("status=0");
  // Raw mode is off again.
  expect(after).toMatch(/[^-]icanon/);
  expect(out).toContain("CLASS     RUNNING  WAITING  OLDEST");
  expect(out.indexOf("\u001b[?25h")).toBeGreaterThan(out.indexOf("\u001b[?25l"));
});

test("a small terminal gets lines that fit, and no more of them", async () => {
  await using lab = await startNode();
  const { out } = await inTerminal(lab, { size: "cols 30 rows 9", keys: "q", draws: 2 });
  const frame = (out.split("\u001b[H")[1] ?? "").split("\u001b[J")[0] ?? "";
  const lines = frame.split("\n").map((line) => line.replace(/\u001b\[[0-9;?]*[A-Za-z]|\r/gu, ""));
  expect(lines.length).toBeLessThanOrEqual(9);
  expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(30);
});

test("a signal from outside restores the terminal too; a daemon that goes away is told and waited for", async () => {
  await using lab = await startNode();
  const top = [leveeProgram, "top", ...foldersOf(lab)].join(" ");
  const command = `stty cols 200 rows 30; sh -c 'echo pid=$$; exec ${top}'; echo "status=$?"; stty -a`;
  let isKilled = false;
  let isEnded = false;
  const { out } = await run("script", ["-qec", command, "/dev/null"], {
    onOutput: (text) => {
      if (!isKilled && text.includes("\u001b[H")) {
        isKilled = true;
        void lab.killDaemon("SIGKILL");
      }
      if (!isEnded && text.includes("the numbers are its last ones")) {
        isEnded = true;
        process.kill(Number(/pid=(\d+)/u.exec(text)?.[1]), "SIGTERM");
      }
    },
  });
  expect(out).toContain("the numbers are its last ones");
  const [, after = ""] = out.split(leave);
  expect(after).toContain("status=130");
  expect(after).toMatch(/[^-]icanon/);
});

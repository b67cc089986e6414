import { expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Lab } from "../lab/lab.ts";

setDefaultTimeout(60_000);

/** Clears the screen, sets the title, rings, moves back, colours, changes direction, and ends in half a character. */
const nasty = "\\033[2J\\033]0;owned\\007\\007\\010\\015\\033[31mred\\342\\200\\256txet\\302\\233\\303";

const outputs = ["table", "wide", "json", "yaml"];

test("what a plugin writes reaches the terminal as text and nothing else", async () => {
  await using lab = await Lab.make();
  writeFileSync(
    lab.path("bin/nasty"),
    `#!/bin/sh\ncat >/dev/null\nprintf '${nasty}' >&2\nprintf '{"code":77,"msg":"\\\\u001b[2Jbad \\\\u202e news","details":"\\\\u0007\\\\u001b]0;x\\\\u0007"}'\nexit 1\n`,
    { mode: 0o755 },
  );
  writeFileSync(
    lab.path("bin/babble"),
    `#!/bin/sh\ncat >/dev/null\nprintf '${nasty}'\nprintf '${nasty}' >&2\nexit 3\n`,
    { mode: 0o755 },
  );
  await lab.configure({ addUndoMs: 1_000, addLookupMs: 1_000 });
  const netns = lab.netns("terminal");
  await lab.pod("web", {});
  await lab.startDaemon();
  for (const type of ["nasty", "babble"]) {
    const conf = lab.shimConf({ delegates: [{ cniVersion: "1.0.0", name: "lan", type }] });
    const added = await lab.cni("ADD", { containerId: `t-${type}`, netns, args: lab.podArgs("web"), conf });
    expect(added.exitCode).toBe(1);
    // For the runtime it stays what it was, as JSON: escaped.
    expect(added.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    JSON.parse(added.stdout);
  }
  for (const command of [["why", "web"], ["ls"], ["leaks"], ["version"]]) {
    for (const output of outputs) {
      const program = join(import.meta.dir, "../../dist/levee");
      const run = spawnSync(program, [
        "--socket-dir",
        lab.socketDir,
        "--state-dir",
        lab.stateDir,
        "-o",
        output,
        ...command,
      ]);
      const said = `${run.stdout.toString("utf8")}${run.stderr.toString("utf8")}`;
      expect({
        command,
        output,
        said: [...said].filter((character) =>
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(character),
        ),
      }).toMatchObject({ said: [] });
      if (command[0] === "why") expect(said).toContain("red");
    }
  }
  // The log is read on terminals too.
  expect(lab.daemonLog).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

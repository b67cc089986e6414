import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { systemClock } from "../../src/base/clock.ts";
import { LeveeError } from "../../src/base/errors.ts";
import type { Logger } from "../../src/base/log.ts";
import { loadJournal } from "../../src/state/journal/journal-load.ts";
import { Journal } from "../../src/state/journal/journal.ts";
import type { AttachmentsAnswer, LeaksAnswer, NodeAnswer } from "../../src/wire/node-view.ts";
import { Lab } from "../lab/lab.ts";
import { transcriptFolder } from "../skew/transcript.ts";
import { mutateBytes, mutateText } from "./mutate.ts";
import { trial, trials, type Random } from "./random.ts";

setDefaultTimeout(120_000);

const journal = readFileSync(join(transcriptFolder, "journal.log"));
const index = readFileSync(join(transcriptFolder, "containers.idx"));
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-hostile-journal-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A line whose body is odd and whose checksum is right: as a defect of an earlier version might have written it. */
function signed(line: string): string {
  const [prefix = "", , body = ""] = /^(\w\d) (\w{8}) (.*)$/s.exec(line)?.slice(1) ?? [];
  return `${prefix} ${crc32(body, crc32(`${prefix} `))
    .toString(16)
    .padStart(8, "0")} ${body}`;
}

/** Damage as disks do it, or one line with an odd body under a good checksum. */
function mutation(random: Random): Buffer {
  if (random.below(2) === 0) return mutateBytes(random, journal);
  const lines = journal.toString("utf8").trimEnd().split("\n");
  const at = random.below(lines.length);
  const [head = "", body = ""] = [lines[at]?.slice(0, 12), lines[at]?.slice(12)];
  lines[at] = signed(`${head}${mutateText(random, body).replaceAll("\n", " ")}`);
  return Buffer.from(`${lines.join("\n")}\n`);
}

test("ten thousand mutated journals are read for what is left of them, or refused as newer", async () => {
  const seen = { read: 0, refused: 0 };
  const path = join(folder, "journal.log");
  for (const random of trials(10_000)) {
    await trial(random, "Reading a mutated journal", async () => {
      writeFileSync(path, mutation(random));
      try {
        const { state, damaged } = await loadJournal(path);
        // Whatever was read can be shown.
        for (const record of state.records()) expect(record.chains.length).toBeGreaterThanOrEqual(0);
        expect(damaged.length).toBeLessThan(20);
        seen.read += 1;
      } catch (thrown) {
        if (!(thrown instanceof LeveeError) || thrown.code !== "state-newer") throw thrown;
        seen.refused += 1;
      }
    });
  }
  expect(seen.read).toBeGreaterThan(0);
});

test("three hundred mutated journals are opened, with what is damaged put aside, or refused as newer", async () => {
  const seen = { opened: 0, refused: 0 };
  for (const random of trials(300)) {
    await trial(random, "A mutated journal", async () => {
      const stateDir = join(folder, String(random.seed));
      mkdirSync(stateDir);
      writeFileSync(join(stateDir, "journal.log"), mutation(random));
      if (random.below(3) > 0)
        writeFileSync(join(stateDir, "containers.idx"), random.below(3) === 0 ? mutateBytes(random, index) : index);
      try {
        const opened = await Journal.open({ stateDir, bootId: "boot", clock: systemClock, logger: silent });
        // The daemon knows what it lost: it never answers a DEL of it as if there had been nothing.
        const knowledge = opened.knows("skew-web" as never);
        if (opened.all().length === 0 && opened.quarantined().length > 0) expect(knowledge).not.toBe("never-added");
        await opened.close();
        seen.opened += 1;
      } catch (thrown) {
        if (!(thrown instanceof LeveeError) || thrown.code !== "state-newer") throw thrown;
        seen.refused += 1;
      }
      rmSync(stateDir, { recursive: true });
    });
  }
  expect(seen.opened).toBeGreaterThan(0);
});

test("daemons started on mutated journals serve, or exit with 1 and a reason", async () => {
  for (const random of trials(25)) {
    await trial(random, "A daemon on a mutated journal", async () => {
      await using lab = await Lab.make();
      mkdirSync(lab.stateDir, { mode: 0o700 });
      writeFileSync(join(lab.stateDir, "journal.log"), mutation(random));
      copyFileSync(join(transcriptFolder, "containers.idx"), join(lab.stateDir, "containers.idx"));
      const daemon = lab.launchDaemon();
      const exited = new Promise<number | null>((resolve) => daemon.once("exit", resolve));
      const first = await Promise.race([exited, lab.untilReady().catch(() => exited)]);
      if (first === 1) return expect(lab.daemonLog).toContain("install the newer version again");
      expect(first).toMatchObject({ software: expect.any(String) });
      // Everything that shows the journal must stand what is in it.
      await lab.ask<NodeAnswer>({ ask: "node" });
      await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
      await lab.ask<LeaksAnswer>({ ask: "leaks" });
      const deleted = await lab.cni("DEL", {
        containerId: "skew-web",
        netns: "/var/run/netns/none",
        conf: lab.shimConf({ delBudgetMs: 5_000 }),
      });
      expect([0, 1]).toContain(deleted.exitCode ?? -1);
      if (deleted.exitCode === 1) expect(JSON.parse(deleted.stdout)).toMatchObject({ msg: expect.any(String) });
      expect(lab.daemonLog).not.toContain("defect");
      expect(lab.daemonLog).not.toContain('"code":"internal"');
    });
  }
});

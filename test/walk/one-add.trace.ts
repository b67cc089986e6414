/**
 * Runs the daemon in this process and makes as many ADDs as LEVEE_ADDS says. add-walk.test.ts runs it under `bun test
 * --coverage`, once without and once with an ADD: the lines that ran more often are the ADD's.
 */
import { hostname } from "node:os";
import { readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { parseDaemonConfig } from "../../src/config/daemon-config.ts";
import { startDaemon } from "../../src/daemon/compose.ts";
import { clusterPlaceOf } from "../../src/daemon/source/kube-access.ts";
import { Lab } from "../lab/lab.ts";

test("a pod on two networks", async () => {
  await using lab = await Lab.make();
  await lab.plugin("first");
  await lab.plugin("second");
  const delegates = [{ cniVersion: "1.0.0", name: "main", ...lab.conf("first") }];
  await lab.configure({ delegates, gcIntervalMs: 0 });
  await lab.network("lan", { cniVersion: "1.0.0", name: "lan", ...lab.conf("second") });
  await lab.pod("web", { "k8s.v1.cni.cncf.io/networks": "lan" });
  const path = lab.path("daemon-config.json");
  const daemon = await startDaemon(
    {
      config: parseDaemonConfig(readFileSync(path, "utf8"), path),
      clock: systemClock,
      logger: silentLogger,
      software: "levee trace",
      cluster: clusterPlaceOf({}, hostname()),
    },
    new AbortController().signal,
  );
  for (let made = 0; made < Number(process.env["LEVEE_ADDS"]); made += 1) {
    const call = { containerId: `c${made}`, netns: lab.netns(`n${made}`), args: lab.podArgs("web") };
    expect(await lab.cni("ADD", call)).toMatchObject({ exitCode: 0 });
  }
  await daemon.stop();
});

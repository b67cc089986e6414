// CNI 1.1, VERSION: the plugin lists every version it speaks, needs no daemon for it, and without a command says what it is.
import { expect, test } from "bun:test";
import { Lab } from "../lab/lab.ts";
import { resultOf } from "./node.ts";

const versions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];

test("VERSION lists 0.1.0 to 1.1.0 with no daemon running", async () => {
  await using lab = await Lab.make();
  const outcome = await lab.cni("VERSION", { containerId: "", netns: "", ifname: "", path: "" });
  expect(resultOf(outcome) as unknown).toEqual({ cniVersion: "1.1.0", supportedVersions: versions });
});

test("VERSION does not look at the configuration", async () => {
  await using lab = await Lab.make();
  for (const conf of ["", "{", '{"cniVersion":"9.9.9"}']) {
    const outcome = await lab.cni("VERSION", { containerId: "", conf });
    expect(resultOf(outcome) as unknown).toMatchObject({ supportedVersions: versions });
  }
});

test("without a command it describes itself and succeeds", async () => {
  await using lab = await Lab.make();
  const outcome = await lab.cni("", { containerId: "" });
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stdout + outcome.stderr).toContain("CNI protocol versions supported: 0.1.0");
});

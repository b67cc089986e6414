import { expect, test } from "bun:test";
import { watch } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import type { Lab } from "../lab/lab.ts";
import { containerId, resultOf, startNode, story } from "./node.ts";

/** `multusConfigFile: auto` with the real daemon: the runtime's conf is there when the socket is, and nothing takes it away. */

test("the generated conf leads the runtime through the shim to the primary network, and back again", async () => {
  await using lab = await startConfNode();
  const conf = await readConf(lab);
  expect(JSON.parse(conf)).toMatchObject({ type: "levee-shim", clusterNetwork: lab.path("net.d/10-net.conflist") });
  const call = { containerId: containerId("a"), netns: lab.netns("a"), conf };
  expect(resultOf(await lab.cni("ADD", call))).toMatchObject({ cniVersion: "1.1.0" });
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect((await lab.cni("STATUS", { containerId: "", conf })).exitCode).toBe(0);
});

test("the conf stays, untouched, over SIGTERM, SIGKILL and a restart", async () => {
  await using lab = await startConfNode();
  const before = await stat(confPath(lab));
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await lab.killDaemon(signal);
    expect((await stat(confPath(lab))).ino).toBe(before.ino);
    await lab.startDaemon();
  }
  const after = await stat(confPath(lab));
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
});

test("without a primary network the daemon serves, writes nothing and says why; with one the conf comes by itself", async () => {
  await using lab = await startConfNode({ withPrimary: false });
  expect(await readdir(lab.path("net.d"))).toEqual([]);
  expect((await notices(lab)).join("\n")).toContain("No primary network exists to attach pods to");
  await putPrimary(lab);
  await lab.until("the conf is there", () => readConf(lab).catch(() => undefined));
  await lab.until("nothing is missing", async () => ((await notices(lab)).length === 0 ? true : undefined));
});

test("the folder that runtimes watch sees one rename per change, and none without a change", async () => {
  await using lab = await startConfNode();
  const seen: string[] = [];
  const watcher = watch(lab.path("net.d"), (event, name) => seen.push(`${event} ${name}`));
  try {
    const before = await readConf(lab);
    await putPrimary(lab, { portMappings: true });
    await lab.until("the conf has changed", async () => ((await readConf(lab)) === before ? undefined : true));
    await putPrimary(lab, { portMappings: true });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(seen.filter((event) => event.endsWith("00-levee.conf"))).toEqual(["rename 00-levee.conf"]);
  } finally {
    watcher.close();
  }
});

test("a conf that Cilium would rename is put back, and the node is told", async () => {
  await using lab = await startConfNode();
  await rename(confPath(lab), `${confPath(lab)}.cilium_bak`);
  await lab.until("the conf is back", () => readConf(lab).catch(() => undefined));
  await lab.until("it is said", async () =>
    (await notices(lab)).some((notice) => notice.includes("was renamed to 00-levee.conf.cilium_bak"))
      ? true
      : undefined,
  );
});

test("a primary that is half written keeps the last good conf, also for calls; one that is removed does too", async () => {
  await using lab = await startConfNode();
  const conf = await readConf(lab);
  await writeFile(lab.path("net.d/10-net.conflist"), '{"cniVersion":"1.1.0","name":"net","plug');
  await lab.until("it is told", async () => (await notices(lab)).join("\n").includes("10-net.conflist") || undefined);
  expect(await readConf(lab)).toBe(conf);
  await putPrimary(lab);
  await lab.until("it is good again", async () => ((await notices(lab)).length === 0 ? true : undefined), 2_000);
  await rm(lab.path("net.d/10-net.conflist"));
  await lab.until("it is told", async () => (await notices(lab)).length > 0 || undefined);
  expect(await readConf(lab)).toBe(conf);
  const failed = await lab.cni("ADD", { containerId: containerId("a"), netns: lab.netns("a"), conf });
  expect(failed.exitCode).toBe(1);
  await putPrimary(lab);
  const call = { containerId: containerId("b"), netns: lab.netns("b"), conf };
  resultOf(await lab.cni("ADD", call));
});

test("the daemon is killed while it writes: the conf is whole at any time, and nothing stays beside it", async () => {
  await using lab = await startConfNode();
  for (let round = 0; round < 8; round += 1) {
    await putPrimary(lab, { portMappings: round % 2 === 0 });
    // A look is due 200 ms after a change; the write takes some milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 190 + 4 * round));
    await lab.killDaemon("SIGKILL");
    expect(JSON.parse(await readConf(lab))).toMatchObject({ type: "levee-shim" });
    await lab.startDaemon();
  }
  await lab.until("the conf is the last one", async () =>
    (await readConf(lab)).includes("portMappings") ? undefined : true,
  );
  expect((await readdir(lab.path("net.d"))).toSorted()).toEqual([".levee", "00-levee.conf", "10-net.conflist"]);
  expect(await readdir(lab.path("net.d/.levee"))).toEqual([]);
});

test("a daemon with a directory and no setting about the conf touches nothing", async () => {
  await using lab = await startNode();
  expect(lab.daemonLog).not.toContain("conf for the runtime");
  expect((await notices(lab)).join("\n")).not.toContain("conf");
});

async function startConfNode({ withPrimary = true }: { readonly withPrimary?: boolean } = {}): Promise<Lab> {
  const node = await startNode({
    settings: { delegates: undefined },
    prepare: async (lab) => {
      await mkdir(lab.path("net.d"));
      if (withPrimary) await putPrimary(lab);
      await lab.configure({ cniConfigDir: lab.path("net.d") });
      await writeFile(lab.path("bin/levee-shim"), "");
    },
  });
  // It is written once the socket listens.
  if (withPrimary) await node.until("the conf is there", () => readConf(node).catch(() => undefined));
  else await node.until("it is missed", async () => ((await notices(node)).length > 0 ? true : undefined));
  return node;
}

async function putPrimary(lab: Lab, capabilities: Readonly<Record<string, boolean>> = {}): Promise<void> {
  const list = { cniVersion: "1.1.0", name: "net", plugins: [lab.conf("first", { capabilities })] };
  await writeFile(lab.path("net.d/10-net.conflist"), JSON.stringify(list));
}

function confPath(lab: Lab): string {
  return lab.path("net.d/00-levee.conf");
}

function readConf(lab: Lab): Promise<string> {
  return readFile(confPath(lab), "utf8");
}

async function notices(lab: Lab): Promise<readonly string[]> {
  return (await lab.ask<NodeAnswer>({ ask: "node" })).notices;
}

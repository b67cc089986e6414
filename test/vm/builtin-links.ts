/**
 * `npm run e2e -- --vm builtin-links`: the built-in plugins whose links not every kernel has, beside the upstream programs
 * of v1.9.1 and of Debian, in 200 generated cases each. A failure names its seed:
 * `LEVEE_SEED=… LEVEE_TURNS=1 npm run e2e -- --vm builtin-links` runs that case of each alone.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Batch } from "../builtin/batch.ts";
import type { Upstream } from "../builtin/case.ts";
import { shimProgram } from "../e2e/node/levee-node.ts";
import { run } from "../e2e/run.ts";
import { say } from "../e2e/say.ts";
import { payloadFolder } from "./image/initramfs.ts";
import { VirtualMachine } from "./machine/virtual-machine.ts";
import { nodeFiles } from "./node-files.ts";
import { makePayload } from "./payload.ts";
import { vmSurroundings } from "./surroundings.ts";

const plugins = ["ipvlan", "vlan"];
const ipams = ["host-local", "static"];
const programs = join(payloadFolder, "bin");
const newest: Upstream = { version: "1.9.1", folder: join(programs, "v1.9.1") };
const debian: Upstream = { version: "1.1.1", folder: "/usr/lib/cni" };
/** So many must be served by the built-in plugin, of at most so many. */
const served = Number(process.env["LEVEE_TURNS"] ?? 200);
const turnsMax = 2 * served;
/** Cases in one command: it is the time between two lines of progress. */
const portion = Math.min(20, served);
const portionMs = 1_800_000;
const batchMs = 14_400_000;
const firstSeed = Number(process.env["LEVEE_SEED"] ?? 20_261_118);

let machine: VirtualMachine;

beforeAll(async () => {
  const { folder, image, plugins: upstream } = vmSurroundings();
  run("ip", "link", "set", "lo", "up");
  const inGuest = [...plugins, ...ipams].map((name) => [`v1.9.1/${name}`, join(upstream, name)]);
  const payload = makePayload(folder, {
    programs: {
      ...Object.fromEntries(inGuest),
      "bun": process.execPath,
      "levee-shim": shimProgram,
      "compare.js": await bundled(folder),
    },
    images: [],
    files: nodeFiles().filter(({ path }) => !/kubelet|containerd|node-images/u.test(path)),
  });
  machine = await VirtualMachine.make({ folder, image, payload });
  await machine.boot();
  // An emulated processor translates a program again wherever else in memory it is loaded.
  const atOnePlace = "echo 0 > /proc/sys/kernel/randomize_va_space";
  await machine.shell.run(`${atOnePlace}; systemctl stop containerd; modprobe -a 8021q ipvlan veth`);
}, 600_000);

afterAll(async () => machine.stop(), 60_000);

/** One file, as the guest has no checkout. */
async function bundled(folder: string): Promise<string> {
  const entry = join(import.meta.dirname, "../builtin/compare-process.ts");
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "bun", outdir: folder });
  const [file] = outputs;
  if (file === undefined) throw new Error("Cannot bundle the comparison of built-in plugins");
  return file.path;
}

async function comparePortion(upstream: Upstream, plugin: string, turn: number): Promise<Batch> {
  const { version, folder } = upstream;
  const settings = `LEVEE_SEED=${firstSeed + turn * 7_919} LEVEE_TURNS=${portion} LEVEE_SHIM=${programs}/levee-shim`;
  const command = `${settings} ${programs}/bun ${programs}/compare.js ${plugin} ${version} ${folder}`;
  return JSON.parse(await machine.shell.run(command, portionMs)) as Batch; // as compare-process.ts prints it
}

describe("builtin-links", () => {
  for (const upstream of [newest, debian])
    for (const plugin of plugins)
      test(
        `the built-in ${plugin} says and leaves the same as the program of ${upstream.version}`,
        async () => {
          const seen = { served: 0, good: 0, faults: [] as string[] };
          for (let turn = 0; turn < turnsMax && seen.served < served; turn += portion) {
            const found = await comparePortion(upstream, plugin, turn);
            seen.served += found.served;
            seen.good += found.good;
            seen.faults.push(...found.faults);
            say(`${plugin} ${upstream.version}: ${seen.served} compared, ${seen.good} of them begin with a good ADD`);
            if (seen.faults.length > 0) break;
          }
          expect(seen.faults.join("\n\n")).toBe("");
          expect(seen.served).toBeGreaterThanOrEqual(served);
          if (served > 1) expect(seen.good).toBeGreaterThan(0);
        },
        batchMs,
      );
});

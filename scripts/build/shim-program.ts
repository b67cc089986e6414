import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Architecture, Pins } from "../debian/pins.ts";
import { elfProblem } from "./elf.ts";
import { dist, root, type Part } from "./part.ts";
import { shimTools, shimToolsKey, type ShimTools } from "./shim-tools.ts";

/** The runtime starts the shim for every CNI call, and every node has a copy. */
const shimBytesMax = 1.8 * 1024 * 1024;
const inputs = ["shim/Cargo.toml", "shim/Cargo.lock", "shim/.cargo", "shim/build.rs", "shim/src"];

/** The shim by the cargo of this machine, for development and tests. */
export const ownShimPart: Part = {
  name: "levee-shim",
  output: join(dist, "levee-shim"),
  inputs,
  tool: cargoVersion,
  build: (to) => compile(to, "cargo", [], {}),
};

/** The shim that is shipped: compiled and linked by pinned packages of Debian, so that every machine makes the same bytes. */
export function shippedShimPart(architecture: Architecture, pins: Pins): Part {
  return {
    name: `levee-shim for ${architecture}`,
    output: join(dist, `linux-${architecture}`, "levee-shim"),
    inputs,
    tool: () => shimToolsKey(architecture, pins),
    build(to) {
      const { cargo, target, env } = shimTools(architecture, pins);
      compile(to, cargo, ["--target", target, "--target-dir", join(root, "shim/target/shipped")], env);
    },
  };
}

function compile(to: string, cargo: string, more: readonly string[], env: ShimTools["env"]): void {
  const args = ["build", "--release", "--offline", "--message-format=json-render-diagnostics", ...more];
  const { status, stdout } = spawnSync(cargo, args, {
    cwd: join(root, "shim"),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`Cannot build the shim: cargo ended with ${status ?? "a signal"}`);
  const executable = /"executable":"([^"]*\/levee-shim)"/.exec(stdout)?.[1];
  if (executable === undefined) throw new Error("Cannot build the shim: cargo made no program named levee-shim");
  const problem = elfProblem(readFileSync(executable), shimBytesMax);
  if (problem !== undefined) throw new Error(`The shim breaks its promise: ${problem}`);
  copyFileSync(executable, to);
}

function cargoVersion(): string {
  const { stdout, error } = spawnSync("cargo", ["--version"], { encoding: "utf8" });
  if (error !== undefined) throw new Error(`Cannot start cargo: ${error.message}`);
  return stdout.trim();
}

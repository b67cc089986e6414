/**
 * `npm start`: Levee on this machine, without a cluster. Installs the prerequisites, builds once, then runs `levee demo`,
 * which cleans up after itself. `npm start -- --once` attaches, prints, cleans up and ends.
 */
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { makeReady } from "./make-ready.ts";

const dist = resolve(import.meta.dirname, "../dist");

if (!makeReady("start")) process.exit(1);

const demo = spawn(join(dist, "levee"), ["demo", ...process.argv.slice(2)], { stdio: "inherit" });
// The demonstration needs the signal to clean up; we only wait for it to end. The terminal sends Ctrl-C to both of us:
// a second signal does no harm.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => demo.kill(signal));
demo.on("error", (error) => {
  console.error(`Cannot start dist/levee: ${error.message}`);
  process.exit(1);
});
demo.on("close", (code) => process.exit(code ?? 1));

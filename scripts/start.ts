/**
 * `npm start`: Levee on this machine, with no cluster. Sees to what the machine needs, builds once, then hands over to
 * `levee demo`, which cleans up after itself. `npm start -- --once` attaches, prints, cleans up and ends.
 */
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { makeReady } from "./make-ready.ts";

const dist = resolve(import.meta.dirname, "../dist");

if (!makeReady("start")) process.exit(1);

const demo = spawn(join(dist, "levee"), ["demo", ...process.argv.slice(2)], { stdio: "inherit" });
// The demonstration needs the signal to clean up; we only wait for it to end. That the terminal sends Ctrl-C to both
// of us, so that it arrives there twice, does no harm.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => demo.kill(signal));
demo.on("error", (error) => {
  console.error(`Cannot start dist/levee: ${error.message}`);
  process.exit(1);
});
demo.on("close", (code) => process.exit(code ?? 1));

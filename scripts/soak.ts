/**
 * Kills everything at random for a long time while pods come and go, then looks for what is left.
 * `npm run soak` takes ten minutes, `npm run soak -- 60` sixty.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const minutes = Number(process.argv[2] ?? 10);
if (!(minutes > 0 && minutes <= 24 * 60)) {
  console.error(`Error: the number of minutes must be between 0 and 1440: current value is ${process.argv[2] ?? ""}`);
  process.exit(2);
}
const lastsMs = Math.round(minutes * 60_000);
console.log(`Everything is killed at random for ${minutes} minutes…`);
const { status } = spawnSync(
  process.execPath,
  // Afterwards every sandbox is deleted and looked at, which takes longer the more there were.
  ["test", "--isolate", "--timeout", String(2 * lastsMs + 120_000), "./test/crash/chaos.test.ts"],
  {
    cwd: resolve(import.meta.dirname, ".."),
    stdio: "inherit",
    env: { ...process.env, LEVEE_CHAOS_MS: String(lastsMs) },
  },
);
process.exit(status ?? 1);

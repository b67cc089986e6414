import { afterEach, beforeEach } from "bun:test";
import { Sandbox } from "./sandbox.ts";
import { ScriptedDaemon } from "./scripted-daemon.ts";

/** Of the test that runs now, in a file that called `withDaemon`. */
export let sandbox: Sandbox;
export let daemon: ScriptedDaemon;

/** Each test of the file gets a sandbox with a daemon that listens in it; both are gone afterwards. */
export function withDaemon(): void {
  beforeEach(async () => {
    sandbox = new Sandbox();
    daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  });
  afterEach(async () => {
    await daemon.kill();
    sandbox.clean();
  });
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { runProgram } from "../run-program.ts";
import { childEnv, type Shell } from "../shell.ts";

/** What desktops offer to open an address with, in this order. */
const openers = ["xdg-open", "wslview", "open"];
/** What such a program must know about the desktop. */
const desktopNames = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "HOME",
  "BROWSER",
];
const openMs = 5_000;

type BrowserShell = Pick<Shell, "clock" | "env">;

/** Over ssh and in a container there is no screen to open anything on. */
export function hasScreen({ env }: Pick<Shell, "env">): boolean {
  return [env["DISPLAY"], env["WAYLAND_DISPLAY"], env["WSL_DISTRO_NAME"]].some((value) => (value ?? "") !== "");
}

export interface OpenedBrowser extends AsyncDisposable {
  readonly isOpen: boolean;
}

/**
 * Opens the address in the person's browser, through a file that only he can read: every user of the machine sees the
 * words of a running program, and the address holds the token.
 */
export async function openBrowser(shell: BrowserShell, url: string): Promise<OpenedBrowser> {
  const folder = await mkdtemp(join(tmpdir(), "levee-console-"));
  const page = join(folder, "open.html");
  const text = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${url}"><a href="${url}">The console</a>\n`;
  await writeFileAtomically(page, text, { mode: 0o600, sync: false });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { isOpen: await firstThatOpens(shell, page), [Symbol.asyncDispose]: remove };
}

async function firstThatOpens(shell: BrowserShell, page: string): Promise<boolean> {
  const desktop: Record<string, string> = {};
  for (const name of desktopNames) if (shell.env[name] !== undefined) desktop[name] = shell.env[name];
  for (const file of openers) {
    const run = { file, args: [page], env: childEnv(shell, desktop), timeoutMs: openMs, isApart: true };
    const end = await runProgram(shell.clock, run);
    // A browser that does not let go of its starter is open, too.
    if (end.startError === undefined && (end.exitCode === 0 || end.stopped === "timeout")) return true;
  }
  return false;
}

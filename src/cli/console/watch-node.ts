import type { Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import { hasScreen, openBrowser } from "./browser.ts";
import { composeNode } from "./compose-console.ts";
import { noteLogger } from "./note-logger.ts";
import { serveConsole, type ServedConsole } from "./serve-console.ts";

/** A visitor needs some seconds to click on a link. */
const firstTabMs = 60_000;
const pollMs = 200;

/** Serves the console of a daemon that this very command runs. */
async function watchNode(context: Context): Promise<ServedConsole> {
  return await serveConsole(context.shell, await composeNode(context), { logger: noteLogger(context.shell) });
}

/** For a command that works as well without it: undefined, with a note, where the console cannot be served. */
export async function watchNodeIfPossible(context: Context): Promise<ServedConsole | undefined> {
  try {
    return await watchNode(context);
  } catch (thrown) {
    context.shell.stderr.write(`Note: there is no console: ${toFailure(thrown).message}\n`);
    return undefined;
  }
}

/** Somebody who watches a storm. */
export interface StormAudience extends AsyncDisposable {
  /** Keeps the page while somebody looks at it, until Ctrl-C. */
  stay(): Promise<void>;
}

/** Prints the link, and waits a minute for somebody to open it: a storm is over before a browser has started. */
export async function inviteAudience(context: Context): Promise<StormAudience> {
  const { shell } = context;
  const { clock, interrupted } = shell;
  const served = await watchNode(context);
  shell.stderr.write(`The console is at ${served.url}\nThe storm begins when it is open, or after a minute\n`);
  const browser = hasScreen(shell) ? await openBrowser(shell, served.url) : undefined;
  const endMs = clock.monotonicMs() + firstTabMs;
  while (served.server.tabs === 0 && clock.monotonicMs() < endMs && !interrupted.aborted)
    await clock.sleep(pollMs, interrupted).catch(() => undefined);
  return {
    async stay() {
      if (served.server.tabs > 0) shell.stderr.write("The console stays until you close it, or until Ctrl-C\n");
      while (served.server.tabs > 0 && !interrupted.aborted)
        await clock.sleep(pollMs, interrupted).catch(() => undefined);
    },
    async [Symbol.asyncDispose]() {
      await browser?.[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

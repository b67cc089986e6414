import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../context.ts";
import { fakeShell, type FakeShell } from "../fake-shell.fixture.ts";
import { readSettings } from "../settings.ts";
import { inviteAudience, watchNodeIfPossible } from "./watch-node.ts";

/** A node whose daemon has not been started yet, as before a storm. */
function setUp(): { readonly context: Context; readonly shell: FakeShell } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "levee-watch-"));
  const shell = fakeShell();
  const context = { shell, settings: readSettings({ socketDir: folder, stateDir: folder }, shell) };
  return { context, shell, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

async function urlOf({ stderr }: FakeShell): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const [url] = /http:\S+/u.exec(stderr.text) ?? [];
    if (url !== undefined) return url;
    await Bun.sleep(10);
  }
  throw new Error("no address was printed");
}

test("inviteAudience prints the link, begins when a tab is open, and stays until it is closed", async () => {
  using place = setUp();
  const inviting = inviteAudience(place.context);
  const tab = await fetch(`${await urlOf(place.shell)}events`);
  await using audience = await inviting;
  const staying = audience.stay();
  await tab.body?.cancel();
  await staying;
  expect(place.shell.stderr.text).toContain("The console stays until you close it");
});

test("inviteAudience does not keep a person waiting who pressed Ctrl-C", async () => {
  using place = setUp();
  const inviting = inviteAudience(place.context);
  await urlOf(place.shell);
  place.shell.interrupt();
  await using audience = await inviting;
  await audience.stay();
  expect(place.shell.stderr.text).not.toContain("stays");
});

test("watchNodeIfPossible shows a daemon that is not there yet as one that is starting", async () => {
  using place = setUp();
  await using served = await watchNodeIfPossible(place.context);
  const answer = await fetch(`${served?.url ?? ""}events`);
  const reader = answer.body?.getReader();
  const text = Buffer.from((await reader?.read())?.value ?? []).toString("utf8");
  expect(text).toContain('"state":"starting"');
  await reader?.cancel();
});

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../context.ts";
import { fakeShell, type FakeShell } from "../fake-shell.fixture.ts";

/**
 * A shim that records its calls and does what the test tells it: a shell script, run as a real process.
 * For ADD it makes real interfaces in the namespace.
 */
export class FakeShim {
  readonly folder = mkdtempSync(join(tmpdir(), "levee-cli-"));
  readonly path = join(this.folder, "levee-shim");

  constructor() {
    mkdirSync(join(this.folder, "calls"));
    this.behave({});
  }

  /** Shell code for each verb; without it the call succeeds. */
  behave(on: { readonly add?: string; readonly del?: string }): void {
    const script = `#!/bin/sh
n=$(ls "${this.folder}/calls" | wc -l)
{ env | grep '^CNI_' | sort; echo "--"; cat; } > "${this.folder}/calls/$n-$CNI_COMMAND"
netns=$(basename "$CNI_NETNS")
case "$CNI_COMMAND" in
ADD) ${on.add ?? okAdd} ;;
DEL) ${on.del ?? "exit 0"} ;;
esac
`;
    writeFileSync(this.path, script);
    chmodSync(this.path, 0o755);
  }

  /** The calls so far, in order. */
  calls(): readonly ShimRecord[] {
    return readdirSync(join(this.folder, "calls"))
      .toSorted((left, right) => Number.parseInt(left, 10) - Number.parseInt(right, 10))
      .map((name) => {
        const [env = "", conf = ""] = readFileSync(join(this.folder, "calls", name), "utf8").split("--\n");
        const entries = env
          .trim()
          .split("\n")
          .map((line): [string, string] => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
        return { verb: name.split("-")[1] ?? "", env: Object.fromEntries(entries), conf };
      });
  }

  context(shell: FakeShell = fakeShell()): Context & { readonly shell: FakeShell } {
    const settings = {
      output: "table" as const,
      socketDir: join(this.folder, "run"),
      stateDir: join(this.folder, "state"),
      directory: join(this.folder, "directory"),
      shim: this.path,
      cniPath: "/opt/cni/bin:/usr/lib/cni",
    };
    return { shell, settings };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface ShimRecord {
  readonly verb: string;
  readonly env: Readonly<Record<string, string>>;
  readonly conf: string;
}

const okAdd = `ip -n "$netns" link add eth0 type bridge && ip -n "$netns" addr add 192.0.2.7/24 dev eth0 && ip -n "$netns" link set eth0 up && ip -n "$netns" route add default via 192.0.2.1
  ip -n "$netns" link add net1 type bridge && ip -n "$netns" addr add 2001:db8::7/64 dev net1 nodad && ip -n "$netns" link set net1 up
  echo '{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.7/24","gateway":"192.0.2.1"}]}'`;

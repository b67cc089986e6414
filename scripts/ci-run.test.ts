import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

test(".ci/run plays the seeds of CI, whoever runs it", () => {
  const folder = mkdtempSync(join(tmpdir(), "levee-ci-run-"));
  try {
    for (const name of ["npm", "npx"]) {
      writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $* with CI=$CI"\n`);
      chmodSync(join(folder, name), 0o755);
    }
    const { CI: _, ...env } = process.env;
    const { stdout } = Bun.spawnSync([resolve(import.meta.dirname, "../.ci/run")], {
      env: { ...env, PATH: `${folder}:${env["PATH"] ?? ""}` },
    });
    expect(stdout.toString()).toEndWith("npm ci with CI=true\nnpx bun scripts/ci.ts with CI=true\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

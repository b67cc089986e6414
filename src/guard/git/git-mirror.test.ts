import { expect, test } from "bun:test";
import { readFileSync, readdirSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { authority, otherAuthority } from "../../kube/access/certificates.fixture.ts";
import { gitEnvironment } from "./git-environment.ts";
import { listening, serveGit } from "./git-https.fixture.ts";
import { GitMirror } from "./git-mirror.ts";
import { GitProblem } from "./git-problem.ts";
import { parseGitRepository } from "./git-repository.ts";
import { GitServer } from "./git-server.fixture.ts";
import { makeOnePathCommit } from "./one-path-commit.ts";
import { blobSha } from "./blob-sha.ts";
import { until } from "../../base/until.fixture.ts";

const file = "apps/multus/multus.yaml";

function mirrorOf(server: GitServer, setting: string, networkTimeoutMs = 20_000): GitMirror {
  const folder = join(server.root, "guard");
  return new GitMirror({ clock: systemClock, repository: parseGitRepository(setting), folder, networkTimeoutMs });
}

function secret(server: GitServer, files: Readonly<Record<string, string>>): string {
  const folder = join(server.root, "secret");
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

async function problemOf(work: Promise<unknown>): Promise<{ kind: string; message: string }> {
  try {
    return { kind: "none", message: JSON.stringify(await work) };
  } catch (thrown) {
    if (!(thrown instanceof GitProblem)) throw thrown;
    return { kind: thrown.kind, message: thrown.message };
  }
}

async function changed(mirror: GitMirror): Promise<string> {
  const parent = await mirror.fetch("main", 1);
  const bytes = new TextEncoder().encode("new\n");
  const commit = await makeOnePathCommit(mirror, {
    parent,
    path: file,
    oldBlobSha: blobSha(new TextEncoder().encode("old\n"), 40),
    newBlobSha: blobSha(bytes, 40),
    newBytesSha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
    bytes,
    message: "x",
    atSeconds: 1,
  });
  expect((await mirror.push(commit, { branch: "levee/x", isNew: true })).exitCode).toBe(0);
  return commit;
}

test("GitMirror reads and pushes over http", async () => {
  using server = new GitServer({ [file]: "old\n", "other.yaml": "other\n" });
  server.ask("config", "http.receivepack", "true");
  await using web = await serveGit(server);
  const commit = await changed(mirrorOf(server, web.url));
  expect(server.ask("rev-parse", "levee/x")).toBe(commit);
  expect(server.ask("diff-tree", "-r", "--name-status", "main", "levee/x")).toBe(`M\t${file}`);
});

test("GitMirror reads and pushes over https with name, password and authority of a Secret, which are nowhere else", async () => {
  using server = new GitServer({ [file]: "old\n" });
  await using web = await serveGit(server, "levee:t0ken with 'quotes' $HOME");
  const files = { "username": "levee\n", "password": "t0ken with 'quotes' $HOME\n", "ca.crt": authority };
  const setting = `${web.url},credentials=${secret(server, files)}`;
  const commit = await changed(mirrorOf(server, setting));
  expect(server.ask("rev-parse", "levee/x")).toBe(commit);
  expect(JSON.stringify(gitEnvironment(parseGitRepository(setting), "/home"))).not.toContain("t0ken");
});

test("GitMirror fails with a wrong password, without one, and with a certificate of another authority", async () => {
  using server = new GitServer({ [file]: "old\n" });
  await using web = await serveGit(server, "levee:right");
  const tried = async (files: Readonly<Record<string, string>>): Promise<{ kind: string; message: string }> =>
    problemOf(mirrorOf(server, `${web.url},credentials=${secret(server, files)}`).tip("main"));
  const wrong = await tried({ "username": "levee", "password": "wr0ng", "ca.crt": authority });
  expect(wrong.kind).toBe("refused");
  expect(wrong.message).not.toContain("wr0ng");
  expect(await tried({ "username": "levee", "password": "right", "ca.crt": otherAuthority })).toMatchObject({
    kind: "refused",
    message: expect.stringContaining("certificate") as string,
  });
  const empty = join(server.root, "nothing");
  expect(await problemOf(mirrorOf(server, `${web.url},credentials=${empty}`).tip("main"))).toEqual({
    kind: "refused",
    message: `Cannot read the branches of ${web.url}: ${empty} has no username and no password`,
  });
});

test("GitMirror is killed with all its children when a server does not answer", async () => {
  using server = new GitServer();
  const silent = createTcpServer(() => undefined);
  await using web = await listening(silent, "http");
  const startMs = systemClock.monotonicMs();
  expect(await problemOf(mirrorOf(server, web.url, 700).tip("main"))).toEqual({
    kind: "unreachable",
    message: `Cannot read the branches of ${web.url}: it took longer than 0.7 s`,
  });
  expect(systemClock.monotonicMs() - startMs).toBeLessThan(5_000);
  await until("no process is left", () => processesWith(web.url).length === 0);
  expect(processesWith(web.url)).toEqual([]);
});

test("GitMirror reports a missing server as unreachable, and follows no redirect", async () => {
  using server = new GitServer({ [file]: "old\n" });
  await using elsewhere = await serveGit(server);
  const sends = createServer((request, response) => {
    response.writeHead(302, { Location: elsewhere.url.replace("/infra.git", request.url ?? "") }).end();
  });
  {
    await using web = await listening(sends, "http");
    expect((await problemOf(mirrorOf(server, web.url).tip("main"))).kind).toBe("unreachable");
    expect(elsewhere.authorizations).toEqual([]);
  }
  expect(await problemOf(mirrorOf(server, "http://127.0.0.1:1/x").tip("main"))).toMatchObject({ kind: "unreachable" });
});

test("GitMirror checks the host's key over ssh without a prompt", async () => {
  using server = new GitServer();
  const folder = secret(server, { "ssh-privatekey": "no key", "known_hosts": "" });
  const noServer = createTcpServer((socket) => void socket.end("SSH-1.0-none\r\n"));
  await using web = await listening(noServer, "ssh");
  expect(
    (await problemOf(mirrorOf(server, `${web.url.replace("://", "://git@")},credentials=${folder}`).tip("main"))).kind,
  ).toBe("unreachable");
  const { GIT_SSH_COMMAND: ssh = "", GIT_TERMINAL_PROMPT } = gitEnvironment(
    parseGitRepository(`ssh://git@git.example/x,credentials=${folder}`),
    "/home",
  );
  expect(ssh).toContain("-o StrictHostKeyChecking=yes");
  expect(ssh).toContain(`-o UserKnownHostsFile=${folder}/known_hosts -o GlobalKnownHostsFile=/dev/null`);
  expect(GIT_TERMINAL_PROMPT).toBe("0");
  expect((await problemOf(mirrorOf(server, "ssh://git@git.example/x").tip("main"))).message).toContain(
    "ssh needs credentials",
  );
});

test("GitMirror reads repositories with SHA-256", async () => {
  using server = new GitServer();
  const bare = join(server.root, "srv", "long.git");
  server.run("/", "init", "-q", "--bare", "--object-format=sha256", "-b", "main", bare);
  server.run("/", "init", "-q", "--object-format=sha256", "-b", "main", join(server.root, "long"));
  writeFileSync(join(server.root, "long", "a.yaml"), "a\n");
  server.run(join(server.root, "long"), "add", "-A");
  server.run(join(server.root, "long"), "commit", "-q", "-m", "a");
  server.run(join(server.root, "long"), "push", "-q", `file://${bare}`, "HEAD:main");
  const mirror = mirrorOf(server, `file://${bare}`);
  const commit = await mirror.fetch("main", 1);
  expect(commit).toHaveLength(64);
  expect((await mirror.list(commit, "", false)).map(({ sha }) => sha)).toEqual([
    blobSha(new TextEncoder().encode("a\n"), 64),
  ]);
});

/** Command lines of living processes that contain this text. */
function processesWith(text: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
    .filter((line) => line.includes(text));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

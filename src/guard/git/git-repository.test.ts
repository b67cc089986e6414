import { expect, test } from "bun:test";
import { findRepository, isBranchName, isPathAllowed, parseGitRepository } from "./git-repository.ts";
import { isSameRepository } from "./repository-name.ts";
import { sourceFolder } from "./source-folder.ts";

test("isSameRepository compares scheme, host, port and path, however they are written", () => {
  for (const same of [
    "https://git.example/org/infra",
    "https://GIT.example:443/org/infra.git/",
    "HTTPS://user:secret@git.example/org/infra.git",
  ])
    expect([same, isSameRepository(same, "https://git.example/org/infra.git")]).toEqual([same, true]);
  expect(isSameRepository("git@git.example:org/infra.git", "ssh://git@git.example:22/org/infra")).toBe(true);
});

test("isSameRepository refuses addresses that could lead elsewhere", () => {
  for (const other of [
    "http://git.example/org/infra.git",
    "https://git.example:8443/org/infra.git",
    "https://git.example.evil.example/org/infra.git",
    "https://git.example@evil.example/org/infra.git",
    "https://evil.example/https://git.example/org/infra.git",
    "https://git.example/org/../org/infra.git",
    "https://git.example/org/./infra.git",
    "https://git.example/org//infra.git",
    "https://git.example/org/%69nfra.git",
    "https://git.example/Org/infra.git",
    "https://git.example/org/infra.git?x=1",
    "https://git.example/org/infra.git#x",
    "https://git.example\\@evil.example/org/infra.git",
    "https://git.example/org/infra.git\nx",
    "ext::sh -c touch% /tmp/x",
    "--upload-pack=x",
    "/org/infra.git",
    "",
  ])
    expect([other, isSameRepository(other, "https://git.example/org/infra.git")]).toEqual([other, false]);
});

test("parseGitRepository reads branches, paths, other names and where the credentials are", () => {
  const text =
    "ssh://git@git.example/org/infra.git,branch=main,branch=release/1.0,path=apps/multus/,alias=https://git.example/org/infra,credentials=/etc/levee-git/infra,push=direct";
  const repository = parseGitRepository(text);
  expect(repository).toEqual({
    url: "ssh://git@git.example/org/infra.git",
    scheme: "ssh",
    aliases: ["https://git.example/org/infra"],
    branches: ["main", "release/1.0"],
    paths: ["apps/multus"],
    credentials: "/etc/levee-git/infra",
    isDirect: true,
  });
  expect(findRepository([repository], "https://git.example/org/infra.git")).toBe(repository);
  expect(findRepository([repository], "https://git.example/org/other.git")).toBeUndefined();
});

for (const [text, problem] of [
  ["infra", "is not an address"],
  ["ext::sh,branch=main", "is not an address"],
  ["https://me:secret@git.example/x", "the address must not contain a password"],
  ["https://secret@git.example/x", "the address must not contain a password"],
  ["ssh://me:secret@git.example/x", "the address must not contain a password"],
  ["https://git.example/x,branch=-x", "is not a branch name"],
  ["https://git.example/x,path=../y", "is not a path"],
  ["https://git.example/x,path=", "path= is empty"],
  ["https://git.example/x,branchx", "is not one of branch="],
  ["https://git.example/x,alias=x", "is not an address"],
  ["https://git.example/x,credentials=/a b", "is not an absolute path"],
  ["https://git.example/x,credentials=/a,credentials=/b", "credentials is set twice"],
  ["http://git.example/x,credentials=/a", "credentials must not be sent over http"],
  ["https://git.example/x,push=force", "push=force is unknown"],
  ["https://git.example/x,push=direct,branch=main", "branch= and path= are required"],
  ["https://git.example/x,force", "is not one of branch="],
] as const) {
  test(`parseGitRepository refuses ${text}`, () => {
    const message = messageOf(() => parseGitRepository(text));
    expect(message).toContain("Cannot use --git-repository");
    expect(message).toContain(problem);
    expect(message).not.toContain("secret");
  });
}

test("isBranchName takes plain names and nothing that git reads in another way", () => {
  for (const name of ["main", "levee/recover-1", "release/1.0", "feature_x"]) expect(isBranchName(name)).toBe(true);
  for (const name of [
    "",
    "HEAD",
    "-x",
    "a..b",
    "a.lock",
    "a/.b",
    "a/",
    "a//b",
    "a b",
    "a~1",
    "a^",
    "a:b",
    "@{u}",
    "a*",
    "a.",
    "x".repeat(201),
  ])
    expect([name, isBranchName(name)]).toEqual([name, false]);
});

test("isPathAllowed takes what is below an allowed path, and not its namesakes", () => {
  const repository = parseGitRepository("https://git.example/x,path=apps/multus");
  expect(isPathAllowed(repository, "apps/multus/a.yaml")).toBe(true);
  expect(isPathAllowed(repository, "apps/multus2/a.yaml")).toBe(false);
  expect(isPathAllowed(repository, "apps")).toBe(false);
});

test("sourceFolder takes plain folders, and the root", () => {
  expect(["", ".", "./apps/x/", "apps/.hidden", "a b"].map(sourceFolder)).toEqual([
    "",
    "",
    "apps/x",
    "apps/.hidden",
    "a b",
  ]);
  expect(["/etc", "a/../b", ":(glob)*", "-x", "a\nb"].map(sourceFolder)).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
  return "nothing was thrown";
}

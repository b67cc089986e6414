import { expect, test } from "bun:test";
import { join } from "node:path";
import { HookedRepository } from "./hooked-repository.fixture.ts";

/** 200 files on the server, as most tests begin. */
function begun(files = 200): HookedRepository {
  const repository = new HookedRepository();
  repository.write(files);
  repository.commit("first");
  repository.push("main");
  return repository;
}

test("git-guard pre-commit refuses the commit of a worktree without a checkout, which drops every other file", () => {
  using repository = begun();
  repository.hookClient("pre-commit");
  const worktree = join(repository.root, "fix");
  repository.must(repository.folder, "git", "worktree", "add", "-q", "--no-checkout", worktree);
  repository.must(
    worktree,
    "sh",
    "-c",
    "mkdir -p apps/0 && echo fixed > apps/0/file-0.yaml && git add apps/0/file-0.yaml",
  );
  const ran = repository.run(worktree, "git", "commit", "-q", "-m", "fix one file");
  expect(ran.status).toBe(1);
  expect(ran.text).toContain(
    "Error: This commit deletes 199 of 200 files; 20 may be deleted without a declaration (mass-delete)",
  );
  expect(ran.text).toContain("  | deleted: apps/0/file-1.yaml\n");
  expect(ran.text).toContain("  | … and 194 more\n");
  expect(ran.text).toContain("set MASS_DELETE to the number of files");
  // There is no line that a script could paste unread.
  expect(ran.text).not.toMatch(/mass[-_]delete[:=] ?\d/iu);
  expect(repository.must(worktree, "git", "log", "--format=%s")).toBe("first");
});

test("git-guard pre-commit lets the first commit, changes, moves and a few deletions through", () => {
  using repository = new HookedRepository();
  repository.hookClient("pre-commit");
  repository.write(200);
  expect(repository.commit("first")).toEqual({ status: 0, text: "" });
  repository.remove(20);
  expect(repository.commit("twenty")).toEqual({ status: 0, text: "" });
  repository.must(repository.folder, "git", "mv", "apps", "clusters");
  repository.file("clusters/5/file-50.yaml", "content of 50\nline\nline\nchanged\n");
  expect(repository.commit("all of them moved, one changed on the way")).toEqual({ status: 0, text: "" });
});

test("git-guard pre-commit lets through what the environment says exactly, and commit-msg what the message says", () => {
  using repository = begun();
  repository.hookClient("pre-commit");
  repository.remove(30);
  repository.must(repository.folder, "git", "add", "-A");
  const commit = (count: string): number | null =>
    repository.runWith({ MASS_DELETE: count }, repository.folder, "git", "commit", "-q", "-m", "x").status;
  expect(["29", "31", "", "-30"].map(commit)).toEqual([1, 1, 1, 1]);
  expect(commit("30")).toBe(0);
  repository.must(repository.folder, "rm", join(repository.folder, ".git/hooks/pre-commit"));
  repository.hookClient("commit-msg");
  repository.remove(25, 30);
  const wrong = repository.commit("clean up", "Mass-Delete: 24");
  expect(wrong.status).toBe(1);
  expect(wrong.text).toContain("deletes 25 of 170 files, not 24 as its message declares; 17 may be deleted");
  expect(wrong.text).toContain("paragraph, Mass-Delete: NUMBER, the number of files");
  expect(wrong.text).not.toMatch(/mass[-_]delete[:=] ?\d/iu);
  expect(repository.commit("clean up", "Signed-off-by: me\nMass-Delete: 25").status).toBe(0);
});

test("git-guard works sensibly in a small repository", () => {
  using repository = begun(5);
  repository.hookClient("pre-commit");
  repository.remove(3);
  expect(repository.commit("three of five").status).toBe(0);
  repository.remove(2, 3);
  const ran = repository.commit("all that are left");
  expect(ran.status).toBe(1);
  expect(ran.text).toContain("deletes 2 of 2 files; 1 may be deleted");
});

test("git-guard pre-receive refuses a push whose commit deletes too much, and takes it with the exact count", () => {
  using repository = begun();
  repository.hookServer();
  repository.remove(50);
  repository.commit("clean up");
  const refused = repository.push("main");
  expect(refused.status).toBe(1);
  expect(refused.text).toMatch(
    /remote: Error: Commit [0-9a-f]{12} deletes 50 of 200 files; 20 may be deleted without a declaration/,
  );
  expect(repository.must(repository.bare, "git", "log", "--format=%s", "main")).toBe("first");
  repository.must(repository.folder, "git", "commit", "-q", "--amend", "-m", "clean up", "-m", "Mass-Delete: 50");
  expect(repository.push("main").status).toBe(0);
});

test("git-guard pre-receive refuses the commit even when the next one restores the files", () => {
  using repository = begun();
  repository.hookServer();
  repository.remove(150);
  repository.commit("accident");
  repository.must(repository.folder, "git", "revert", "--no-edit", "HEAD");
  expect(repository.push("main").text).toContain("deletes 150 of 200 files");
});

test("git-guard pre-receive counts what several commits delete together, less what they said", () => {
  using repository = begun();
  repository.hookServer();
  for (const from of [0, 15]) {
    repository.remove(15, from);
    repository.commit("fifteen");
  }
  expect(repository.push("main").text).toContain("The push to refs/heads/main deletes 30 of 200 files");
  repository.must(repository.folder, "git", "commit", "-q", "--amend", "-m", "fifteen", "-m", "Mass-Delete: 30");
  expect(repository.push("main").status).toBe(0);
  repository.remove(40, 30);
  repository.commit("forty", "Mass-Delete: 40");
  repository.remove(5, 70);
  repository.commit("five more");
  expect(repository.push("main").status).toBe(0);
});

test("git-guard pre-receive judges new branches by where they began, and a branch that is set to something else", () => {
  using repository = begun();
  repository.hookServer();
  repository.must(repository.folder, "git", "checkout", "-q", "-b", "feature");
  repository.remove(15);
  repository.commit("some");
  repository.remove(15, 15);
  repository.commit("some more");
  expect(repository.push("feature").text).toContain("The push to refs/heads/feature deletes 30 of 200 files");
  repository.must(repository.folder, "git", "checkout", "-q", "--orphan", "empty");
  repository.must(repository.folder, "git", "rm", "-rqf", ".");
  repository.file("README", "nothing else\n");
  repository.commit("a beginning of its own");
  // As a branch of its own it takes nothing from anybody; in the place of another it does.
  expect(repository.push("empty").status).toBe(0);
  expect(repository.push("+empty:main").text).toContain("The push to refs/heads/main deletes 200 of 200 files");
});

test("git-guard pre-receive refuses a merge that drops what both sides have, and lets an ordinary one through", () => {
  using repository = begun();
  repository.hookServer();
  repository.must(repository.folder, "git", "checkout", "-q", "-b", "side");
  repository.file("side.yaml", "side\n");
  repository.commit("side");
  repository.must(repository.folder, "git", "checkout", "-q", "main");
  repository.file("main.yaml", "main\n");
  repository.commit("main");
  repository.must(repository.folder, "git", "merge", "-q", "--no-ff", "-m", "merge", "side");
  expect(repository.push("main").status).toBe(0);
  repository.must(repository.folder, "git", "checkout", "-q", "side");
  repository.file("side.yaml", "side 2\n");
  repository.commit("side 2");
  repository.must(repository.folder, "git", "checkout", "-q", "main");
  repository.must(repository.folder, "git", "merge", "-q", "--no-ff", "--no-commit", "side");
  repository.must(repository.folder, "git", "rm", "-rqf", "apps");
  repository.commit("a merge with more in it than both");
  expect(repository.push("main").text).toMatch(/Commit [0-9a-f]{12} deletes 200 of 202 files/);
});

test("git-guard pre-receive lets the first push, tags and deleted branches through, but not the deletion of HEAD's branch", () => {
  using repository = new HookedRepository();
  repository.hookServer();
  repository.write(50);
  repository.commit("first");
  repository.remove(45);
  repository.commit("a history with a large deletion");
  expect(repository.push("main").status).toBe(0);
  repository.must(repository.folder, "git", "tag", "-m", "v1", "v1");
  expect(repository.push("v1", "HEAD:refs/heads/other").status).toBe(0);
  expect(repository.push(":other", ":v1").status).toBe(0);
  repository.must(repository.bare, "git", "config", "receive.denyDeleteCurrent", "ignore");
  expect(repository.push(":main").text).toContain("Refused: the push deletes refs/heads/main");
});

test("git-guard ci judges a branch against its base, by exit codes that CI can tell apart", () => {
  using repository = begun();
  repository.must(repository.folder, "git", "checkout", "-q", "-b", "feature");
  repository.file("new.yaml", "new\n");
  repository.commit("new");
  expect(repository.guard("ci", "--base", "origin/main")).toEqual({ status: 0, text: "" });
  repository.remove(60);
  repository.commit("sixty");
  expect(repository.guard("ci", "--base", "main", "--head", "feature").status).toBe(1);
  expect(repository.guard("ci", "--base", "0".repeat(40)).status).toBe(1);
  expect(repository.guard("ci", "--base", "main", "--files-max", "100", "--percent-max", "50").status).toBe(0);
  const unknown = repository.guard("ci", "--base", "origin/nowhere");
  expect(unknown.status).toBe(3);
  expect(unknown.text).toContain("fetch-depth: 0");
  expect(repository.guard("ci").status).toBe(2);
  expect(repository.guard("ci", "--base", "main", "--files-max", "x").status).toBe(2);
  expect(repository.guard("pre-commit", "-C", repository.root).status).toBe(3);
  const noise = repository.run(
    repository.bare,
    "sh",
    "-c",
    `echo nonsense | "${process.execPath}" "${join(import.meta.dirname, "../../main.ts")}" git-guard pre-receive`,
  );
  expect(noise.status).toBe(3);
  expect(noise.text).toContain("is not a line of OLD NEW REF");
});

test("git-guard ci takes a declaration for many small commits only with their whole number", () => {
  using repository = begun();
  repository.must(repository.folder, "git", "checkout", "-q", "-b", "feature");
  for (const from of [0, 15]) {
    repository.remove(15, from);
    repository.commit("fifteen");
  }
  repository.remove(15, 30);
  for (const [declared, status] of [
    [15, 1],
    [44, 1],
    [45, 0],
  ] as const) {
    repository.commit("the rest", `Mass-Delete: ${declared}`);
    const ran = repository.guard("ci", "--base", "main", "--head", "feature");
    expect({ declared, status: ran.status }).toEqual({ declared, status });
    if (status === 1) expect(ran.text).toContain("deletes 45 of 200 files");
    repository.must(repository.folder, "git", "reset", "-q", "--soft", "HEAD~1");
  }
});

test("git-guard counts a file that is emptied as one that is deleted, in every mode", () => {
  using repository = begun();
  repository.hookClient("pre-commit");
  const empty = (count: number, from: number, content = ""): void => {
    for (let index = from; index < from + count; index += 1)
      repository.file(`apps/${Math.floor(index / 10)}/file-${index}.yaml`, content);
  };
  empty(150, 0);
  empty(40, 150, "\n");
  repository.remove(10, 190);
  const ran = repository.commit("emptied");
  expect(ran.status).toBe(1);
  expect(ran.text).toContain("This commit deletes 10 and empties 190 of 200 files; 20 may be deleted");
  expect(ran.text).toContain("  | emptied: apps/0/file-0.yaml\n");
  repository.must(repository.folder, "git", "commit", "-q", "--no-verify", "-m", "emptied");
  expect(repository.guard("ci", "--base", "origin/main").text).toContain("deletes 10 and empties 190 of 200 files");
  repository.hookServer();
  expect(repository.push("main").text).toContain("deletes 10 and empties 190 of 200 files");
  const declare = (count: number): number | null => {
    const message = ["-m", "emptied", "-m", `Mass-Delete: ${count}`];
    repository.must(repository.folder, "git", "commit", "-q", "--no-verify", "--amend", ...message);
    return repository.push("main").status;
  };
  expect([10, 190, 200].map(declare)).toEqual([1, 1, 0]);
});

test("git-guard lets files through that are new and empty, that were empty, and that are only shorter", () => {
  using repository = new HookedRepository();
  repository.hookClient("pre-commit");
  repository.write(200);
  for (let index = 0; index < 50; index += 1) repository.file(`keep/${index}/.gitkeep`, "");
  expect(repository.commit("first").status).toBe(0);
  for (let index = 0; index < 50; index += 1) repository.file(`keep/${index}/.gitkeep`, index % 2 === 0 ? "\n" : "");
  for (let index = 0; index < 100; index += 1) repository.file(`more/${index}/.gitkeep`, "");
  for (let index = 0; index < 200; index += 1)
    repository.file(`apps/${Math.floor(index / 10)}/file-${index}.yaml`, "{}\n");
  expect(repository.commit("short")).toEqual({ status: 0, text: "" });
  for (let index = 0; index < 20; index += 1) repository.file(`apps/${Math.floor(index / 10)}/file-${index}.yaml`, "");
  expect(repository.commit("twenty").status).toBe(0);
});

test("git-guard ci refuses a shallow clone that lacks what must be judged, and judges one that has it", () => {
  using repository = begun();
  repository.remove(195);
  repository.commit("accident");
  repository.must(repository.folder, "git", "revert", "--no-edit", "HEAD");
  repository.must(repository.folder, "git", "push", "-q", "origin", "HEAD:refs/heads/fix");
  const cloned = (depth: string): string => {
    const folder = join(repository.root, `clone-${depth}`);
    const from = ["--no-single-branch", "-b", "fix", `file://${repository.bare}`, folder];
    repository.must(repository.root, "git", "clone", "-q", `--depth=${depth}`, ...from);
    return folder;
  };
  for (const [depth, base] of [
    ["1", "origin/main"],
    ["1", "0".repeat(40)],
    ["2", "origin/main"],
  ] as const) {
    const folder = join(repository.root, `clone-${depth}`);
    const shallow = base === "origin/main" ? cloned(depth) : folder;
    const ran = repository.guard("ci", "--base", base, "-C", shallow);
    expect({ depth, base, status: ran.status }).toEqual({ depth, base, status: 3 });
    expect(ran.text).toContain("Cannot judge in a shallow clone: ");
    expect(ran.text).toContain("try: git fetch --unshallow origin");
    if (depth === "1" && base === "origin/main")
      expect(ran.text).toContain("it does not reach back to where the branch left origin/main");
    repository.must(shallow, "git", "fetch", "-q", `--depth=${depth}`, "origin");
  }
  const deep = cloned("3");
  expect(repository.guard("ci", "--base", "origin/main", "-C", deep).text).toContain("deletes 195 of 200 files");
  const repaired = join(repository.root, "clone-1");
  repository.must(repaired, "git", "fetch", "-q", "--unshallow", "origin");
  expect(repository.guard("ci", "--base", "origin/main", "-C", repaired).status).toBe(1);
});

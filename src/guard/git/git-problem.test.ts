import { expect, test } from "bun:test";
import { gitReason, problemOf } from "./git-problem.ts";

const ended = { exitCode: 128, stdout: Buffer.alloc(0) };

test("gitReason keeps the reason on one line, without frames, control characters and passwords", () => {
  const ssh = `@@@@@@@@@@@\r\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@@@\nHost key verification failed.\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n`;
  expect(gitReason(ssh)).toBe(
    "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @; Host key verification failed.; Could not read from remote repository.",
  );
  expect(gitReason("remote: \u001b[31mno\u001b[0m\nfatal: unable to access 'https://me:pw@git.example/x/': 500")).toBe(
    "no; unable to access 'https://git.example/x/': 500",
  );
  expect(gitReason(Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n"))).toStartWith("line 14; ");
  expect(gitReason("x".repeat(10_000))).toHaveLength(400);
  expect(gitReason(`${"x".repeat(380)} https://me:half-of-a-password@git.example/`)).not.toContain("half");
});

test("problemOf tells a server that says no from one that does not answer", () => {
  const kinds = [
    "Host key verification failed.",
    "git@git.example: Permission denied (publickey).",
    "fatal: Authentication failed for 'https://git.example/x/'",
    "fatal: unable to access 'https://git.example/x/': The requested URL returned error: 403",
    "fatal: unable to access 'https://git.example/x/': Could not resolve host: git.example",
    "fatal: unable to access 'https://git.example/x/': The requested URL returned error: 503",
    "ssh: connect to host git.example port 22: Connection refused",
  ].map((stderr) => problemOf({ ...ended, stderr }, "read").kind);
  expect(kinds).toEqual([
    ...Array.from({ length: 4 }, () => "refused" as const),
    ...Array.from({ length: 3 }, () => "unreachable" as const),
  ]);
  expect(problemOf({ ...ended, stderr: "" }, "read").message).toBe("Cannot read: git ended with 128");
});

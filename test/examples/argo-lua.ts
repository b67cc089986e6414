import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const settings = join(import.meta.dir, "../../deploy/gitops/argocd/argocd-cm.yaml");
const key = "resource.customizations.health.levee.dev_NetworkReadiness";
const script = (parse(readFileSync(settings, "utf8")) as { data: Record<string, string> }).data[key] ?? "";

/**
 * The health of a NetworkReadiness by the check that Argo CD runs, in Debian's Lua 5.1. Argo CD's engine has no string
 * library there, and `os` only by require: so the check must run with both gone.
 */
export function argoHealth(object: unknown): { readonly status: string; readonly message: string } {
  const program = `
    obj = ${lua(object)}
    local format, write = string.format, io.write
    string, os, io, math = nil, nil, nil, nil
    local result = (function() ${script} end)()
    write(format("%s\\n%s", result.status, result.message))`;
  const { stdout, stderr, status } = spawnSync("lua5.1", ["-"], { input: program, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const [word = "", ...message] = stdout.split("\n");
  return { status: word, message: message.join("\n") };
}

/** JSON as a Lua expression. */
function lua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(lua).join(",")}}`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([name, member]) => `[${JSON.stringify(name)}]=${lua(member)}`)
      .join(",")}}`;
  return value === null ? "nil" : JSON.stringify(value);
}

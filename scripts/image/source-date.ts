import { spawnSync } from "node:child_process";

/** The time that goes into an image: SOURCE_DATE_EPOCH, or else the date of the last commit. */
export function sourceDate(root: string, env: Readonly<Record<string, string | undefined>>): Date {
  const given = env["SOURCE_DATE_EPOCH"];
  if (given !== undefined && given !== "") return epochDate(given, "SOURCE_DATE_EPOCH");
  const { status, stdout, stderr, error } = spawnSync("git", ["-C", root, "log", "-1", "--format=%ct"], {
    encoding: "utf8",
  });
  if (status === 0) return epochDate(stdout.trim(), "the date of the last commit");
  // git is missing, this is no checkout, or it belongs to somebody else: git's own words say which.
  const [why = ""] = (error?.message ?? stderr).split("\n", 1);
  throw new Error(
    `Cannot date the image by the last commit: ${why}; or set SOURCE_DATE_EPOCH to the seconds since 1970`,
  );
}

function epochDate(seconds: string, what: string): Date {
  if (!/^\d{1,11}$/u.test(seconds))
    throw new Error(`Cannot date the image as ${what} must be seconds since 1970: current value is ${seconds}`);
  return new Date(Number(seconds) * 1_000);
}

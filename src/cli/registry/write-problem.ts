import { errnoOf } from "../../base/errors.ts";

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  EEXIST: "it is a file, or lies below one",
  ENOTDIR: "it is a file, or lies below one",
  ENOENT: "no folder can be made there",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
};

/** Why a person's folder could not be written, in words. Node's text of a full disk lacks even the path. */
export function writeProblem(thrown: unknown): string {
  return reasons[errnoOf(thrown) ?? ""] ?? (thrown instanceof Error ? thrown.message : String(thrown));
}

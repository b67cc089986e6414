import { createHash } from "node:crypto";
import type { FieldEdit } from "../decision/step.ts";
import type { ApplicationFacts, GitFileFacts, GitSourceProblem, World } from "../facts/world.ts";
import { blobSha } from "../git/blob-sha.ts";
import { isInFolder, sourceFolder } from "../git/source-folder.ts";
import { editMemoryLimit, type EditedFile } from "../git/yaml-field.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { MemoryChange } from "./memory-change.ts";
import type { StepDraft } from "./step-draft.ts";

/** Git may be unreachable as long as the cluster's network is down. */
const checkSeconds = 3_600;

/** The step that writes the new limit into the DaemonSet's file, or a note on why a person has to. */
export function lockStep(
  change: MemoryChange,
  application: ApplicationFacts,
  { gitFiles, gitProblems = [] }: World,
): StepDraft | { readonly note: string } {
  const label = `${change.daemonSet.namespace}/${change.daemonSet.name}`;
  const byHand = `write ${change.newLimit} into git by hand before the hold ends`;
  if (!application.source.isPlain)
    return {
      note: `${application.name} is not a folder of plain manifests, so the guard cannot tell which file to change: ${byHand}`,
    };
  const files = gitFiles.filter((file) => isOf(file, application));
  if (files.length === 0)
    return { note: `Git could not be read for ${application.name}: ${whyNot(application, gitProblems)}; ${byHand}` };
  const edits = files.flatMap((file) => editOf(file, change));
  const [only] = edits;
  if (only === undefined || edits.length > 1)
    return { note: `${edits.length} files in git hold the limit of ${label} instead of one: ${byHand}` };
  return draft(only, change);
}

interface FileEdit {
  readonly file: GitFileFacts;
  readonly edited: Pick<EditedFile, "bytes" | "document">;
  readonly edits: readonly FieldEdit[];
}

/** Nothing where a value that the plan changes is not in the file: half of a change would be reverted by the other half. */
function editOf(file: GitFileFacts, change: MemoryChange): readonly FileEdit[] {
  const { daemonSet, container, newLimit, newRequest } = change;
  const { namespace, name } = daemonSet;
  const place = { kind: "DaemonSet", namespace, name, container: container.name };
  const limit = editMemoryLimit(file.bytes, { ...place, to: newLimit });
  if ("problem" in limit) return [];
  const edits = [{ pointer: limit.pointer, from: limit.from, to: newLimit }];
  if (newRequest === container.memoryRequest) return [{ file, edited: limit, edits }];
  const request = editMemoryLimit(limit.bytes, { ...place, list: "requests", to: newRequest });
  if ("problem" in request) return [];
  return [
    { file, edited: request, edits: [...edits, { pointer: request.pointer, from: request.from, to: newRequest }] },
  ];
}

function isOf({ repository, revision, path }: GitFileFacts, { source }: ApplicationFacts): boolean {
  const folder = sourceFolder(source.path);
  if (repository !== source.repository || folder === undefined) return false;
  const isOfRevision = revision === undefined || revision === source.revision;
  return isOfRevision && isInFolder(path, folder, source.isRecursive === true);
}

function whyNot({ source }: ApplicationFacts, problems: readonly GitSourceProblem[]): string {
  const { repository, revision, path } = source;
  const found = problems.find((one) => one.repository === repository && one.revision === revision && one.path === path);
  return found?.problem ?? "it has not been read yet, or no repository is configured (--git-repository)";
}

function draft({ file, edited, edits }: FileEdit, { container, newLimit, newRequest }: MemoryChange): StepDraft {
  const { repository, ref, path } = file;
  const branchOf = (decision: string): string => (file.isDirect === true ? ref : `levee/${decision}`);
  return ({ id, decision, namespace }) => ({
    id,
    action: "LockToGit",
    title: `Write ${newLimit}${edits.length > 1 ? ` and the request ${newRequest}` : ""} for ${container.name} into ${path} on the branch ${branchOf(decision)}`,
    kubectl: [
      kubectl("-n", namespace, "get", "decision", decision, "-o", `jsonpath={.spec.steps[${id - 1}].lockToGit}`),
    ],
    preconditions: [`${path} has the content ${file.blobSha} on ${ref}`],
    check: {
      what: "The commit changes this one path and nothing else, read back from its tree",
      deadlineSeconds: checkSeconds,
    },
    lockToGit: {
      repository,
      baseRef: ref,
      branch: branchOf(decision),
      path,
      oldBlobSha: file.blobSha,
      newBlobSha: blobSha(edited.bytes, file.blobSha.length === 64 ? 64 : 40),
      newBytesSha256: createHash("sha256").update(edited.bytes).digest("hex"),
      document: edited.document,
      edits,
    },
  });
}

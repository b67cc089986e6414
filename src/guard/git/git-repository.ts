import { LeveeError } from "../../base/errors.ts";
import { parseKeyedSetting } from "../../base/keyed-setting.ts";
import { parseAddress, isSameRepository, withoutUser, type RepositoryScheme } from "./repository-name.ts";

/** A repository that the guard may read and write, from the setting `--git-repository`. */
export interface GitRepository {
  /** The only address that the guard contacts. */
  readonly url: string;
  readonly scheme: RepositoryScheme;
  /** Other addresses that Applications use for it. */
  readonly aliases: readonly string[];
  /** Branches that the guard may read and build on; all when empty. */
  readonly branches: readonly string[];
  /** Folders and files that the guard may read and write; all when empty. */
  readonly paths: readonly string[];
  /** A mounted Secret with `username` and `password`, or with `ssh-privatekey` and `known_hosts`. */
  readonly credentials: string | undefined;
  /** Commits go to the branch that was read, not to a branch of their own. */
  readonly isDirect: boolean;
}

/** The folder goes into ssh's command line, so only characters that neither the shell nor ssh interprets. */
const plainFolder = /^\/[\w./-]+$/;
const plainPath = /^[\w.+@-]+(?:\/[\w.+@-]+)*$/;
const branchName = /^[A-Za-z0-9_][\w.+-]*(?:\/[\w+-][\w.+-]*)*$/;
const form = {
  keys: ["branch", "path", "alias", "credentials", "push"],
  repeated: ["branch", "path", "alias"],
} as const;

/** `URL[,branch=NAME][,path=FOLDER][,alias=URL][,credentials=FOLDER][,push=direct]`; branch, path and alias repeat. */
export function parseGitRepository(text: string): GitRepository {
  const [url = ""] = text.split(",");
  const address = parseAddress(url);
  if (address === undefined) throw wrong(text, `"${hidden(url)}" is not an address with https, http, ssh or file`);
  if (mayHoldSecret(url))
    throw wrong(text, "the address must not contain a password, a token or an https user: use credentials=");
  const values = valuesOf(text);
  const credentials = values.get("credentials")?.[0];
  const isDirect = values.has("push");
  const repository: GitRepository = {
    url,
    scheme: address.scheme,
    aliases: values.get("alias") ?? [],
    branches: values.get("branch") ?? [],
    paths: (values.get("path") ?? []).map((path) => path.replace(/\/+$/, "")),
    credentials,
    isDirect,
  };
  const problem = problemOf(repository, values.get("push")?.[0]);
  if (problem !== undefined) throw wrong(text, problem);
  return repository;
}

/** Some people write a token in place of the https user. */
function mayHoldSecret(url: string): boolean {
  return /^[a-z]+:\/\/[^/@]*:[^/@]*@/i.test(url) || withoutUser(url) !== url;
}

/** The configured repository that an Application names. */
export function findRepository(repositories: readonly GitRepository[], name: string): GitRepository | undefined {
  return repositories.find(({ url, aliases }) => [url, ...aliases].some((known) => isSameRepository(known, name)));
}

export function isBranchAllowed({ branches }: GitRepository, branch: string): boolean {
  return isBranchName(branch) && (branches.length === 0 || branches.includes(branch));
}

export function isPathAllowed({ paths }: GitRepository, path: string): boolean {
  return paths.length === 0 || paths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`));
}

/** Narrower than git's rule: excludes options, patterns and other ways to name a commit. */
export function isBranchName(name: string): boolean {
  return name.length <= 200 && branchName.test(name) && !/\.\.|\.lock(?:\/|$)|\.(?:\/|$)/.test(name) && name !== "HEAD";
}

function valuesOf(text: string): ReadonlyMap<(typeof form.keys)[number], readonly string[]> {
  const setting = parseKeyedSetting(text, form);
  if ("problem" in setting) throw wrong(text, setting.problem);
  return setting.values;
}

function problemOf(repository: GitRepository, push: string | undefined): string | undefined {
  const { aliases, branches, paths } = repository;
  const alias = aliases.find((name) => parseAddress(name) === undefined);
  if (alias !== undefined) return `the alias "${hidden(alias)}" is not an address`;
  const branch = branches.find((name) => !isBranchName(name));
  if (branch !== undefined) return `"${branch}" is not a branch name`;
  const path = paths.find((one) => !plainPath.test(one) || one.split("/").includes(".."));
  if (path !== undefined) return `"${path}" is not a path inside a repository`;
  return credentialsProblem(repository) ?? pushProblem(repository, push);
}

function credentialsProblem({ credentials, scheme }: GitRepository): string | undefined {
  if (credentials === undefined) return undefined;
  if (!plainFolder.test(credentials)) return `"${credentials}" is not an absolute path of plain letters`;
  return scheme === "http" || scheme === "file" ? `credentials must not be sent over ${scheme}` : undefined;
}

function pushProblem({ branches, paths }: GitRepository, push: string | undefined): string | undefined {
  if (push === undefined) return undefined;
  if (push !== "direct") return `push=${push} is unknown: use push=direct or leave it out`;
  if (paths.length > 0 && branches.length > 0) return undefined;
  return "push=direct writes to a branch that Argo CD follows, so branch= and path= are required";
}

function wrong(text: string, why: string): LeveeError {
  return new LeveeError("setting-invalid", `Cannot use --git-repository ${hidden(text)}: ${why}`);
}

function hidden(text: string): string {
  return text.replace(/(https?:\/\/)[^/,\s]*@/gi, "$1…@").replace(/(:\/\/[^/@:]*):[^/@]*@/g, "$1:…@");
}

import { LeveeError } from "../../base/errors.ts";
import { parseKeyedSetting } from "../../base/keyed-setting.ts";
import { parseAddress, isSameRepository, withoutUser, type RepositoryScheme } from "./repository-name.ts";

/** A repository that the guard may read and write, as the setting `--git-repository` says. */
export interface GitRepository {
  /** The one address that is contacted. */
  readonly url: string;
  readonly scheme: RepositoryScheme;
  /** Other addresses by which Applications may name it. */
  readonly aliases: readonly string[];
  /** Branches that may be read and built upon; every one when there are none. */
  readonly branches: readonly string[];
  /** Folders and files below which may be read and written; all when there are none. */
  readonly paths: readonly string[];
  /** A folder with `username` and `password`, or with `ssh-privatekey` and `known_hosts`, as Secrets are mounted. */
  readonly credentials: string | undefined;
  /** The commit goes to the branch that was read, not to one of its own. */
  readonly isDirect: boolean;
}

/** It is put into a command line for ssh: nothing that a shell or ssh reads in another way. */
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
  if (address === undefined) throw wrong(text, `"${hidden(url)}" is no address of https, http, ssh or file`);
  if (mayHoldSecret(url))
    throw wrong(
      text,
      "a password or token does not belong into the address, nor a user of https: credentials= has them",
    );
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

/** Also in the place of a user of https, where some write a token. */
function mayHoldSecret(url: string): boolean {
  return /^[a-z]+:\/\/[^/@]*:[^/@]*@/i.test(url) || withoutUser(url) !== url;
}

/** The repository of the settings that an Application names, if there is one. */
export function findRepository(repositories: readonly GitRepository[], name: string): GitRepository | undefined {
  return repositories.find(({ url, aliases }) => [url, ...aliases].some((known) => isSameRepository(known, name)));
}

export function isBranchAllowed({ branches }: GitRepository, branch: string): boolean {
  return isBranchName(branch) && (branches.length === 0 || branches.includes(branch));
}

export function isPathAllowed({ paths }: GitRepository, path: string): boolean {
  return paths.length === 0 || paths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`));
}

/** Narrower than git's own rule: nothing that is an option, a pattern, or another way to name a commit. */
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
  if (alias !== undefined) return `the alias "${hidden(alias)}" is no address`;
  const branch = branches.find((name) => !isBranchName(name));
  if (branch !== undefined) return `"${branch}" is no name of a branch`;
  const path = paths.find((one) => !plainPath.test(one) || one.split("/").includes(".."));
  if (path !== undefined) return `"${path}" is no path inside of a repository`;
  return credentialsProblem(repository) ?? pushProblem(repository, push);
}

function credentialsProblem({ credentials, scheme }: GitRepository): string | undefined {
  if (credentials === undefined) return undefined;
  if (!plainFolder.test(credentials)) return `"${credentials}" is no absolute path of plain letters`;
  return scheme === "http" || scheme === "file" ? `credentials do not go over ${scheme}` : undefined;
}

function pushProblem({ branches, paths }: GitRepository, push: string | undefined): string | undefined {
  if (push === undefined) return undefined;
  if (push !== "direct") return `push=${push} is not known: push=direct, or leave it out`;
  if (paths.length > 0 && branches.length > 0) return undefined;
  return "push=direct writes to a branch that is followed, so branch= and path= must say which and where";
}

function wrong(text: string, why: string): LeveeError {
  return new LeveeError("setting-invalid", `Cannot use --git-repository ${hidden(text)}: ${why}`);
}

function hidden(text: string): string {
  return text.replace(/(https?:\/\/)[^/,\s]*@/gi, "$1…@").replace(/(:\/\/[^/@:]*):[^/@]*@/g, "$1:…@");
}

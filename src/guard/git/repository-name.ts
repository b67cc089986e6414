/** What a repository's address says, in the parts by which two addresses are compared. */
interface RepositoryAddress {
  readonly scheme: RepositoryScheme;
  readonly host: string;
  readonly port: string;
  /** From the root of the server, without slashes at its ends and without `.git`. */
  readonly path: string;
}

export type RepositoryScheme = "https" | "http" | "ssh" | "file";

const ports: Readonly<Record<RepositoryScheme, string>> = { https: "443", http: "80", ssh: "22", file: "" };
/** Of one path as servers have them. What would have to be decoded or resolved first is no address that we compare. */
const plainPath = /^(?:[\w.~+@-]+\/)*[\w.~+@-]+$/;
const hostName = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$|^\[[0-9a-f:]+\]$/;
const full = /^([a-z]+):\/\/(?:([^@/]*)@)?([^/@:]*|\[[^\]/@]*\])(?::(\d{1,5}))?\/(.*)$/i;
/** As ssh is often written: user@host:path. */
const short = /^(?:[\w.-]+@)([\w.-]+):(?!\/\/)(.+)$/;

/** Undefined for what is no address of a kind that we use. Names of users and passwords are no part of it. */
export function parseAddress(text: string): RepositoryAddress | undefined {
  const parts = full.exec(text);
  if (parts !== null) return addressOf((parts[1] ?? "").toLowerCase(), parts[3] ?? "", parts[4] ?? "", parts[5] ?? "");
  const ssh = short.exec(text);
  return ssh === null ? undefined : addressOf("ssh", ssh[1] ?? "", "", ssh[2] ?? "");
}

/**
 * Whether two addresses name one repository: same scheme, host, port and path. The repository's name in an Application is
 * text of whoever may write Applications; it is only ever compared, and what is contacted is the address in our settings.
 */
export function isSameRepository(left: string, right: string): boolean {
  const [one, other] = [parseAddress(left), parseAddress(right)];
  if (one === undefined || other === undefined) return false;
  return one.scheme === other.scheme && one.host === other.host && one.port === other.port && one.path === other.path;
}

/**
 * The same address without a user and a password, over http and https: some write a token there, and what an Application
 * says of its repository is shown in Decisions, Events and logs. Over ssh the user is part of the address.
 */
export function withoutUser(address: string): string {
  return address.replace(/^(https?:\/\/)[^/\s]*@/i, "$1");
}

function addressOf(scheme: string, host: string, port: string, path: string): RepositoryAddress | undefined {
  if (!isScheme(scheme)) return undefined;
  const server = host.toLowerCase();
  const isLocal = scheme === "file";
  if (isLocal ? server !== "" || port !== "" : !hostName.test(server)) return undefined;
  const plain = path.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "");
  if (!plainPath.test(plain) || plain.split("/").some((part) => part === ".." || part === ".")) return undefined;
  return { scheme, host: server, port: port === "" ? ports[scheme] : String(Number(port)), path: plain };
}

function isScheme(scheme: string): scheme is RepositoryScheme {
  return Object.hasOwn(ports, scheme);
}

/** The parts of a repository's address that are compared. */
interface RepositoryAddress {
  readonly scheme: RepositoryScheme;
  readonly host: string;
  readonly port: string;
  /** Without slashes at its ends and without `.git`. */
  readonly path: string;
}

export type RepositoryScheme = "https" | "http" | "ssh" | "file";

const ports: Readonly<Record<RepositoryScheme, string>> = { https: "443", http: "80", ssh: "22", file: "" };
/** A plain path; one that would need decoding or resolving is never compared. */
const plainPath = /^(?:[\w.~+@-]+\/)*[\w.~+@-]+$/;
const hostName = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$|^\[[0-9a-f:]+\]$/;
const full = /^([a-z]+):\/\/(?:([^@/]*)@)?([^/@:]*|\[[^\]/@]*\])(?::(\d{1,5}))?\/(.*)$/i;
/** The short form of ssh: user@host:path. */
const short = /^(?:[\w.-]+@)([\w.-]+):(?!\/\/)(.+)$/;

/** Undefined for an unknown kind of address. Users and passwords are not part of the result. */
export function parseAddress(text: string): RepositoryAddress | undefined {
  const parts = full.exec(text);
  if (parts !== null) return addressOf((parts[1] ?? "").toLowerCase(), parts[3] ?? "", parts[4] ?? "", parts[5] ?? "");
  const ssh = short.exec(text);
  return ssh === null ? undefined : addressOf("ssh", ssh[1] ?? "", "", ssh[2] ?? "");
}

/**
 * Whether two addresses have the same scheme, host, port and path. The address in an Application comes from anyone who may
 * write Applications, so it is only compared; the guard contacts the address of its settings.
 */
export function isSameRepository(left: string, right: string): boolean {
  const [one, other] = [parseAddress(left), parseAddress(right)];
  if (one === undefined || other === undefined) return false;
  return one.scheme === other.scheme && one.host === other.host && one.port === other.port && one.path === other.path;
}

/**
 * Removes user and password from an http or https address: some people put a token there, and Decisions, Events and logs
 * show the address. With ssh the user is part of the address.
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

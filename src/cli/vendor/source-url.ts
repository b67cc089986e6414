import { CommandFailure } from "../failure.ts";

/**
 * A URL from which a file may come: TLS says who sent it. Plain HTTP is for this machine only, as with a forwarded port.
 * A name and password would end up in the lock file, in git.
 */
export function sourceUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw badUrl(text, "it is no URL", "give the whole address, beginning with https://");
  if (url.username !== "" || url.password !== "")
    throw badUrl(withoutPassword(url), "it has a user name or a password", "give the address of a public file");
  if (url.hash !== "") throw badUrl(text, "it has a # part, as pages have", "give the address of the file itself");
  if (url.protocol === "https:") return url;
  if (url.protocol === "http:" && isLoopback(url)) return url;
  if (url.protocol === "file:") throw badUrl(text, "it is not https://", fileRemedy);
  const why = url.protocol === "http:" ? "without TLS anybody on the way can change the file" : "it is not https://";
  throw badUrl(text, why, "give an https:// address");
}

const fileRemedy =
  "give the https:// address that the file was published at, and the file itself with --from FILE --sha256 HEX";

/** Where a redirect leads. It may lead to another host, but never away from TLS, and never from outside to this machine. */
export function redirectedUrl(from: URL, location: string): URL {
  const next = URL.parse(location, from.href);
  const why = next === null ? "to something that is no URL" : redirectProblem(from, next);
  if (next !== null && why === undefined) return sourceUrl(next.href);
  throw badUrl(from.href, `it was redirected ${why}`, "give the address of the file itself");
}

function redirectProblem(from: URL, next: URL): string | undefined {
  if (isLoopback(next) && !isLoopback(from)) return "to this machine itself";
  if (from.protocol === "https:" && next.protocol !== "https:")
    return `away from TLS, to ${next.protocol}//${next.host}`;
  return undefined;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(hostname);
}

function withoutPassword(url: URL): string {
  return `${url.protocol}//…@${url.host}${url.pathname}`;
}

function badUrl(shown: string, why: string, remedy: string): CommandFailure {
  return new CommandFailure("vendor-url", `Cannot fetch ${shown.slice(0, 300)}: ${why}`, { remedy });
}

import { readRegularFile } from "../../base/regular-file.ts";
import type { KubeTls } from "../../kube/access/access.ts";

/** A bundle of authorities has some dozen KiB. */
const caBytesMax = 1_048_576;
/** Receivers refuse longer heads. */
const headersBytesMax = 8_192;

/** Undefined where the site set none. */
export interface CollectorFiles {
  readonly headers: string | undefined;
  readonly ca: string | undefined;
}

interface Read {
  /** Header fields, each with its line end. */
  readonly fields: string;
  /** The same object while the authority does not change: another object means new connections. */
  readonly tls: KubeTls;
}

/** How the collector knows us, and how we know it. Both files are read for each batch, because tokens and authorities rotate. */
export class CollectorAccess {
  readonly #files: CollectorFiles;
  #tls: KubeTls = {};

  constructor(files: CollectorFiles) {
    this.#files = files;
  }

  /** Rejects when a file cannot be used. The error never quotes a value, as that is a secret. */
  async read(): Promise<Read> {
    const { headers, ca } = this.#files;
    const fields = headers === undefined ? "" : fieldsIn(await textOf(headers, "tracesHeadersFile", headersBytesMax));
    if (ca !== undefined) {
      const authority = await textOf(ca, "tracesCaFile", caBytesMax);
      if (!authority.includes("-----BEGIN CERTIFICATE-----"))
        throw new Error("Cannot use tracesCaFile as it has no certificate in PEM");
      if (this.#tls.ca !== authority) this.#tls = { ca: authority };
    }
    return { fields, tls: this.#tls };
  }
}

async function textOf(path: string, setting: string, bytesMax: number): Promise<string> {
  try {
    // The files of a Secret are links into a folder that is replaced as a whole.
    return (await readRegularFile(path, { bytesMax, followLinks: true })).toString("utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read ${setting}: ${why}`, { cause });
  }
}

/** A line break in a value could begin another request, and other characters need an encoding that nobody agreed on. */
const fieldPattern = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)[ \t]*$/u;
/** They say how the request is to be read, and we write them. */
const ours: ReadonlySet<string> = new Set([
  "accept",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

function fieldsIn(text: string): string {
  return text
    .split(/\r?\n/u)
    .map((line, at) => (line.trim() === "" || line.startsWith("#") ? "" : fieldOf(line, at + 1)))
    .join("");
}

function fieldOf(line: string, number: number): string {
  const [, name, value] = fieldPattern.exec(line) ?? [];
  if (name === undefined || value === undefined)
    throw new Error(`Cannot use tracesHeadersFile as its line ${number} must be of the form Name: value, in ASCII`);
  if (ours.has(name.toLowerCase()))
    throw new Error(`Cannot use tracesHeadersFile as its line ${number} sets ${name}, which Levee sets itself`);
  return `${name}: ${value}\r\n`;
}

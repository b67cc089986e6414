import { X509Certificate } from "node:crypto";
import type { KubeCredentials } from "../../kube/access/access.ts";
import { readFilledFile } from "../../kube/access/fresh-file.ts";
import type { ServerFiles } from "../facts/guard-settings.ts";

/** Reads both files each time, because they rotate. The error says which file is missing or unusable, and no request is sent. */
export async function credentialsFrom({ token, ca, serverName }: ServerFiles): Promise<KubeCredentials> {
  return {
    token: token === undefined ? undefined : (await read("token", token)).trim(),
    tls: {
      ...(ca === undefined ? {} : { ca: certificatesOf(await read("ca", ca), ca) }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    },
  };
}

/** Does not cache: a token that was removed must no longer be used. */
async function read(key: string, path: string): Promise<string> {
  try {
    return await readFilledFile(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`it was not asked, because ${key}=${path} cannot be read (is it mounted?): ${why}`, { cause });
  }
}

/** Bun ignores unreadable certificates after the first one and then fails with "Invalid CA". */
function certificatesOf(text: string, path: string): string {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/gu) ?? [];
  if (blocks.length === 0) throw new Error(`it was not asked, because ca=${path} has no PEM certificate`);
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw new Error(`it was not asked, because certificate ${index + 1} of ca=${path} cannot be read`, { cause });
    }
  }
  return text;
}

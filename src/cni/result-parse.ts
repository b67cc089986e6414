import { type CniVersion, compareVersions } from "./cni-version.ts";
import { parseCidr, parseIp } from "./ip.ts";
import type { JsonReader } from "./json-reader.ts";
import { present } from "./present.ts";
import type { CniResult, ResultDns, ResultInterface, ResultIp, ResultRoute } from "./result-model.ts";

/** Reads a result of any version into the one model. */
export function readResult(reader: JsonReader, version: CniVersion): CniResult {
  return compareVersions(version, "0.3.0") < 0 ? readResult020(reader, version) : readResult030(reader, version);
}

/** 0.1.0 and 0.2.0: at most one address of each family, routes beneath it, no interfaces. */
function readResult020(reader: JsonReader, cniVersion: CniVersion): CniResult {
  const families = ["ip4", "ip6"].flatMap((key) => reader.object(key) ?? []);
  return {
    cniVersion,
    interfaces: [],
    ips: families.map((family) => readIp(family, "ip")),
    routes: families.flatMap((family) => family.objects("routes").map(readRoute)),
    dns: readDns(reader.object("dns")),
  };
}

/** 0.3.0 to 1.1.0 have one shape; 1.0.0 dropped `ips[].version` and 1.1.0 added members. */
function readResult030(reader: JsonReader, cniVersion: CniVersion): CniResult {
  return {
    cniVersion,
    interfaces: reader.objects("interfaces").map((link) => readInterface(link, cniVersion)),
    // The address shows the family. `version` is ignored because some plugins print a wrong one.
    ips: reader.objects("ips").map((ip) => readIp(ip, "address")),
    routes: reader.objects("routes").map(readRoute),
    dns: readDns(reader.object("dns")),
  };
}

function readInterface(reader: JsonReader, cniVersion: CniVersion): ResultInterface {
  const old = {
    name: reader.string("name") ?? "",
    ...present("mac", nonEmpty(reader.string("mac"))),
    ...present("sandbox", nonEmpty(reader.string("sandbox"))),
  };
  // libcni's older type has no other members, and ignores what a plugin writes there.
  if (compareVersions(cniVersion, "1.0.0") < 0) return old;
  return {
    ...old,
    ...present("mtu", nonZero(reader.integer("mtu"))),
    ...present("socketPath", nonEmpty(reader.string("socketPath"))),
    ...present("pciID", nonEmpty(reader.string("pciID"))),
  };
}

function readIp(reader: JsonReader, key: "ip" | "address"): ResultIp {
  const address = reader.parsed(key, "an address with prefix", parseCidr);
  if (address === undefined) throw reader.missing(key, "an address with prefix");
  return {
    address: address.text,
    ...present("gateway", reader.parsed("gateway", "an IP address", parseIp)?.text),
    ...present("interface", reader.integer("interface")),
  };
}

function readRoute(reader: JsonReader): ResultRoute {
  const dst = reader.parsed("dst", "a network with prefix", parseCidr);
  if (dst === undefined) throw reader.missing("dst", "a network with prefix");
  return {
    dst: dst.text,
    ...present("gw", reader.parsed("gw", "an IP address", parseIp)?.text),
    ...present("mtu", nonZero(reader.integer("mtu"))),
    ...present("advmss", nonZero(reader.integer("advmss"))),
    ...present("priority", nonZero(reader.integer("priority"))),
    // Zero is a real value for these two: the unspecified table and the universe scope.
    ...present("table", reader.integer("table")),
    ...present("scope", reader.integer("scope")),
  };
}

function readDns(reader: JsonReader | undefined): ResultDns {
  if (reader === undefined) return {};
  return {
    ...present("nameservers", nonEmptyList(reader.strings("nameservers"))),
    ...present("domain", nonEmpty(reader.string("domain"))),
    ...present("search", nonEmptyList(reader.strings("search"))),
    ...present("options", nonEmptyList(reader.strings("options"))),
  };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function nonZero(value: number | undefined): number | undefined {
  return value === 0 ? undefined : value;
}

function nonEmptyList(list: string[] | undefined): string[] | undefined {
  return list?.length === 0 ? undefined : list;
}

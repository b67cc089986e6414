import { join } from "node:path/posix";
import { openDebianPackage, type DebianPackage } from "../debian/debian-package.ts";
import type { Pin } from "../debian/pins.ts";
import { FileTree } from "./file-tree.ts";

/** The loader and the libraries that a program may load by name; no conversion tables, no tools. */
const libcFiles =
  /^(?:lib64\/ld-linux-x86-64\.so\.2|lib\/ld-linux-aarch64\.so\.1|lib\/[^/]+\/(?:ld-linux-[^/]+|lib(?:c|dl|m|nss_dns|nss_files|pthread|resolv|rt|util)\.so\.\d+))$/u;
/** Time zones, without the copies with and without leap seconds. */
const zones = /^usr\/share\/zoneinfo\/(?!(?:posix|right)(?:\/|$)).+/u;
/** Scanners read which distribution this is. */
const distribution = /^(?:etc\/(?:debian_version|issue|os-release)|usr\/lib\/os-release)$/u;
const authorities = /^usr\/share\/ca-certificates\/mozilla\/.+\.crt$/u;
const licence = /^usr\/share\/doc\/[^/]+\/copyright$/u;
const neverInGuard =
  /^(?:usr\/share\/(?:bash-completion|bug|doc|doc-base|gitweb|lintian|locale|man|menu|perl5)(?:\/|$)|etc\/(?:init\.d|bash_completion\.d)(?:\/|$))/u;
/** Programs that need their owner's rights, that start others, or that need Perl or Python. */
const unusedPrograms =
  /(?:\/(?:ssh-agent|ssh-keysign|ssh-argv0|ssh-pkcs11-helper|ssh-sk-helper|scalar|git-shell)|\/git-core\/(?:git-(?:add--interactive|archimport|cvs\w+|instaweb|p4|send-email|svn|filter-branch|gui\w*|citool|daemon|http-backend|imap-send)|mergetools(?:\/.*)?))$/u;

/** What is kept of a package. */
const kept: Readonly<Record<string, (path: string) => boolean>> = {
  "libc6": (path) => libcFiles.test(path),
  "tzdata": (path) => zones.test(path),
  "base-files": (path) => distribution.test(path),
  "ca-certificates": () => false,
  "coreutils": (path) => /^bin\/(?:cat|false|true)$/u.test(path),
};

interface Opened {
  readonly pin: Pin;
  readonly opened: DebianPackage;
}

/** The layer under both images: glibc, certificates, time zones, and the few files that programs expect. */
export function baseLayer(packages: ReadonlyMap<Pin, string>): FileTree {
  const tree = new FileTree();
  tree.addMergedLinks();
  const all = openAll(packages);
  for (const each of all) addPackage(tree, each);
  tree.file("etc/ssl/certs/ca-certificates.crt", bundle(all));
  tree.file("etc/passwd", passwd);
  tree.file("etc/group", group);
  tree.file("etc/nsswitch.conf", nsswitch);
  tree.folder("tmp", 0o1777);
  for (const path of ["dev", "etc", "proc", "root", "run", "sys", "var/tmp"]) tree.folder(path);
  return tree;
}

/** The layer on top of it in the guard's image: git, ssh and a shell. */
export function guardLayer(packages: ReadonlyMap<Pin, string>): FileTree {
  const tree = new FileTree();
  for (const each of openAll(packages)) addPackage(tree, each);
  // Debian makes it when dash is installed.
  tree.symlink("usr/bin/sh", "dash");
  return tree;
}

/** ssh looks up the name of its user, so the guard's user has one. */
const passwd = `root:x:0:0:root:${join("/", "root")}:/usr/sbin/nologin
levee:x:65532:65532::/nonexistent:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`;
const group = "root:x:0:\nlevee:x:65532:\nnogroup:x:65534:\n";
const nsswitch = "passwd: files\ngroup: files\nhosts: files dns\n";

function openAll(packages: ReadonlyMap<Pin, string>): readonly Opened[] {
  return [...packages].map(([pin, file]) => ({ pin, opened: openDebianPackage(file) }));
}

function addPackage(tree: FileTree, { pin, opened }: Opened): void {
  const isKept = kept[pin.name] ?? ((path) => !neverInGuard.test(path) && !unusedPrograms.test(path));
  for (const [path, entry] of opened.files) {
    if (licence.test(path) || (entry.kind !== "folder" && isKept(path))) tree.add(path, entry);
  }
  // Where scanners of images without dpkg look for packages.
  tree.file(`var/lib/dpkg/status.d/${pin.name}`, opened.control);
  tree.file(`var/lib/dpkg/status.d/${pin.name}.md5sums`, opened.md5sums);
}

/** All authorities that Debian trusts, as `update-ca-certificates` would write them. */
function bundle(all: readonly Opened[]): string {
  const texts = all
    .flatMap(({ opened }) => [...opened.files])
    .filter(([path]) => authorities.test(path))
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([, { content }]) => Buffer.from(content).toString("utf8").trimEnd());
  if (texts.length === 0) throw new Error("Cannot assemble the image: ca-certificates has no certificates");
  return `${texts.join("\n")}\n`;
}

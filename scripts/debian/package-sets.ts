import type { SetName } from "./pins.ts";

export interface PackageSet {
  /** The packages that we want. */
  readonly wanted: readonly string[];
  /** Whether the packages that they need come too. */
  readonly withNeeds: boolean;
  /** Packages that are left out although another one needs them, with all that only they need. */
  readonly without: readonly string[];
}

/** What `npm run image -- --bump` pins. */
export const packageSets: Readonly<Record<SetName, PackageSet>> = {
  /** Under both images. Of these packages a few files are kept, see ../image/base-files.ts. */
  "base": { wanted: ["base-files", "ca-certificates", "libc6", "tzdata"], withNeeds: false, without: [] },
  /** On top of it in the guard's image: git, ssh, a shell for git's helpers, and `cat` and `false` for ours. */
  "guard": {
    wanted: ["dash", "git", "openssh-client", "coreutils"],
    withNeeds: true,
    without: [
      // In the base, and so are its needs.
      "libc6",
      // Manual pages, and Perl for git's mail commands, which the guard does not use.
      ...["git-man", "perl", "liberror-perl"],
      // For scripts at installation time, which do not run here.
      ...["adduser", "passwd", "debianutils", "debconf", "dpkg", "gcc-12-base"],
      // Other programs of coreutils.
      ...["libacl1", "libattr1"],
    ],
  },
  /** Compiles the shim, with one compiler for every machine and architecture. */
  "shim-host": {
    wanted: ["cargo", "rustc", "lld-14"],
    withNeeds: true,
    // The machine's own C library runs it, and LLVM's linker needs no other one.
    without: ["libc6", "binutils", "gcc", "libc6-dev", "libc-dev", "gcc-12-base", "debconf", "dpkg"],
  },
  /** What is linked into the shim. */
  "shim-target": { wanted: ["libc6-dev", "libgcc-12-dev", "libstd-rust-dev"], withNeeds: false, without: [] },
};

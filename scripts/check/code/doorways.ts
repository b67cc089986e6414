import { importsOf } from "./imports.ts";
import { fileRule, type Problem } from "../rule.ts";
import { blankCommentsAndStrings, lineAt } from "./source-text.ts";
import { productFiles, type Tree } from "../tree.ts";

/** A dangerous action and the few files that may do it. Tests may do anything. */
interface Doorway {
  readonly what: string;
  readonly allowed: readonly RegExp[];
  readonly remedy: string;
  /** Modules whose import is the danger. `import type` is free: a type opens nothing. */
  readonly modules?: RegExp;
  /** The dangerous calls. Comments and strings do not count. */
  readonly calls?: RegExp;
}

const doorways: readonly Doorway[] = [
  {
    what: "time or randomness",
    calls:
      /\b(?:Date\.now|Math\.random|performance\.now|process\.hrtime|process\.uptime|AbortSignal\.timeout|crypto\.(?:random|getRandom)\w+|Bun\.sleep|Bun\.nanoseconds)\b|(?<![.\w])(?:setTimeout|setInterval|randomBytes|randomUUID|randomInt)\s*\(|\bnew Date\(\s*\)|(?<![.\w])Date\(\s*\)/g,
    modules: /^node:timers(?:\/promises)?$/,
    // The simulated clock has a method of the same name.
    allowed: [/^src\/base\/clock\.ts$/, /^src\/sim\/time\/sim-process\.ts$/],
    remedy: "Take a Clock (src/base/clock.ts) as a parameter, so that tests run this code on a virtual clock",
  },
  {
    what: "the process's environment, arguments or end",
    calls: /\bprocess\.(?:env|argv|exit|abort|execve)\b/g,
    modules: /^node:process$/,
    allowed: [/^src\/(?:.+\/)?main\.ts$/],
    remedy: "Read it in a main.ts and pass it in as a value",
  },
  {
    what: "sockets",
    modules: /^node:(?:net|http|https|http2|tls|dgram)$/,
    calls: /(?<![.\w])(?<!async )fetch\s*\(|\bnew (?:WebSocket|EventSource)\b/g,
    allowed: [
      /^src\/daemon\/socket\/server[^/]*\.ts$/,
      /^src\/daemon\/metrics\//,
      /^src\/kube\//,
      /^src\/guard\/metrics\/metrics-port\.ts$/,
      // The console's page, on loopback.
      /^src\/console\/serve\/console-server\.ts$/,
      /^src\/state\/one-writer\.ts$/,
      /^src\/cli\/node\/ask\.ts$/,
      // The demonstration runs once per machine and shows that its pods reach each other.
      /^src\/cli\/demo\/(?:lock|reach)\.ts$/,
      // The only place that fetches from the internet: a manifest of others, asked for by a person.
      /^src\/cli\/vendor\/download\.ts$/,
    ],
    remedy:
      "Open sockets in daemon/socket/server, daemon/metrics, guard/metrics, kube/, console/serve/console-server, state/one-writer, cli/node/ask or cli/vendor/download, and pass the connection in",
  },
  {
    what: "Node's streams",
    modules: /^node:(?:crypto|net|tls|http|https|http2|readline|stream|tty|util|zlib)(?:\/|$)/,
    calls: /\bprocess\.(?:stdin|stdout|stderr)\b/g,
    allowed: [
      /^src\/cli\//,
      // The guard is its own process, two in a cluster at most. It hashes with node:crypto.
      /^src\/guard\//,
      // Part of a command.
      /^src\/console\//,
      /^src\/main\.ts$/,
      // For a standard error that is a socket, and for nodes with device plugins, which load it late.
      /^src\/daemon\/standard-error\.ts$/,
      /^src\/kube\/kubelet\/grpc-call\.ts$/,
    ],
    remedy: "The daemon carries none of them, which is 4 MiB less (ADR 0025): use Bun's sockets behind their doors",
  },
  {
    what: "child processes",
    modules: /^node:(?:child_process|cluster|worker_threads)$/,
    calls: /\bBun\.spawn(?:Sync)?\b|\bBun\.\$/g,
    allowed: [/^src\/cli\//, /^src\/guard\/git\/run-git\.ts$/],
    remedy: "The daemon executes nothing: ask a hand (src/hands) to run it; the guard runs git only (ADR 0030)",
  },
  {
    what: "the atomic-file doorway",
    modules: /\/atomic-file\.ts$/,
    allowed: [/^src\/state\//, /^src\/daemon\/(?:conf-dir\/|chains\/device-info\.ts$)/, /^src\/cli\//, /^src\/base\//],
    remedy: "Whole files are written only by state/, daemon/conf-dir, daemon/chains/device-info and cli/",
  },
  {
    what: "file writes past the atomic-file doorway",
    calls:
      /(?<!\bstdout)(?<!\bstderr)\.?\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|copyFile|copyFileSync|cpSync|truncate|ftruncate|writeSync)\s*\(/g,
    allowed: [
      /^src\/base\/(?:atomic-file|disk\/[^/]+)\.ts$/,
      /^src\/state\//,
      // A disk in memory.
      /^src\/sim\/disk\//,
      // Standard error: a pipe, or a file that others write to.
      /^src\/daemon\/descriptor-stream\.ts$/,
      // The kernel's own files: a reader never sees half of one, and none can be renamed into place.
      /^src\/cli\/storm\/machine\/kernel-file\.ts$/,
    ],
    remedy: "Use writeFileAtomically (src/base/atomic-file.ts): readers must never see half a file",
  },
  {
    what: "Bun's own API",
    calls: /\bBun\.(?!spawn|sleep|nanoseconds)\w+/g,
    modules: /^bun(?::|$)/,
    // A waiting connection of node:net costs three times as much (ADR 0023), a request of node:https four times (0024).
    // node:net and node:zlib add 2 MiB of streams to a daemon that needs none (0025).
    allowed: [
      /^src\/daemon\/socket\/server-socket\.ts$/,
      // Loaded late, and only during a move from Multus.
      /^src\/daemon\/multus\/multus-socket\.ts$/,
      /^src\/daemon\/metrics\/(?:http-exchange|metrics-server)\.ts$/,
      // Gives memory back; a runtime that forgets by itself needs no such call.
      /^src\/daemon\/forget-start\.ts$/,
      /^src\/kube\/client\/connection\.ts$/,
      /^src\/state\/(?:files\/crc32|one-writer)\.ts$/,
      // The global `crypto` hashes on another thread.
      /^src\/base\/sha256\.ts$/,
    ],
    remedy: "Use node: built-ins, so that Node can run this code too",
  },
];

export const doorwayRule = fileRule("doorways", (tree) => productFiles(tree).flatMap((path) => breaches(tree, path)));

function breaches(tree: Tree, path: string): readonly Problem[] {
  const source = tree.read(path) ?? "";
  const code = blankCommentsAndStrings(source);
  const loaded = importsOf(source).filter((found) => !found.isType);
  return doorways
    .filter((doorway) => !doorway.allowed.some((pattern) => pattern.test(path)))
    .flatMap((doorway) =>
      [
        ...loaded.filter(({ from }) => doorway.modules?.test(from)).map(({ line, from }) => ({ line, seen: from })),
        ...callLines(code, doorway.calls),
      ].map(({ line, seen }) => ({
        file: path,
        line,
        message: `${doorway.what}: ${seen}`,
        remedy: doorway.remedy,
      })),
    );
}

function callLines(code: string, calls?: RegExp): readonly { readonly line: number; readonly seen: string }[] {
  if (calls === undefined) return [];
  return [...code.matchAll(calls)].map((match) => ({
    line: lineAt(code, match.index),
    seen: match[0].replace(/\s*\($/, "").replace(/^\./, ""),
  }));
}

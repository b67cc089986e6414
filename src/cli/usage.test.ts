import { describe, expect, test } from "bun:test";
import { fakeShell } from "./fake-shell.fixture.ts";
import { runCli } from "./main.ts";

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const shell = fakeShell({ argv });
  const status = await runCli(shell);
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

const commands = [
  "attach",
  "detach",
  "ls",
  "why",
  "top",
  "leaks",
  "check",
  "status",
  "decisions",
  "gate",
  "report",
  "explain",
  "gc",
  "migrate",
  "manifests",
  "mirror-list",
  "install",
  "uninstall",
  "version",
  "completion",
  "demo",
  "storm",
  "daemon",
  "guard",
  "vendor",
];

const aliased: Readonly<Record<string, string>> = { ls: "ls|list", decisions: "decisions|decision" };

describe("help", () => {
  test.each([[], ["--help"], ["-h"], ["help"]])("levee %p lists every command", async (...argv) => {
    const { status, out, err } = await levee(...argv.filter((word) => typeof word === "string"));
    expect({ status, err }).toEqual({ status: 0, err: "" });
    for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command}[ |]`, "mu"));
    expect(out).toContain("Exit status:");
  });

  test.each(commands)("levee %s --help explains itself with examples", async (command) => {
    const { status, out, err } = await levee(command, "--help");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toContain(`Usage: levee ${aliased[command] ?? command}`);
    expect(out).toMatch(new RegExp(`\\nExamples:\\n  levee ${command}`, "u"));
    expect((await levee("help", command)).out).toBe(out);
  });

  test.each(commands)("levee %s --help lists the global options where they apply", async (command) => {
    const { out } = await levee(command, "--help");
    expect(out.includes("--socket-dir <folder>")).toBe(!["daemon", "guard", "completion"].includes(command));
  });

  test.each(["check", "check node", "check network", "gate list", "sim storm", "lint"])(
    "levee %s --help lists no option twice, and no empty list as a default",
    async (command) => {
      const { out } = await levee(...command.split(" "), "--help");
      const options = Array.from(out.matchAll(/^  (?:-\w, )?(--[\w-]+)/gmu), ([, option]) => option);
      expect(options).toEqual([...new Set(options)]);
      expect(out).not.toContain("(default: [])");
    },
  );

  test.each([
    ["check node", ["--wait", "--timeout", "--fail-on", "--namespace"], "--metrics-port"],
    ["sim storm", ["--from-cluster", "--kubeconfig", "--context", "--metrics-port", "--max-pods"], "--model"],
    ["sim run", ["--from-cluster", "--kubeconfig", "--context", "--metrics-port", "--max-pods"], "--model"],
  ])("levee %s --help lists no option of the command above that does not apply", async (command, others, own) => {
    const { out } = await levee(...command.split(" "), "--help");
    const options = Array.from(out.matchAll(/^  (?:-\w, )?(--[\w-]+)/gmu), ([, option = ""]) => option);
    expect(options.filter((option) => others.includes(option))).toEqual([]);
    expect(options).toContain(own);
    expect(out).toContain("Exit status: 0 ");
  });

  test("sim storm says the units of its sizes and times", async () => {
    const { out } = await levee("sim", "storm", "--help");
    expect(out).toContain("a <time> a number with ms, s, m or h, at most 24h");
  });

  test("help finds commands below commands", async () => {
    const { out } = await levee("check", "node", "--help");
    expect(out).toContain("Usage: levee check node");
    expect((await levee("help", "check", "node")).out).toBe(out);
  });

  test("attach says how the namespace is called", async () => {
    expect((await levee("attach", "--help")).out).toContain("levee-NAMESPACE.NAME");
  });

  test("attach says which network becomes eth0", async () => {
    const { out } = await levee("attach", "--help");
    expect(out).toContain("v1.multus-cni.io/default-network");
    expect(out).toContain("--default <network>");
  });

  test("version takes no other program for the shim", async () => {
    const { status, out } = await levee("version", "--shim", "/bin/true");
    expect(status).toBe(0);
    expect(out).toMatch(/^shim +not available.*\/bin\/true: it is not Levee's shim/mu);
  });

  test("--version prints the version", async () => {
    expect(await levee("--version")).toEqual({ status: 0, out: "levee 0.1.0\n", err: "" });
  });
});

describe("without being root", () => {
  test.each(["attach web --networks lan", "detach web", "detach --all"])(
    "levee %s is refused before anything is done",
    async (line) => {
      const shell = fakeShell({ argv: line.split(" "), isRoot: false });
      expect(await runCli(shell)).toBe(1);
      expect(shell.stderr.text).toContain("(not-root)\n  try: run the same command as root\n");
    },
  );
});

describe("a wrong command line ends with 2, says what is wrong and what to try", () => {
  test.each([
    [["lss"], "Unknown command 'lss' (Did you mean ls?)", "levee --help"],
    [["sim", "strom"], "Unknown command 'strom' (Did you mean storm?)", "levee sim --help"],
    [["sim", "strom", "--nodes", "3"], "Unknown command 'strom' (Did you mean storm?)", "levee sim --help"],
    [["sim", "flood", "--nodes", "3"], "Unknown option '--nodes'", "levee sim --help"],
    [["check", "nod", "--all"], "Unknown command 'nod' (Did you mean node?)", "levee check --help"],
    [["ls", "--colour"], "Unknown option '--colour'", "levee ls --help"],
    [["ls", "extra"], "Too many arguments", "levee ls --help"],
    [["attach", "web"], "Required option '--networks <list>' not specified", "levee attach --help"],
    [["attach", "--networks", "lan"], "Missing required argument 'name'", "levee attach --help"],
    [["attach", "Web", "--networks", "lan"], 'Cannot use "Web" as a pod name', "a name such as web-1"],
    [["attach", "web", "--networks", "lan,,dmz"], "a name is empty", "--networks lan,dmz"],
    [["attach", "web", "--networks", "lan", "--default", "a@b"], "it is always eth0", "a without @b"],
    [["detach"], "give either a name or --all", "levee detach NAME"],
    [["detach", "web", "--all"], "give either a name or --all", "levee detach NAME"],
    [["why", "a/b/c"], "more than one slash", "NAME or NAMESPACE/NAME"],
    [["ls", "-o", "xml"], 'Cannot print as "xml"', "-o table"],
    [["ls", "--state-dir", "x"], "must be an absolute path", "--state-dir"],
    [
      ["--socket-dir", "/x", "daemon"],
      'options in front of "daemon"',
      'put "daemon" first: levee daemon --config FILE',
    ],
    [["attach", "web", "--networks", "lan", "--cni-path", ""], "--cni-path is empty", "--cni-path /opt/cni/bin"],
    [["attach", "web", "--networks", "lan", "--cni-path", "/tmp:/nowhere"], "plugins in /nowhere:", "--cni-path with"],
    [["detach", "web", "--cni-path", "/nowhere"], "plugins in /nowhere:", "--cni-path with"],
    [["attach", "web", "--network", "lan"], "Unknown option '--network' (Did you mean --networks?)", "levee attach"],
    [["chek", "--help"], "Unknown command 'chek' (Did you mean check?)", "levee --help"],
    [["help", "chek"], "Unknown command 'chek' (Did you mean check?)", "levee --help"],
    [["check"], "Cannot find a cluster", "--kubeconfig FILE"],
    [["check", "nod"], 'Cannot check "nod"', "levee check node"],
    [["check", "node", "--metrics-port", "99999"], "Cannot use --metrics-port", "--metrics-port 9810"],
    [["leaks", "--yes"], "Cannot use --yes without --forget", "levee leaks --forget ID --yes"],
    [["demo", "-o", "json"], "Cannot print the demo as json", "levee demo --once"],
    [["--bad"], "Unknown option '--bad'", "levee --help"],
    [["manifests", "."], "Required option '--registry <name>' not specified", "levee manifests levee-0.1.0"],
    [["manifests", ".", "--registry", "a.test"], "Required option '--to <folder>' not", "levee manifests levee-0.1.0"],
    [["manifests", ".", "--registry", "https://a.test", "--to", "x"], "leave out the scheme", "levee manifests"],
    [["manifests", ".", "--registry", "a.test", "--to", "./"], "Cannot write into the release itself", "levee"],
    [["mirror-list"], "Missing required argument 'paths'", "levee mirror-list --help"],
    [["mirror-list", "/nowhere/x"], "Cannot read /nowhere/x: there is no such file", "give its path"],
    [["git-guard", "foo"], "Unknown command 'foo'", "levee git-guard --help"],
    [["vendor", "get"], "Unknown command 'get'", "levee vendor --help"],
    [
      ["vendor", "add", "https://example.com/x.yaml"],
      "Required option '--as <path>' not specified",
      "levee vendor add --help",
    ],
  ])("%j", async (argv, message, remedy) => {
    const { status, out, err } = await levee(...argv);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toStartWith("Error: ");
    expect(err).toContain(message);
    expect(err).toContain(`\n  try: ${remedy}`);
    expect(err.match(/Error/gu)).toHaveLength(1);
  });
});

test("a command that is nothing without a further word shows its help and says so", async () => {
  const { status, err } = await levee("git-guard");
  expect(status).toBe(2);
  expect(err).toContain("Usage: levee git-guard");
  expect(err).toEndWith(
    "Error: Cannot run levee git-guard without a subcommand (usage)\n  try: levee git-guard --help\n",
  );
});

import { describe, expect, it } from "vitest";
import { MINT_URL, TOKEN } from "./support/fake-mint.ts";
import { World } from "./support/fake-platform.ts";

const GOOD = { VESTIBULE_MINT_URL: MINT_URL, VESTIBULE_ADMIN_TOKEN: TOKEN };

describe("arguments", () => {
  it.each([
    [["keys", "lst"], /`lst`.*`list`/],
    [["events", "create"], /No command registered for `create`$/m],
    [["keys", "activate"], /Expected argument for kid/],
    [["keys", "stage"], /--use/],
    [["keys", "stage", "--use", "both"], /line.*admission/],
    [["keys", "rotate", "--until", "never"], /signing.*retired/],
    [["keys", "revoke", "abcd", "--force"], /No flag registered for --force/],
    [["keys", "drill", "--timeout", "5"], /60s to 2h/],
    [["keys", "drill", "--timeout", "soon"], /60s to 2h/],
    [["keys", "activate", "abcd", "--reason", " "], /say something/],
    [["keys", "activate", "abcd", "--reason", "two\nlines"], /one line of text/],
    [["keys", "activate", "abcd", "--reason", "x".repeat(501)], /at most 500/],
    [["keys", "activate", "abcd", "--force"], /--force needs --reason/],
    [["keys", "activate", "abcd", "--force", "--reason", "x", "--wait"], /not both/],
    [["completion", "tcsh"], /bash, zsh, fish/],
  ])(
    "that are wrong are told, with exit code 2 and without a question to anybody: %j",
    async (args, told) => {
      const world = await World.start();
      const { code, err } = await world.run(args);
      expect([code, err]).toEqual([2, expect.stringMatching(told)]);
      expect(world.mint.asked).toEqual([]);
    },
  );

  it("that are wrong are told together with the mistakes of the environment", async () => {
    const world = await World.start();
    const { code, err } = await world.run(["keys", "drill", "--use", "both", "--timeout", "soon"], {
      environment: { VESTIBULE_ADMIN_TOKEN: "short" },
    });
    expect(code).toBe(2);
    for (const mistake of ["--use: ", "timeout: ", "VESTIBULE_MINT_URL is required", "at least 32"])
      expect(err).toContain(mistake);
  });

  it.each([[[]], [["keys"]], [["--help"]], [["keys", "drill", "--help"]], [["completion", "-h"]]])(
    "ask for help without any environment: %j",
    async (args) => {
      const world = await World.start();
      const { code, out } = await world.run(args, { environment: {} });
      expect([code, out]).toEqual([0, expect.stringContaining("USAGE")]);
    },
  );

  it("every command has examples in its help", async () => {
    const world = await World.start();
    const names = "list stage activate retire revoke rotate export-public drill".split(" ");
    const events = ["list", "show", "change"].map((name) => ["events", name]);
    const keys = names.map((name) => ["keys", name]);
    const commands = [...keys, ...events, ["edges"], ["service-token"], ["completion"]];
    for (const command of commands) {
      const { out } = await world.run([...command, "--help"], { environment: {} });
      expect(out).toMatch(new RegExp(`EXAMPLES\\n.*vestibule ${command.join(" ")}`, "s"));
    }
  });

  it("ask for the version", async () => {
    const { code, out } = await (await World.start()).run(["--version"], { environment: {} });
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });
});

describe("the environment", () => {
  it("is told with all its mistakes at once, and no value of it", async () => {
    const world = await World.start();
    const { code, err } = await world.run(["keys", "list"], {
      environment: {
        VESTIBULE_MINT_URL: "http://hidden-host.example",
        VESTIBULE_ADMIN_TOKEN: "hidden word".padEnd(40, "-"),
        VESTIBULE_ADMIN_TOKENS: "hidden",
        VESTIBULE_EDGE_URL: "hidden",
        VESTIBULE_EDGE_URLS: "ftp://hidden",
      },
    });
    expect(code).toBe(2);
    expect(err.split("\n").slice(1, -1)).toEqual([
      expect.stringContaining("VESTIBULE_EDGE_URLS: must be http"),
      expect.stringContaining("VESTIBULE_ADMIN_TOKEN: must have visible ASCII"),
      expect.stringContaining("VESTIBULE_ADMIN_TOKENS is not a setting"),
      expect.stringContaining("VESTIBULE_EDGE_URL is not a setting"),
      expect.stringContaining("VESTIBULE_MINT_URL: plain http to another machine"),
    ]);
    expect(err).not.toContain("hidden");
  });

  it("of a mint beside it is none of ours to judge", async () => {
    const world = await World.start();
    const environment = {
      ...GOOD,
      VESTIBULE_KEK: "x",
      VESTIBULE_MINT_URLS: "y",
      VESTIBULE_SEED: "1",
    };
    expect((await world.run(["keys", "list"], { environment })).code).toBe(0);
  });

  it("may name a file with the token, and addresses may end with a slash", async () => {
    const world = await World.start();
    const environment = { VESTIBULE_MINT_URL: `${MINT_URL}/`, VESTIBULE_ADMIN_TOKEN_FILE: "token" };
    const files = { token: `${TOKEN}\n` };
    expect((await world.run(["keys", "list"], { environment, files })).code).toBe(0);
    const without = await world.run(["keys", "list"], { environment });
    expect([without.code, without.err]).toEqual([
      2,
      expect.stringMatching(/_FILE names .*: token$/m),
    ]);
    const short = await world.run(["keys", "list"], { environment, files: { token: "s3cret" } });
    expect(short.err).toMatch(/VESTIBULE_ADMIN_TOKEN_FILE: must have at least 32/);
    expect(short.err).not.toContain("s3cret");
  });

  it("a token where its file's path belongs is not repeated", async () => {
    const world = await World.start();
    const environment = { ...GOOD, VESTIBULE_ADMIN_TOKEN: "", VESTIBULE_ADMIN_TOKEN_FILE: TOKEN };
    const { code, err } = await world.run(["keys", "list"], { environment });
    expect([code, err]).toEqual([2, expect.stringContaining("_FILE names a file")]);
    expect(err).not.toContain(TOKEN);
  });

  it("that are missing are named, with where to look", async () => {
    const world = await World.start();
    const nothing = await world.run(["keys", "list"], { environment: {} });
    expect(nothing.err).toContain("VESTIBULE_MINT_URL is required, for example http://localhost");
    expect(nothing.err).toContain(
      "VESTIBULE_ADMIN_TOKEN or VESTIBULE_ADMIN_TOKEN_FILE is required",
    );
    const { code, err } = await world.run(["keys", "activate"]);
    expect([code, err]).toEqual([2, expect.stringContaining("vestibule keys list shows them")]);
  });

  it.each([
    "http://10.0.0.1:8788",
    "http://mint.example",
    "http://localhost.example",
    "http://127.evil.example",
  ])("plain http to another machine is refused unless --insecure-http says so: %s", async (url) => {
    const world = await World.start();
    const environment = { ...GOOD, VESTIBULE_MINT_URL: url };
    const refused = await world.run(["keys", "list"], { environment });
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("--insecure-http")]);
    expect(world.mint.asked).toEqual([]);
    const elsewhere = world.mint.send;
    const let1 = await world.run(["keys", "list", "--insecure-http"], { environment, elsewhere });
    expect(let1.err).not.toContain("--insecure-http");
  });

  it.each(["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1", "https://mint.example"])(
    "nobody can listen on the way to %s",
    async (url) => {
      const world = await World.start();
      const ran = await world.run(["keys", "list"], {
        environment: { ...GOOD, VESTIBULE_MINT_URL: url },
      });
      expect([ran.code, ran.err]).toEqual([1, expect.stringContaining("gives no answer")]);
    },
  );
});

describe("the token", () => {
  it.each([
    [
      "a mint that does not take it",
      [401, { type: "urn:vestibule:problem:unauthorized", detail: TOKEN }],
    ],
    ["a mint that says what it got", [500, { echoed: TOKEN }]],
    [
      "a mint that fails in its own words",
      [409, { type: "urn:vestibule:problem:conflict", title: "x" }],
    ],
    ["a page of somebody else", [200, `<html>${TOKEN}</html>`]],
    ["no answer", "away"],
  ] as const)("is in no output: %s", async (_, reply) => {
    for (const more of [[], ["--json"]]) {
      const world = await World.start();
      world.mint.broken = () => reply;
      const ran = await world.run(["keys", "list", ...more]);
      expect(ran.code).toBe(1);
      expect(ran.out + ran.err).not.toContain(TOKEN);
    }
  });

  it("goes to the mint in one header, and nowhere else", async () => {
    const world = await World.start();
    await world.run(["keys", "rotate", "--yes"]);
    for (const { url, headers = {}, body } of world.mint.asked) {
      expect(url + JSON.stringify(body ?? "")).not.toContain(TOKEN);
      const names = Object.keys(headers).filter((name) => headers[name]?.includes(TOKEN));
      expect(names).toEqual(["Authorization"]);
    }
  });
});

it("an error is one JSON object on the last line with --json, and words on the error stream in any case", async () => {
  const world = await World.start();
  world.mint.broken = () => "away";
  const ran = await world.run(["edges", "--json"]);
  expect(ran.json).toEqual({ error: expect.stringContaining("gives no answer") as string });
  expect(ran.err).toContain(ran.json.error);
});

it("texts of others reach no terminal as commands", async () => {
  const world = await World.start();
  const title = "gone \u001b[2J\u0007\u202egniht\nnext";
  world.mint.broken = () => [409, { type: "urn:vestibule:problem:conflict", title }];
  const { err } = await world.run(["keys", "list"]);
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(err.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
});

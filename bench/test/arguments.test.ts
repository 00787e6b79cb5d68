import { describe, expect, it } from "vitest";

import { readArguments } from "../src/arguments.ts";

const names = ["edge-poll", "mint-join"];

describe("readArguments", () => {
  it("takes rows, each by its own --only, and a file, also after pnpm's --", () => {
    const read = readArguments(
      ["--", "--only", "mint-join", "--only=edge-poll", "--json", "f"],
      names,
    );
    expect(read).toEqual({
      only: ["mint-join", "edge-poll"],
      json: "f",
      quick: false,
      help: false,
    });
  });

  it("names the rows when one is not known", () => {
    expect(() => readArguments(["--only", "edge-pol"], names)).toThrow(
      "There is no row edge-pol. The rows are: edge-poll, mint-join.",
    );
  });
});

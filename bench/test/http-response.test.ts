import { describe, expect, it } from "vitest";

import { readAnswer } from "../src/load/http-response.ts";

const sized = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const chunked =
  "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";

describe("readAnswer", () => {
  it.each([
    ["with a length", sized, 200],
    ["in chunks", chunked, 201],
  ])("reads an answer %s, and nothing before it is all there", (_, text, status) => {
    const data = Buffer.from(text);
    for (let length = 0; length < data.length; length += 1) {
      expect(readAnswer(data.subarray(0, length))).toBeUndefined();
    }
    const answer = readAnswer(data);
    expect(answer?.status).toBe(status);
    expect(answer?.body.toString()).toBe("hello");
    expect(answer?.bytes).toBe(data.length);
  });

  it("says where an answer ends, so that one too many is seen", () => {
    expect(readAnswer(Buffer.from(sized + sized))?.bytes).toBe(sized.length);
  });

  it.each([
    ["without a length", "HTTP/1.1 200 OK\r\n\r\n"],
    ["that is not HTTP", "SSH-2.0-OpenSSH\r\n\r\n"],
    ["with a chunk of no size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
  ])("refuses an answer %s", (_, text) => {
    expect(() => readAnswer(Buffer.from(text))).toThrow(Error);
  });
});

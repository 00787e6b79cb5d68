import { expect, test } from "vitest";
import { createMintTime } from "@vestibule/client/mint-time";

test("the page's clock follows the mint's: never earlier than a statement that has arrived", () => {
  const time = createMintTime(1_000_000, 400_000); // this device is 600 s behind
  expect(time.at(400_500)).toBe(1_000_500);
  time.heard(1_000_900, 401_000); // 100 ms old when it came: nothing new
  expect(time.at(401_000)).toBe(1_001_000);
  time.heard(1_003_000, 402_000); // the location's own clock is a second slow
  expect(time.at(402_000)).toBe(1_003_000);
});

test("when nothing is known, only the next statement counts", () => {
  const time = createMintTime(1_000_000, 1_000_000);
  time.forget();
  time.heard(1_100_000, 5_000_000);
  expect(time.at(5_000_010)).toBe(1_100_010);
});

test("a clock that is set back is known at once; whether it was set forwards, or the device slept, the next statement tells", () => {
  const time = createMintTime(1_000_000, 1_000_000);
  time.jumped(-600_000);
  expect([time.at(400_000), time.isSure]).toEqual([1_000_000, true]);
  time.jumped(3_600_000); // slept: a statement of a minute ago is too new for a clock that was set
  expect([time.at(4_000_000), time.isSure]).toEqual([4_600_000, false]);
  time.heard(4_540_000, 4_000_000);
  expect([time.at(4_000_000), time.isSure]).toEqual([4_600_000, true]);
  time.jumped(3_600_000); // set
  time.heard(4_599_500, 7_600_000);
  expect(time.at(7_600_000)).toBe(4_600_000);
});

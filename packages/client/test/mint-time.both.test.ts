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

test("after sleep, or a change of this device's clock, only the next statement counts", () => {
  const time = createMintTime(1_000_000, 1_000_000);
  time.forget();
  time.heard(1_100_000, 5_000_000);
  expect(time.at(5_000_010)).toBe(1_100_010);
});

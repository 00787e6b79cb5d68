/** One command at work: the mint that it asks, and where it says what. */
import type { KeysView } from "@vestibule/contracts/keys-api";
import { InterruptedError } from "./failure.ts";
import { MintApi } from "./mint-api.ts";
import { MintTime } from "./mint-time.ts";
import type { Platform, Screen } from "./platform.ts";
import { readSettings, type Settings, type SettingsOptions } from "./settings.ts";
import { type Paint, painter } from "./terminal/style.ts";
import { clockTime, span, zoneName } from "./terminal/words.ts";

export interface CommonFlags {
  readonly json: boolean;
  readonly insecureHttp: boolean;
}

export class Session {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly api: MintApi;
  readonly time: MintTime;
  readonly json: boolean;
  readonly paint: Paint;

  constructor(platform: Platform, flags: CommonFlags, more: Partial<SettingsOptions> = {}) {
    const { json, insecureHttp } = flags;
    this.platform = platform;
    this.settings = readSettings(platform, { isAdmin: true, ...more, insecureHttp });
    this.api = new MintApi(platform.send, this.settings);
    this.time = new MintTime(platform.clock);
    this.json = json;
    this.paint = painter(this.human.color);
  }

  /** Where people read: beside the JSON when that is asked for. */
  get human(): Screen {
    return this.json ? this.platform.err : this.platform.out;
  }

  say(...lines: readonly string[]): void {
    for (const line of lines) this.human.write(`${line}\n`);
  }

  /** The result, as the last line of stdout. Nothing without `--json`. */
  print(value: object): void {
    if (this.json) this.platform.out.write(`${JSON.stringify(value)}\n`);
  }

  async look(): Promise<KeysView> {
    const { body, roundTripMs } = await this.api.keys();
    this.time.observe(body.serverTime, roundTripMs);
    return body;
  }

  /** A moment of the mint, in the reader's time zone. */
  clockTime(at: number): string {
    const { timeZone } = this.platform;
    return clockTime(at, { now: this.time.now(), timeZone });
  }

  zone(): string {
    return zoneName(this.time.now(), this.platform.timeZone);
  }

  /** `01:22:05 (in 4 min 25 s)`. */
  moment(at: number): string {
    const ms = at - this.time.now();
    return `${this.clockTime(at)} (${ms > 0 ? `in ${span(ms)}` : `${span(-ms)} ago`})`;
  }

  /** @throws InterruptedError */
  async sleep(ms: number): Promise<void> {
    this.assertGoesOn();
    await this.platform.sleep(ms);
    this.assertGoesOn();
  }

  /** @throws InterruptedError */
  assertGoesOn(): void {
    if (this.platform.interrupted.is) throw new InterruptedError("Interrupted.");
  }
}

/** Three short tones, made here: there is nothing to load. */

let audio: AudioContext | undefined;

/** Browsers play nothing before a first press on the page. */
export function isMute(): boolean {
  return audio?.state !== "running";
}

/** Resolves when there may be sound; at a press at once. */
export async function wakeSound(): Promise<void> {
  audio ??= new AudioContext();
  await audio.resume();
}

export function beep(): void {
  if (audio === undefined || isMute()) return;
  for (const after of [0, 0.3, 0.6]) {
    const tone = audio.createOscillator();
    tone.connect(audio.destination);
    tone.start(audio.currentTime + after);
    tone.stop(audio.currentTime + after + 0.15);
  }
}

/** What this browser keeps of alerts, and nothing where it keeps nothing. */

const ON = "vst-alert";
/** Alerts that are remembered as told: an event's, over reloads and tabs. */
const TOLD_MAX = 8;

export function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function write(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // for this page then
  }
}

export const wasOn = (): boolean => read(ON) !== "";
export const keepOn = (isOn: boolean): void => write(ON, isOn ? "1" : "");

const told = new Set<string>();

/** True the first time. */
export function isNews(event: string, name: string): boolean {
  const key = `vst-told-${event}`;
  const before = read(key).split(" ");
  if (told.has(name) || before.includes(name)) return false;
  told.add(name);
  write(key, [...before, name].slice(-TOLD_MAX).join(" ").trim());
  return true;
}

import type { Device } from "@vestibule/client/device";

export const device: Device = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  random: () => Math.random(),
  startTimer: (work, delayMs) => setTimeout(work, delayMs),
  stopTimer: (timer) => clearTimeout(timer),
  isHidden: () => document.hidden,
  isOnline: () => navigator.onLine,
};

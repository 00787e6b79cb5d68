import { html } from "hono/html";
import type { Html } from "./layout.ts";

/** The event's picture: lanterns over water. Presentation attributes only, as the policy allows no inline style. */
export function poster(): Html {
  return html`<svg
    class="poster"
    viewBox="0 0 640 300"
    role="img"
    aria-label="Lanterns over a lake at night"
  >
    <defs>
      <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
        <stop offset="0" stop-color="#12263f" />
        <stop offset="0.7" stop-color="#2f5d6b" />
        <stop offset="1" stop-color="#e0a458" />
      </linearGradient>
      <radialGradient id="glow">
        <stop offset="0" stop-color="#ffe6b0" stop-opacity="0.9" />
        <stop offset="1" stop-color="#ffe6b0" stop-opacity="0" />
      </radialGradient>
    </defs>
    <rect width="640" height="220" fill="url(#sky)" />
    <circle cx="520" cy="62" r="24" fill="#f6ecd2" />
    <path
      d="M0 190 L90 138 L170 182 L262 118 L360 184 L452 140 L560 188 L640 152 V222 H0Z"
      fill="#1a3340"
    />
    <rect y="214" width="640" height="86" fill="#173039" />
    <path
      d="M0 232 H640 M40 250 H300 M360 262 H610 M90 278 H420"
      stroke="#2d5560"
      stroke-width="2"
    />
    ${LANTERNS.map(
      ([x, y, size]) =>
        html`<g transform="translate(${x} ${y}) scale(${size})">
          <circle r="34" fill="url(#glow)" />
          <rect x="-11" y="-14" width="22" height="28" rx="9" fill="#f2a65a" />
          <rect x="-7" y="-17" width="14" height="4" rx="2" fill="#7a4a22" />
          <rect x="-7" y="13" width="14" height="4" rx="2" fill="#7a4a22" />
        </g>`,
    )}
  </svg>`;
}

const LANTERNS = [
  [92, 84, 1],
  [186, 48, 0.8],
  [276, 92, 1.15],
  [372, 58, 0.9],
  [452, 112, 1.05],
  [566, 130, 0.85],
] as const;

/** The shop's style sheet. System fonts, one column, one accent; every text pair has AA contrast. */
export const STYLES = `
:root {
  color-scheme: light dark;
  --paper: #f6f3ee; --card: #ffffff; --ink: #1c2529; --soft: #55626a; --line: #e2ddd4;
  --accent: #0b6e4f; --on-accent: #ffffff; --trouble: #9a3412;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11181b; --card: #1a2327; --ink: #e9eef0; --soft: #a3b1b8; --line: #2c383e;
    --accent: #57c99c; --on-accent: #06231a; --trouble: #fdba74;
  }
}
* { box-sizing: border-box; }
html { font: 100%/1.55 system-ui, sans-serif; background: var(--paper); color: var(--ink); }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; }
.top, main, footer { width: 100%; max-width: 40rem; margin: 0 auto; padding: 0 1rem; }
.top { padding-top: 1.25rem; padding-bottom: 1rem; }
.brand { color: inherit; font-weight: 650; text-decoration: none; letter-spacing: .01em; }
main { flex: 1; }
footer { padding-top: 1.5rem; padding-bottom: 1.5rem; color: var(--soft); font-size: .875rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 1.5rem; overflow: hidden; }
.poster { display: block; width: calc(100% + 3rem); margin: -1.5rem -1.5rem 1.5rem; height: auto; }
h1 { font-size: clamp(1.75rem, 1.3rem + 2vw, 2.25rem); line-height: 1.15; margin: 0 0 .5rem; letter-spacing: -.01em; text-wrap: balance; }
p { margin: 0 0 1rem; }
.kicker { color: var(--accent); font-weight: 600; margin-bottom: .25rem; }
.lead { font-size: 1.125rem; }
.hint { color: var(--soft); font-size: .9375rem; margin-bottom: 0; }
.facts { margin: 0 0 1.25rem; border-top: 1px solid var(--line); }
.facts div { display: flex; gap: 1rem; justify-content: space-between; padding: .625rem 0; border-bottom: 1px solid var(--line); }
.facts dt { color: var(--soft); flex: none; }
.facts dd { margin: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.code { font-family: ui-monospace, monospace; font-size: .9375rem; }
.stock { font-weight: 650; font-variant-numeric: tabular-nums; }
form { display: grid; grid-template-columns: auto 1fr; gap: .75rem 1rem; align-items: center; }
form .button, form .hint { grid-column: 1 / -1; }
label { font-weight: 600; }
select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: .625rem; padding: .625rem .75rem; min-height: 3rem; width: 100%; }
.button { display: block; width: 100%; font: inherit; font-weight: 650; text-align: center; text-decoration: none; color: var(--on-accent); background: var(--accent); border: 0; border-radius: .75rem; padding: .8125rem 1.25rem; min-height: 3.125rem; cursor: pointer; }
.actions { margin-bottom: .875rem; }
.notice .actions, .notice form { margin: 1.25rem 0 0; }
.button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .5rem; }
.trouble h1 { color: var(--trouble); }
.done { width: 3rem; height: 3rem; border-radius: 50%; display: grid; place-items: center; background: var(--accent); color: var(--on-accent); font-size: 1.5rem; margin-bottom: 1rem; }
@media (min-width: 40rem) { .top { padding-top: 2.5rem; } .card { padding: 2rem; } .poster { width: calc(100% + 4rem); margin: -2rem -2rem 2rem; } }
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#12263f"/><rect x="10" y="8" width="12" height="16" rx="5" fill="#f2a65a"/></svg>`;

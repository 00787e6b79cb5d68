import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** The frame of every page. `html` escapes every value that is put in. */
export function page(options: { title: string; body: Html; styles: string }): Html {
  const { title, body, styles } = options;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="stylesheet" href="${styles}" />
        <link rel="icon" href="/assets/shop.svg" type="image/svg+xml" />
      </head>
      <body>
        <header class="top"><a class="brand" href="/">Lantern Hall</a></header>
        <main>${body}</main>
        <footer>A demo shop behind Vestibule. Nothing is for sale and nobody is charged.</footer>
      </body>
    </html>`;
}

/** A page that says one thing and offers one way on. */
export function notice(options: {
  heading: string;
  text: string;
  action?: Html | undefined;
  tone?: "calm" | "trouble";
}): Html {
  const { heading, text, action, tone = "calm" } = options;
  return html`<section class="card notice ${tone}">
    <h1>${heading}</h1>
    <p>${text}</p>
    ${action ?? ""}
  </section>`;
}

export function linkButton(href: string, label: string): Html {
  return html`<p class="actions"><a class="button" href="${href}">${label}</a></p>`;
}

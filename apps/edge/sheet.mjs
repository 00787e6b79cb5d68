import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
const [out, height, ...files] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox","--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1700, height: 900 } });
await page.setContent(`<body style="margin:8px;background:#888;display:flex;flex-wrap:wrap;gap:8px">${files.map(f=>`<figure style="margin:0"><img style="height:${height}px" src="data:image/png;base64,${readFileSync(f).toString("base64")}"></figure>`).join("")}`);
await page.screenshot({ path: out, fullPage: true });
await browser.close();

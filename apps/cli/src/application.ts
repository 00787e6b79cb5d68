/** The commands as the library has them. */
import {
  ArgumentScannerError,
  buildApplication,
  buildRouteMap,
  formatMessageForArgumentScannerError,
  text_en,
} from "@stricli/core";
import { admissions } from "./commands/admissions.ts";
import { completion } from "./commands/completion.ts";
import { edges } from "./commands/edges.ts";
import { eventsArchive } from "./commands/events-archive.ts";
import { eventsChange } from "./commands/events-change.ts";
import { eventsEnd } from "./commands/events-end.ts";
import { eventsHold, eventsResume } from "./commands/events-hold.ts";
import { eventsList, eventsShow } from "./commands/events-show.ts";
import { keysDrill } from "./commands/keys-drill.ts";
import { keysExport } from "./commands/keys-export.ts";
import { keysList } from "./commands/keys-list.ts";
import { keysRotate } from "./commands/keys-rotate.ts";
import { keysStage } from "./commands/keys-stage.ts";
import { keysActivate, keysRetire, keysRevoke } from "./commands/keys-step.ts";
import { premint } from "./commands/premint.ts";
import { serviceToken } from "./commands/service-token.ts";
import type { CliContext } from "./context.ts";
import manifest from "../package.json" with { type: "json" };

const keys = buildRouteMap({
  docs: { brief: "The mint's signing keys: look, rotate, rehearse, revoke" },
  routes: {
    list: keysList,
    stage: keysStage,
    activate: keysActivate,
    retire: keysRetire,
    revoke: keysRevoke,
    rotate: keysRotate,
    "export-public": keysExport,
    drill: keysDrill,
  },
});

const events = buildRouteMap({
  docs: {
    brief:
      "The sales: look, change one after a preview, hold, resume or end it, archive what is over",
  },
  routes: {
    list: eventsList,
    show: eventsShow,
    change: eventsChange,
    hold: eventsHold,
    resume: eventsResume,
    end: eventsEnd,
    archive: eventsArchive,
  },
});

const root = buildRouteMap({
  docs: {
    brief: "The command line of whoever is on call for Vestibule",
    fullDescription: [
      "The command line of whoever is on call for Vestibule. It speaks to a mint's admin API:",
      "  VESTIBULE_MINT_URL           the leading mint",
      "  VESTIBULE_ADMIN_TOKEN        its admin token, or VESTIBULE_ADMIN_TOKEN_FILE, the path of a file with it",
      "  VESTIBULE_EDGE_URLS          locations for the drill, separated by commas; optional",
      "",
      "Exit codes: 0 done, 1 refused or failed, 2 mistakes in arguments or environment, 3 not confirmed,",
      "4 not yet, 130 interrupted. What each command does and prints: docs/cli.md.",
    ].join("\n"),
  },
  routes: {
    keys,
    events,
    edges,
    premint,
    admissions,
    "service-token": serviceToken,
    completion,
  },
});

/** Where to find what is missing, by its placeholder. */
const HINTS: Readonly<Record<string, string>> = {
  kid: ": vestibule keys list shows them",
  event: ": vestibule events list shows them",
};

/** Mistakes by the name of their option. */
const text = {
  ...text_en,
  exceptionWhileParsingArguments(error: unknown): string {
    if (!(error instanceof ArgumentScannerError)) return "The arguments cannot be read";
    return formatMessageForArgumentScannerError(error, {
      EnumValidationError: ({ externalFlagName, input, values }) =>
        `--${externalFlagName}: "${input}" is none of ${values.join(", ")}`,
      ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, exception }) =>
        `${name}: ${exception instanceof Error ? exception.message : "cannot be read"}`,
      UnsatisfiedPositionalError: ({ placeholder }) =>
        `Expected argument for ${placeholder}${HINTS[placeholder] ?? ""}. --help has examples.`,
    });
  },
};

export const application: ReturnType<typeof buildApplication<CliContext>> = buildApplication(root, {
  name: "vestibule",
  versionInfo: { currentVersion: manifest.version },
  scanner: {
    caseStyle: "allow-kebab-for-camel",
    allowArgumentEscapeSequence: true,
    // A slip of the finger. What is further off is another wish: `create` must not hear `archive`.
    distanceOptions: {
      threshold: 3,
      weights: { insertion: 1, deletion: 3, substitution: 2, transposition: 0 },
    },
  },
  documentation: { caseStyle: "convert-camel-to-kebab" },
  localization: { text },
});

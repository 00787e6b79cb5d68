/** What the bench and its load generator, a process of its own, say to each other. */

/** What is sent. `head` is a whole request head with its empty line; every plan is keep-alive HTTP/1.1. */
export type RequestPlan =
  | { readonly kind: "same"; readonly heads: readonly string[] }
  /** Each line of `file` is `visitor token` and is used once; `head` holds `$VISITOR` and `$TOKEN`. */
  | { readonly kind: "once"; readonly file: string; readonly head: string }
  /** A made-up `kid` in each: `head` holds `$TOKEN`, a good token before that. */
  | { readonly kind: "junk-kid"; readonly head: string; readonly token: string }
  /** A POST with a fresh visitor each; `head` holds `$LENGTH`. */
  | { readonly kind: "join"; readonly head: string };

/** What every answer is held against; bodies of kind `drip` are read in full for a sample only. */
export interface AnswerPlan {
  readonly status: number;
  readonly body:
    | { readonly kind: "equals"; readonly text: string }
    /** A problem document of this code. */
    | { readonly kind: "problem"; readonly code: string }
    | { readonly kind: "drip"; readonly event: string }
    /** A text of so many bytes, some of them other ones each time, in which these words stand. */
    | { readonly kind: "page"; readonly bytes: number; readonly words: readonly string[] }
    /** Numbers must all differ; the tickets of a sample go back to the bench, which verifies them. */
    | { readonly kind: "join"; readonly event: string };
}

export type ToGenerator =
  | {
      readonly type: "prepare";
      readonly side: string;
      readonly port: number;
      readonly connections: number;
      readonly requests: RequestPlan;
      readonly answers: AnswerPlan;
    }
  | { readonly type: "fire"; readonly side: string; readonly count: number }
  | {
      readonly type: "pace";
      readonly side: string;
      readonly count: number;
      readonly perSecond: number;
    };

export type FromGenerator =
  | { readonly type: "prepared" }
  | { readonly type: "fired"; readonly elapsedMs: number; readonly samples: readonly Sample[] }
  | {
      readonly type: "paced";
      readonly medianMs: number;
      readonly p99Ms: number;
      readonly samples: readonly Sample[];
    }
  | { readonly type: "failed"; readonly message: string };

/** A joined visitor whose ticket the bench looks at itself. */
export interface Sample {
  readonly visitor: string;
  readonly ticket: string;
}
